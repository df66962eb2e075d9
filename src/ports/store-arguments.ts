import { ToolweaveError } from "../core/errors.js";
import type { RunFilter, RunStatus } from "./run-store.js";

/** A filter as a store compares it: times in milliseconds since the Unix epoch, statuses as a list. */
export interface FilterArguments {
  readonly statuses?: readonly RunStatus[];
  readonly workflow?: string;
  readonly withOpenQuestions: boolean;
  readonly createdFromMs?: number;
  readonly createdBeforeMs?: number;
  readonly wakeBeforeMs?: number;
  readonly limit: number;
  readonly after?: string;
}

/** @throws ToolweaveError INVALID_OPTIONS for a time that is no ISO 8601, or a limit that is no count. */
export function filterArguments(filter: RunFilter): FilterArguments {
  const { status, workflow, withOpenQuestions = false, limit = Number.POSITIVE_INFINITY, after } = filter;
  if (!(limit >= 0))
    throw new ToolweaveError("INVALID_OPTIONS", "limit: expected 0 or more. Leave it out to list all.");
  return {
    statuses: typeof status === "string" ? [status] : status,
    workflow,
    withOpenQuestions,
    createdFromMs: timeArgument("createdFrom", filter.createdFrom),
    createdBeforeMs: timeArgument("createdBefore", filter.createdBefore),
    wakeBeforeMs: timeArgument("wakeBefore", filter.wakeBefore),
    limit: Math.ceil(limit),
    after,
  };
}

function timeArgument(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new ToolweaveError(
    "INVALID_OPTIONS",
    `${name}: expected a time in ISO 8601, such as 2030-01-31T09:00:00.000Z.`,
  );
}

/** A page can't go on after a run that is no longer there: its place in the order is not known. */
export function unknownAfter(runId: string): ToolweaveError {
  return new ToolweaveError(
    "UNKNOWN_RUN",
    `Run ${runId}: a list can't go on after it, since it is not there. List from the start.`,
  );
}

/** @throws ToolweaveError INVALID_OPTIONS for anything but a finite number above 0. */
export function checkTtl(ttlMs: number): void {
  if (Number.isFinite(ttlMs) && ttlMs > 0) return;
  throw new ToolweaveError("INVALID_OPTIONS", "ttlMs: expected a number of milliseconds above 0.");
}
