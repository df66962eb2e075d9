import type { ErrorData, FailureOutcome } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Masked } from "./mask.js";
import type { Answer, QuestionBody } from "./question.js";
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
