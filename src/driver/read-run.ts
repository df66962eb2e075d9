import { apply } from "../core/apply.js";
import { ToolweaveError } from "../core/errors.js";
import { beginRun, plansToRead, readSettings } from "../core/fold.js";
import { fromJournal } from "../core/from-journal.js";
import type { JournalRecord } from "../core/record.js";
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
      state = fromJournal(() => readRecord(state, record, settings, plans));
    }
    return state;
  });
}

function readRecord(
  state: RunState | undefined,
  record: JournalRecord,
  settings: RunState["settings"],
  plans: typeof plansToRead,
): RunState {
  if (!isTime(record.at)) throw new RangeError("A record's time is none.");
  if (state === undefined) return beginRun(record, plans(record), settings);
  apply(state, record);
  return state;
}

function isTime(at: unknown): boolean {
  return typeof at === "number" && !Number.isNaN(new Date(at).getTime());
}

/** The state of a stored run. @throws ToolweaveError `UNKNOWN_RUN`, and as `readRun` does */
export async function readKnownRun(store: RunStore, runId: string, reading?: Reading): Promise<RunState> {
  const state = await readRun(store, runId, reading);
  if (state !== undefined) return state;
  throw new ToolweaveError("UNKNOWN_RUN", `There is no run ${runId} in the store.`);
}
