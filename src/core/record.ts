import type { ErrorData, FailureOutcome } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { JsonSchema } from "./schema.js";
import type { NormalizedCall } from "./tool-call.js";

/** The format of journals written by this version. A reader refuses any other. */
export const journalVersion = 1;

/**
 * A fact of a run, as its journal keeps it. Facts are named in the past tense and never change; the run is what
 * folding them gives. `path` names a step or call (`settle#2/pay`, `pay~undo`), or, with a slash at its end, the run of a
 * child workflow (`each[3]/`); the run itself is `""`.
 */
export type JournalRecord = Fact & {
  /** Milliseconds since the Unix epoch, by the clock of the driver that wrote it. */
  at: number;
  /** On the first record of an append: tells an append whose reply was lost from a rival's. */
  batch?: string;
};

export type Fact =
  | RunStarted
  | RunTaken
  | CancelRequested
  | CancelBegun
  | RunEnded
  | Entered
  | Begun
  | Skipped
  | Opened
  | Turned
  | SleepStarted
  | QuestionAsked
  | QuestionAnswered
  | QuestionExpired
  | WriteIntended
  | Withheld
  | Completed
  | Retried
  | Doubted
  | Failed
  | AttemptFailed
  | TimedOut
  | Reported;

export interface DocumentSnapshot {
  name: string;
  /** The document as JSON; what is code in it is left out. */
  document: JsonValue;
  /** Whether something was left out: the run goes on only with the same workflow given in code. */
  code?: true;
}

/** What people are not shown of a value that a record holds, since its schema keeps it from them. */
export interface Masked {
  /** JSON Pointers into the value, which is masked there in whatever people read. Absent: they see all of it. */
  masked?: readonly string[];
}

/** `masked` is of the input. */
export interface RunStarted extends Masked {
  kind: "run_started";
  version: typeof journalVersion;
  runId: string;
  /** The run's workflow first, then every workflow that it can call. */
  documents: readonly DocumentSnapshot[];
  /** The input as the schema gave it. */
  input: JsonObject;
  /** SHA-256 over document and given input: what a run id stands for. */
  identity: string;
  driver: string;
}

/** Another driver carries the run on. Every write intended and without outcome is in doubt from here. */
export interface RunTaken {
  kind: "run_taken";
  driver: string;
}

/** From anywhere: somebody wants the run cancelled. */
export interface CancelRequested {
  kind: "cancel_requested";
}

/** The driver took note of the request: the run stops, and undoes unless it does already. */
export interface CancelBegun {
  kind: "cancel_begun";
}

export interface RunEnded {
  kind: "run_ended";
  status: "completed" | "failed" | "cancelled";
  /** Of a completed run whose document declares an `output`; else it is the last step's result. */
  output?: JsonValue;
  warnings?: readonly Warning[];
}

export interface Warning {
  code: ErrorData["code"];
  message: string;
  path?: string;
  pointer?: string;
}

/** A child workflow started, with the input that its schema gave. */
export interface Entered {
  kind: "entered";
  path: string;
  input: JsonObject;
}

/** The clock of a step with a `timeout_ms` started. */
export interface Begun {
  kind: "begun";
  path: string;
}

export interface Skipped {
  kind: "skipped";
  path: string;
}

/** A container began an attempt. */
export interface Opened {
  kind: "opened";
  path: string;
  attempt: number;
  /** How many children there will be: items, steps or calls. */
  count: number;
  /** The calls of a dispatch. */
  calls?: readonly NormalizedCall[];
}

/** A `repeat` goes on to its next turn. */
export interface Turned {
  kind: "turned";
  path: string;
  /** From 0. */
  index: number;
}

export interface SleepStarted {
  kind: "sleep_started";
  path: string;
  ms: number;
}

export interface QuestionAsked {
  kind: "question_asked";
  path: string;
  question: QuestionBody;
  /** Counted from this record. Absent: open for ever. */
  expiresAfterMs?: number;
}

/** From anywhere. The first answer in the journal stands. */
export interface QuestionAnswered {
  kind: "question_answered";
  id: string;
  answer: Answer;
}

export interface QuestionExpired {
  kind: "question_expired";
  id: string;
}

/** A write is about to be made: one record before every attempt, durable before the call; `masked` is of the inputs. */
export interface WriteIntended extends Masked {
  kind: "write_intended";
  path: string;
  attempt: number;
  tool: string;
  idempotent: boolean;
  site?: string;
  page?: string;
  action: string;
  labels?: Readonly<Record<string, string>>;
  /** What is sent, after edits. */
  inputs: JsonObject;
  fingerprint: string;
  decision: Decision;
}

/** The driver left between the intent and the call, so the call was not made. */
export interface Withheld {
  kind: "withheld";
  path: string;
}

/** Who let a write be made. */
export interface Decision {
  /** `"policy"`, or who answered (absent where the answer does not say). */
  by?: string;
  /** ISO 8601. */
  at: string;
  reason?: string;
  /** The question that was answered. */
  questionId?: string;
}

/** A call, child workflow or container came to its end. */
export interface Completed {
  kind: "completed";
  path: string;
  /** Of a call; of a child workflow that declares an `output`. Every other result follows from the children's. */
  result?: JsonValue;
  /** What a read was sent, where a template reads it. */
  inputs?: JsonObject;
  undo?: ResolvedUndo;
  warnings?: readonly Warning[];
}

/** The inputs of a compensation, resolved when its step completed; or why they did not resolve. */
export type ResolvedUndo = { inputs: JsonObject } | { error: ErrorData };

/** An attempt failed, and another follows after the delay. */
export interface Retried {
  kind: "retried";
  path: string;
  /** The attempt that follows. */
  attempt: number;
  delayMs: number;
  error: ErrorData;
  outcome: FailureOutcome;
}

/** Nobody knows whether the write was made. */
export interface Doubted {
  kind: "doubted";
  path: string;
  error: ErrorData;
}

/** A call, child workflow or container failed for good. */
export interface Failed {
  kind: "failed";
  path: string;
  error: ErrorData;
  /** `"applied"`: the write was made, and its result can't be kept or came too late. */
  outcome: FailureOutcome | "applied";
  undo?: ResolvedUndo;
  /** A rejected write: what it would have sent, and who rejected it. */
  rejected?: { tool: string; inputs: JsonObject; decision: Decision } & Masked;
}

/** A container's attempt failed by itself, not by a child: what was done below is undone before it is tried again or fails. */
export interface AttemptFailed {
  kind: "attempt_failed";
  path: string;
  error: ErrorData;
}

/** The time of a step or workflow is used up. */
export interface TimedOut {
  kind: "timed_out";
  path: string;
}

/** From a driver that was taken over or left: what a call that it had in flight came to. */
export interface Reported {
  kind: "reported";
  path: string;
  attempt: number;
  outcome: { result: JsonValue } | { error: ErrorData; outcome: FailureOutcome | "applied" };
}

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
