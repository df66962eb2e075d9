import { errorToJson, isToolweaveError } from "../core/errors.js";
import { attempt } from "../core/foreign.js";
import { type JsonObject, normalizeJson } from "../core/json.js";
import type { CallOutcome } from "../core/settle.js";
import type { Route } from "./route.js";

/** Whether an error was returned, also one of another realm. What can't even be asked that is no error, but no JSON either. */
export function isError(returned: unknown): boolean {
  return (
    attempt(() => returned instanceof Error || Object.prototype.toString.call(returned) === "[object Error]") ?? false
  );
}

/** A result, normalized and scrubbed; what can't be kept was made all the same. `inputs`: what is to be kept with it. */
export function keep(route: Pick<Route, "limits" | "scrub">, returned: unknown, inputs?: JsonObject): CallOutcome {
  try {
    return { kind: "returned", result: route.scrub.value(normalizeJson(returned, route.limits)), inputs };
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return { kind: "unkeepable", error: route.scrub.error(errorToJson(error)) };
  }
}

export function failed(
  route: Pick<Route, "scrub">,
  failure: Omit<Extract<CallOutcome, { kind: "failed" }>, "kind">,
): CallOutcome {
  return { kind: "failed", ...failure, error: route.scrub.error(failure.error) };
}
