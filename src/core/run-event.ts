import type { ErrorData } from "./errors.js";
import type { JsonValue } from "./json-value.js";
import type { Question } from "./question.js";

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

export type QuestionEventData = EventBase & Question & { type: "question"; seq: number };

export type RunEventData = StepEvent | QuestionEventData;
