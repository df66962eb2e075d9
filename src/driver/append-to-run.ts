import { apply } from "../core/apply.js";
import type { Workflow } from "../core/document.js";
import { ToolweaveError } from "../core/errors.js";
import { beginRun, plansOf, readSettings } from "../core/fold.js";
import type { Fact, JournalRecord } from "../core/record.js";
import type { RunSettings, RunState } from "../core/state.js";
import type { Clock } from "../ports/clock.js";
import type { RunStore } from "../ports/run-store.js";
import { headOf } from "./head.js";
import { Journal, reachStore } from "./journal.js";

/** The state of a stored run; `undefined` where there is none. */
export async function readRun(
  store: RunStore,
  runId: string,
  workflows: readonly Workflow[],
  settings: RunSettings = readSettings,
): Promise<RunState | undefined> {
  return reachStore(runId, async () => {
    let state: RunState | undefined;
    for await (const record of store.read(runId)) {
      if (state === undefined) state = beginRun(record, plansOf(record, workflows), settings);
      else apply(state, record);
    }
    return state;
  });
}

/** The state of a stored run. @throws ToolweaveError `UNKNOWN_RUN` */
export async function readKnownRun(
  store: RunStore,
  runId: string,
  workflows: readonly Workflow[],
  settings?: RunSettings,
): Promise<RunState> {
  const state = await readRun(store, runId, workflows, settings);
  if (state !== undefined) return state;
  throw new ToolweaveError("UNKNOWN_RUN", `There is no run ${runId} in the store.`);
}

/**
 * Appends what anybody may append, behind whatever else is appended meanwhile.
 *
 * @param decide what to append, given the run as it stands; `undefined` for nothing.
 */
export async function appendToRun(
  store: RunStore,
  runId: string,
  { clock, workflows }: { clock: Clock; workflows: readonly Workflow[] },
  decide: (state: RunState) => Fact | undefined,
): Promise<void> {
  const state = await readKnownRun(store, runId, workflows);
  const journal = new Journal(store, runId, crypto.randomUUID(), state.seq);
  for (;;) {
    const fact = decide(state);
    if (fact === undefined) return;
    const record: JournalRecord = { ...fact, at: clock.now() };
    const others = await journal.append([record], headOf(state, [record]));
    if (others === undefined) return;
    for (const other of others) apply(state, other);
  }
}
