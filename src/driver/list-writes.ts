import { readSettings } from "../core/fold.js";
import type { WriteEntry } from "../core/write-entry.js";
import type { RunStore } from "../ports/run-store.js";
import { readKnownRun } from "./read-run.js";

/**
 * Every forward write of a run and what became of it, as `writes` of its result: in the order of the first intents, and
 * all of them. The run is read to its end before the first is given, since an undo may change any.
 *
 * @throws ToolweaveError when the first is asked for: `UNKNOWN_RUN`, `INVALID_JOURNAL`, `STORE_UNAVAILABLE`
 */
export async function* listWrites(store: RunStore, runId: string): AsyncGenerator<WriteEntry, void, undefined> {
  const settings = { ...readSettings, maxWrites: Number.POSITIVE_INFINITY };
  const { writes } = await readKnownRun(store, runId, { settings });
  for (const write of writes) yield { ...write };
}
