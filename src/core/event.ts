import type { ErrorData } from "./errors.js";
import type { JsonValue } from "./json.js";
import type { Question } from "./record.js";
import type { RunState } from "./state.js";

export type StepStatus =
  | "started"
  | "retrying"
  | "completed"
  | "failed"
  | "skipped"
  | "stopped"
  | "undoing"
  | "undone"
  | "undo_failed";

interface EventBase {
  runId: string;
  /** ISO 8601, by the run's clock. */
  at: string;
  /** Of the record that the event was made from. Absent for what is live only, such as the start of a read. */
  seq?: number;
}

/** What a step does, as a consumer sees it. */
export interface StepEvent extends EventBase {
  type: "step";
  status: StepStatus;
  stepId: string;
  path: string;
  attempt: number;
  /** Of `completed`. */
  result?: JsonValue;
  /** Of `retrying`, `failed` and `undo_failed`. */
  error?: ErrorData;
  /** Of `retrying`: how long it waits. */
  delayMs?: number;
  /** Of `failed`: whether something done before will now be undone. */
  willUndo?: boolean;
}

export type QuestionEventData = EventBase & Question & { type: "question" };

export type RunEventData = StepEvent | QuestionEventData;

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
  if (state.settings.emits) state.events.push(questionEvent(question, state.updatedAt, state.seq));
}

export function questionEvent(question: Question, at: number, seq: number): QuestionEventData {
  return { type: "question", at: isoTime(at), seq, ...question };
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
