import { property } from "./foreign.js";
import type { JsonObject } from "./json-value.js";

/** Every code that a Toolweave error or a definition problem can bear. Closed: a code is never removed or reused. */
export const errorCodes = [
  // A workflow document
  "INVALID_DEFINITION",
  "INVALID_DOCUMENT",
  "UNKNOWN_KEY",
  "INVALID_NAME",
  "DUPLICATE_ID",
  "INVALID_STEP",
  "INVALID_TEMPLATE",
  "INVALID_SCHEMA",
  "UNKNOWN_STEP",
  "UNREADABLE_STEP",
  "UNKNOWN_TOOL",
  "UNKNOWN_WORKFLOW",
  "WORKFLOW_CYCLE",
  "UNKNOWN_INPUT",
  "DUPLICATE_TOOL",
  "DUPLICATE_WORKFLOW",
  // Warnings of a check, and of a run
  "NO_COMPENSATION",
  "COMPENSATION_READS_INPUT",
  "OPTIONAL_INPUT",
  "SKIPPABLE_STEP",
  "SHADOWED_KEY",
  "ITEM_FAILED",
  // A step
  "UNRESOLVED_REFERENCE",
  "INVALID_INPUT",
  "TOOL_FAILED",
  "TOOL_REFUSED",
  "TOOL_IN_DOUBT",
  "STEP_FAILED",
  "RESULT_NOT_JSON",
  "RESULT_TOO_LARGE",
  "REJECTED",
  "QUESTION_EXPIRED",
  "TIMED_OUT",
  "CANCELLED",
  "LIMIT_REACHED",
  "INVALID_ITEMS",
  "INVALID_TURN",
  "ITERATIONS_EXHAUSTED",
  "SECRET_IN_DATA",
  // A question
  "INVALID_ANSWER",
  "ALREADY_ANSWERED",
  "UNKNOWN_QUESTION",
  "QUESTION_CLOSED",
  // A run and its store
  "INVALID_OPTIONS",
  "UNKNOWN_RUN",
  "RUN_ENDED",
  "RUN_CONFLICT",
  "RUN_BUSY",
  "RUN_TAKEN_OVER",
  "CODE_REQUIRED",
  "STORE_CONFLICT",
  "STORE_UNAVAILABLE",
  "INVALID_JOURNAL",
  // A dispatch of tool calls
  "UNKNOWN_CALL_SHAPE",
  "DUPLICATE_CALL_ID",
  "INVALID_CALL",
  "INVALID_ARGUMENTS",
  "TOO_MANY_CALLS",
  "NOT_RUN",
  "DISPATCH_FAILED",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

const codes: ReadonlySet<unknown> = new Set(errorCodes);

export function isErrorCode(value: unknown): value is ErrorCode {
  return codes.has(value);
}

/** Where in a document or a run an error belongs. */
export interface ErrorPlace {
  /** The id of the step. */
  stepId?: string;
  /** The path of the step within the run: `settle#2/each[3]/pay`. */
  path?: string;
  /** A JSON Pointer (RFC 6901) into the document or value at fault. */
  pointer?: string;
}

/** An error as data: what a journal, an event or a result holds. `errorFromJson` makes it an error again. */
export interface ErrorData extends ErrorPlace {
  code: ErrorCode;
  message: string;
  /** What else the code says, as JSON: see the entry of the code in the docs. */
  details?: JsonObject;
  cause?: CauseData;
}

/** What is kept of a foreign error that caused one of ours. */
export interface CauseData {
  name?: string;
  message: string;
  code?: string;
  cause?: CauseData;
}

export interface ErrorOptions extends ErrorPlace {
  details?: JsonObject;
  cause?: unknown;
}

const brand = Symbol.for("toolweave.error");

/** The one base class. Known across copies of the package by a brand: test with `isToolweaveError`, not `instanceof`. */
export class ToolweaveError extends Error {
  override readonly name: string = "ToolweaveError";
  readonly code: ErrorCode;
  readonly stepId?: string;
  readonly path?: string;
  readonly pointer?: string;
  readonly details?: JsonObject;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.stepId = options.stepId;
    this.path = options.path;
    this.pointer = options.pointer;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }

  toJSON(): ErrorData {
    return errorToJson(this);
  }
}

/** One fault of a workflow document, at a JSON Pointer into it. */
export interface Problem {
  code: ErrorCode;
  message: string;
  pointer: string;
}

/** A document that is no workflow; `problems` lists every fault found. */
export class DefinitionError extends ToolweaveError {
  override readonly name = "DefinitionError";
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[]) {
    super("INVALID_DEFINITION", message, { details: { problems: problems.map((problem) => ({ ...problem })) } });
    this.problems = problems;
  }
}

/** What a failed call of a tool did to the world. */
export type FailureOutcome = "not_applied" | "refused" | "in_doubt";

const failureCodes = { not_applied: "TOOL_FAILED", refused: "TOOL_REFUSED", in_doubt: "TOOL_IN_DOUBT" } as const;

/** Thrown by a tool to say what its failure means. */
export class ToolError extends ToolweaveError {
  override readonly name = "ToolError";
  readonly outcome: FailureOutcome;
  readonly retryAfterMs?: number;

  /**
   * @param options.outcome `"not_applied"`: nothing happened, trying again may help. `"refused"`: nothing happened,
   *   trying again is useless. `"in_doubt"`: it may have happened. @default "not_applied"
   * @param options.retryAfterMs the least delay before a further attempt, in milliseconds.
   */
  constructor(
    message: string,
    options: { outcome?: FailureOutcome; retryAfterMs?: number; cause?: unknown; details?: JsonObject } = {},
  ) {
    const outcome = options.outcome ?? "not_applied";
    super(failureCodes[outcome], message, options);
    this.outcome = outcome;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Thrown by a store's `append` when the journal holds other records than the caller expected. */
export class ConflictError extends ToolweaveError {
  override readonly name = "ConflictError";

  constructor(runId: string, expectedSeq: number) {
    super(
      "STORE_CONFLICT",
      `Run ${runId}: other records than the ${expectedSeq} expected are there. Read the journal again.`,
    );
  }
}

/** Whether a value is an error of this library, whichever copy of it made it. */
export function isToolweaveError(value: unknown): value is ToolweaveError {
  try {
    return typeof value === "object" && value !== null && brand in value;
  } catch {
    // A proxy may throw whatever is asked of it.
    return false;
  }
}

export function errorToJson(error: ToolweaveError): ErrorData {
  const data: ErrorData = { code: error.code, message: error.message };
  if (error.stepId !== undefined) data.stepId = error.stepId;
  if (error.path !== undefined) data.path = error.path;
  if (error.pointer !== undefined) data.pointer = error.pointer;
  if (error.details !== undefined) data.details = error.details;
  if (error.cause !== undefined) data.cause = causeToJson(error.cause);
  return data;
}

/** An error of the library's own as data, at a place. Anything else is a fault, and thrown on. */
export function errorDataOf(error: unknown, place: ErrorPlace = {}): ErrorData {
  if (!isToolweaveError(error)) throw error;
  return { ...errorToJson(error), ...place };
}

/** An error again from its data. The class is the base class; `code` says what it is. */
export function errorFromJson(data: ErrorData): ToolweaveError {
  const { code, message, ...options } = data;
  return new ToolweaveError(code, message, options);
}

const maxCauses = 8;
const maxTextLength = 2_000;

/** A thrown value as text. Never throws, whatever was thrown: `null`, a symbol, an object whose getter throws. */
export function errorText(thrown: unknown): string {
  try {
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) return clip(String(thrown.message));
    return clip(typeof thrown === "object" ? (JSON.stringify(thrown) ?? "an object") : String(thrown));
  } catch {
    return "an error that could not be read";
  }
}

export function causeToJson(thrown: unknown, depth = 1): CauseData {
  const data: CauseData = { message: errorText(thrown) };
  const name = readText(thrown, "name");
  const code = readText(thrown, "code");
  if (name !== undefined) data.name = name;
  if (code !== undefined) data.code = code;
  const cause = property(thrown, "cause");
  if (cause !== undefined && cause !== null && depth < maxCauses) data.cause = causeToJson(cause, depth + 1);
  return data;
}

function readText(thrown: unknown, key: string): string | undefined {
  const value = property(thrown, key);
  return typeof value === "string" ? clip(value) : undefined;
}

function clip(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`.replace(/[\uD800-\uDBFF]…$/, "…");
}
