import { apply } from "../core/apply.js";
import { ToolweaveError } from "../core/errors.js";
import { beginRun, plansToRead, readSettings } from "../core/fold.js";
import type { RunState } from "../core/state.js";
import type { RunStore } from "../ports/run-store.js";
import { reachStore, readRecords } from "./journal.js";

/** How a run is read: without its code unless `plans` asks for it, since reading calls none of it. */
export interface Reading {
  readonly settings?: RunState["settings"];
  readonly plans?: typeof plansToRead;
}

/**
 * The state of a stored run; `undefined` where there is none.
 *
 * @throws ToolweaveError `INVALID_JOURNAL`, `STORE_UNAVAILABLE`
 */
export async function readRun(
  store: RunStore,
  runId: string,
  { settings = readSettings, plans = plansToRead }: Reading = {},
): Promise<RunState | undefined> {
  return reachStore(runId, async () => {
    let state: RunState | undefined;
    for await (const record of readRecords(store, runId)) {
      if (state === undefined) state = beginRun(record, plans(record), settings);
      else apply(state, record);
    }
    return state;
  });
}

/** The state of a stored run. @throws ToolweaveError `UNKNOWN_RUN`, and as `readRun` does */
export async function readKnownRun(store: RunStore, runId: string, reading?: Reading): Promise<RunState> {
  const state = await readRun(store, runId, reading);
  if (state !== undefined) return state;
  throw new ToolweaveError("UNKNOWN_RUN", `There is no run ${runId} in the store.`);
}
