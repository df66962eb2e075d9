import type { Question } from "./question.js";
import { questionView } from "./question-view.js";
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
  { stepId, path, attempt }: Place,
  status: StepStatus,
  more?: Pick<StepEvent, "result" | "error" | "delayMs" | "willUndo">,
): void {
  if (!state.settings.emits) return;
  const { runId, seq } = state;
  const event: StepEvent = { type: "step", runId, at: isoTime(state.updatedAt), seq, status, stepId, path, attempt };
  if (more !== undefined) Object.assign(event, more);
  state.events.push(event);
}

export function emitQuestion(state: RunState, question: Question): void {
  if (!state.settings.emits) return;
  state.events.push({ type: "question", at: isoTime(state.updatedAt), seq: state.seq, ...questionView(question) });
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
