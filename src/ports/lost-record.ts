import { ToolweaveError } from "../core/errors.js";

/** A run can't be read past a record that is gone: without it, what was done would be done again. */
export function lostRecord(runId: string, seq: number): ToolweaveError {
  const message = `Record ${seq} of run ${runId} is missing in the store. Restore the database from a copy.`;
  return new ToolweaveError("INVALID_JOURNAL", message);
}
