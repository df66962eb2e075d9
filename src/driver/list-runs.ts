import type { RunFilter, RunHead, RunStore } from "../ports/run-store.js";
import { reachStore } from "./journal.js";
import { readEach } from "./read-each.js";

/** Which runs to read: one, or those whose heads match every given field. */
export type RunSelection = { runId: string } | Pick<RunFilter, "workflow" | "status" | "createdFrom" | "createdBefore">;

/** The heads of runs, oldest first. None for a run that is not there. */
export async function* listRuns(
  store: RunStore,
  selection: RunSelection | RunFilter,
): AsyncGenerator<RunHead, void, undefined> {
  if (!("runId" in selection)) {
    const open = (_: number, last?: RunHead) => store.list({ ...selection, ...(last && { after: last.runId }) });
    return yield* readEach(undefined, open);
  }
  const { runId } = selection;
  const head = await reachStore(runId, () => store.head(runId));
  if (head !== undefined) yield head;
}
