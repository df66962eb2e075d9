import { outOfTime } from "./clock.js";
import { type ErrorCode, type ErrorData, isErrorCode } from "./errors.js";
import type { Failure } from "./failure.js";
import type { Call, Step } from "./node.js";
import type { Doubted, Failed, Retried } from "./record.js";

/** What can't succeed by trying again. */
const hopeless: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "REJECTED",
  "TOOL_REFUSED",
  "INVALID_INPUT",
  "UNRESOLVED_REFERENCE",
  "UNKNOWN_TOOL",
  "RESULT_NOT_JSON",
  "RESULT_TOO_LARGE",
  "CANCELLED",
  "LIMIT_REACHED",
  "QUESTION_EXPIRED",
  "INVALID_ITEMS",
  "SECRET_IN_DATA",
  "UNKNOWN_CALL_SHAPE",
  "DUPLICATE_CALL_ID",
  "TOO_MANY_CALLS",
  "INVALID_CALL",
  "INVALID_ARGUMENTS",
  "CODE_REQUIRED",
]);

/**
 * What follows a failed attempt of a call: another attempt, doubt, or its end.
 *
 * 1. What an earlier attempt left in doubt stays so, whatever a later one failed with.
 * 2. A write in doubt is tried again only where its tool is idempotent.
 * 3. Nothing is tried again below a scope that fails, or once the time is used up.
 *
 * @param settles whether it is known that earlier attempts, too, were not applied.
 */
export function afterFailure(call: Call, failure: Failure, settles = false): Retried | Doubted | Failed {
  const inDoubt = failure.outcome === "in_doubt" || (call.doubt !== undefined && !call.vouched && !settles);
  const outcome = inDoubt ? "in_doubt" : failure.outcome;
  const error = call.timedOut ? timedOut(call, failure.error) : failure.error;
  const { path } = call;
  const again =
    call.attempt <= retriesOf(call) &&
    !call.stopped &&
    !call.timedOut &&
    !hopeless.has(error.code) &&
    failure.outcome !== "refused" &&
    (!inDoubt || call.idempotent);
  if (again) {
    const delayMs = retryDelay(call.attempt, failure.retryAfterMs);
    return { kind: "retried", path, attempt: call.attempt + 1, delayMs, error, outcome };
  }
  if (inDoubt) return { kind: "doubted", path, error: (call.vouched ? undefined : call.doubt) ?? error };
  return { kind: "failed", path, error, outcome };
}

/** What follows a failed and undone attempt of a container; it may be tried again only when it left nothing behind. */
export function afterUndo(step: Step, error: ErrorData): Retried | Failed {
  const { path, attempt } = step;
  const code = rootCode(error);
  const again = attempt <= step.plan.retries && !step.residue && !step.stopped && !step.timedOut && !hopeless.has(code);
  if (!again) return { kind: "failed", path, error, outcome: "not_applied" };
  const delayMs = retryDelay(attempt);
  return { kind: "retried", path, attempt: attempt + 1, delayMs, error, outcome: "not_applied" };
}

/** Whether a step that failed for good may use its fallback: it surely had no effect, and nobody said no. */
export function mayFallBack(step: Step, failed: Failed): boolean {
  if (step.stopped || step.residue || step.phase === "recovering") return false;
  const code = rootCode(failed.error);
  if (code === "REJECTED" || code === "CANCELLED" || code === "LIMIT_REACHED") return false;
  if (code === "RESULT_NOT_JSON" || code === "RESULT_TOO_LARGE") return false;
  return failed.outcome === "not_applied" || failed.outcome === "refused";
}

/** A dispatch fails with an error of its own; what may follow, at every level above, is decided by the call that failed it. */
function rootCode(error: ErrorData): ErrorCode {
  let { code, cause } = error;
  while (code === "DISPATCH_FAILED" && isErrorCode(cause?.code)) {
    code = cause.code;
    cause = cause.cause;
  }
  return code;
}

function retriesOf(call: Call): number {
  if (call.purpose === "undo") return call.plan.retries ?? (call.idempotent ? 3 : 0);
  return call === call.owner.call ? call.owner.plan.retries : 0;
}

/** 1, 2 and 4 s, or as long as the tool asks for. */
function retryDelay(attempt: number, retryAfterMs = 0): number {
  return Math.max(1_000 * 2 ** (attempt - 1), retryAfterMs);
}

function timedOut(call: Call, error: ErrorData): ErrorData {
  return error.code === "TIMED_OUT" ? error : { ...outOfTime(call), cause: { message: error.message } };
}
