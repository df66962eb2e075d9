import { declaredOutcome, leavesDoubt } from "./error-signs.js";
import type { CauseData, ErrorData, FailureOutcome } from "./errors.js";
import { causeToJson, errorText, errorToJson, ToolError } from "./errors.js";
import { attempt, property } from "./foreign.js";
import type { JsonObject, JsonValue } from "./json.js";
import { isJsonObject, normalizeJson } from "./json.js";
import { cutCredentials } from "./redact.js";

/** What a failed call of a tool means, as data. */
export interface Failure {
  outcome: FailureOutcome;
  error: ErrorData;
  /** The least delay before a further attempt, in milliseconds, where the tool gave one. */
  retryAfterMs?: number;
}

/** How a call was made that failed. */
export interface FailedCall {
  effect: "read" | "write";
  aborted: boolean;
  /** Takes secrets out of what the tool says, before anything is cut from it. @default nothing is taken out */
  scrub?: FailureScrub;
}

export interface FailureScrub {
  text(text: string): string;
  value(value: JsonValue): JsonValue;
}

const keepAll: FailureScrub = { text: (text) => text, value: (value) => value };

/**
 * Reads what a tool threw. Total: whatever was thrown gives a failure, and nothing of it is trusted.
 *
 * - A `ToolError`, also of another copy of the package, says it; only a read can't be left in doubt.
 * - Any other error of a write leaves it in doubt where the engine had `aborted` the call, or where the error or one
 *   in its `cause`s or an aggregate's `errors`, shows a cut connection, a time-out or an abort.
 * - Everything else is not applied: nothing was sent, or the tool itself says that it failed.
 */
export function readFailure(thrown: unknown, call: FailedCall): Failure {
  const { scrub = keepAll } = call;
  const declared = declaredOutcome(thrown);
  const outcome = outcomeOf(thrown, declared, call);
  if (declared === undefined) {
    const error = errorToJson(new ToolError(messageOf(thrown, scrub), { outcome }));
    // Kept as a cause too, for its name and code; a thrown text is all in the message.
    if (typeof thrown === "object" && thrown !== null) error.cause = readable(causeToJson(thrown), scrub);
    return { outcome, error };
  }
  const details = readDetails(thrown, scrub);
  const error = errorToJson(new ToolError(messageOf(thrown, scrub), { outcome, details }));
  const cause = property(thrown, "cause");
  if (cause !== undefined && cause !== null) error.cause = readable(causeToJson(cause), scrub);
  const retryAfterMs = readDelay(thrown);
  return retryAfterMs === undefined ? { outcome, error } : { outcome, error, retryAfterMs };
}

function outcomeOf(thrown: unknown, declared: FailureOutcome | undefined, call: FailedCall): FailureOutcome {
  // A read that is in doubt has failed: whatever it did, it can be called again.
  if (call.effect === "read") return declared === "refused" ? "refused" : "not_applied";
  if (declared !== undefined) return declared;
  return call.aborted || leavesDoubt(thrown) ? "in_doubt" : "not_applied";
}

function messageOf(thrown: unknown, scrub: FailureScrub): string {
  // Node's aggregate of connection attempts has no message of its own.
  const texts = [errorText(thrown), property(thrown, "code"), property(thrown, "name")];
  const text = texts.find((candidate) => typeof candidate === "string" && candidate !== "");
  return readableText(typeof text === "string" ? text : "The tool failed and said nothing.", scrub);
}

function readable(cause: CauseData, scrub: FailureScrub): CauseData {
  const data: CauseData = { ...cause, message: readableText(cause.message, scrub) };
  if (cause.cause !== undefined) data.cause = readable(cause.cause, scrub);
  return data;
}

// A credential ends where a secret may go on, so secrets are taken out first.
function readableText(text: string, scrub: FailureScrub): string {
  return cutCredentials(scrub.text(text.toWellFormed()));
}

const detailLimits = { maxBytes: 65_536, maxDepth: 32 };

/** The details that a tool gave, as JSON; left out where they are none. */
function readDetails(thrown: unknown, scrub: FailureScrub): JsonObject | undefined {
  const details = attempt(() => scrub.value(normalizeJson(property(thrown, "details"), detailLimits)));
  if (!isJsonObject(details)) return undefined;
  // A credential holds no quote and no backslash, so cutting it leaves JSON.
  return JSON.parse(cutCredentials(JSON.stringify(details)));
}

/** Keeps what a tool asks for within what a date can hold. */
const maxDelayMs = 365 * 24 * 60 * 60 * 1000;

function readDelay(thrown: unknown): number | undefined {
  const delay = property(thrown, "retryAfterMs");
  return typeof delay === "number" && delay >= 0 ? Math.min(delay, maxDelayMs) : undefined;
}
