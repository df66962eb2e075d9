import type { ErrorData } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Masked } from "./mask.js";
import type { JsonSchema } from "./schema.js";

/** What people are asked, and what they answer. */

export interface UndoView {
  tool: string;
}

interface QuestionBase {
  /** Unique within the run. */
  id: string;
  stepId: string;
  path: string;
}

interface Asked {
  runId: string;
  /** ISO 8601. */
  askedAt: string;
  /** ISO 8601; absent where the question stays open for ever. */
  expiresAt?: string;
}

/** What a person is shown of a write; `masked` is of the fields. */
export interface WriteView extends Masked {
  purpose: "step" | "undo" | "fallback";
  tool: string;
  site?: string;
  page?: string;
  action: string;
  /** Labels of the fields, by property name. */
  labels?: Readonly<Record<string, string>>;
  /** The inputs that will be sent, each one. */
  fields: JsonObject;
  /** What undoes the write; `null` when nothing does. */
  undo: UndoView | null;
  /** What an answer is bound to: SHA-256 over run, path, document, tool, its schema or version, and the inputs. */
  fingerprint: string;
}

/** May this write be made? Answered by `{ decision: "approve", fields? }` or `{ decision: "reject" }`. */
export interface ApprovalQuestionBody extends QuestionBase, WriteView {
  kind: "approval";
  /** What edited fields are checked against. Absent: the fields can't be edited. */
  schema?: JsonSchema;
  /** Why the policy asks. */
  reason?: string;
  /** The question that this one stands for, since what would run is no longer what was shown. */
  supersedes?: string;
}

/** A value is wanted. Answered by `{ value }`. */
export interface InputQuestionBody extends QuestionBase {
  kind: "input";
  prompt: JsonValue;
  schema?: JsonSchema;
  /** What the step gives when the question expires. */
  default?: JsonValue;
}

/** Was this write made? Answered by `{ decision: "done", result }`, `"not_applied"`, `"retry"` or `"fail"`. */
export interface DoubtQuestionBody extends QuestionBase, WriteView {
  kind: "in_doubt";
  attempt: number;
  error: ErrorData;
}

export type QuestionBody = ApprovalQuestionBody | InputQuestionBody | DoubtQuestionBody;

export type ApprovalQuestion = ApprovalQuestionBody & Asked;
export type InputQuestion = InputQuestionBody & Asked;
export type DoubtQuestion = DoubtQuestionBody & Asked;
export type Question = ApprovalQuestion | InputQuestion | DoubtQuestion;

interface AnswerBase {
  /** Who answers, as the host knows them. */
  by?: string;
  note?: string;
}

export interface ApprovalAnswer extends AnswerBase {
  decision: "approve" | "reject";
  /** The fields that change, of an approval. */
  fields?: JsonObject;
}

export interface InputAnswer extends AnswerBase {
  value: JsonValue;
}

export interface DoubtAnswer extends AnswerBase {
  decision: "done" | "not_applied" | "retry" | "fail";
  /** Of `"done"`: what the tool would have returned. @default null */
  result?: JsonValue;
}

export type Answer = ApprovalAnswer | InputAnswer | DoubtAnswer;
