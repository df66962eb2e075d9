import type { Question } from "./record.js";
import type { StepEvent, StepStatus } from "./run-event.js";
import type { RunState } from "./state.js";

interface Place {
  readonly stepId: string;
  readonly path: string;
  readonly attempt: number;
}

/** Makes a step event of the record that is being applied. */
export function emit(
  state: RunState,
  place: Place,
  status: StepStatus,
  more: Pick<StepEvent, "result" | "error" | "delayMs" | "willUndo"> = {},
): void {
  if (!state.settings.emits) return;
  const { stepId, path, attempt } = place;
  const base = { type: "step", runId: state.runId, at: isoTime(state.updatedAt), seq: state.seq } as const;
  state.events.push({ ...base, status, stepId, path, attempt, ...more });
}

export function emitQuestion(state: RunState, question: Question): void {
  if (!state.settings.emits) return;
  state.events.push({ type: "question", at: isoTime(state.updatedAt), seq: state.seq, ...question });
}

let lastTime = Number.NaN;
let lastText = "";

/** ISO 8601. Many events share a millisecond, so the last text is kept. */
export function isoTime(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}
