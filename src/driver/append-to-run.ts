import { apply } from "../core/apply.js";
import { fromJournal } from "../core/from-journal.js";
import type { Fact, JournalRecord } from "../core/record.js";
import type { RunState } from "../core/state.js";
import type { Clock } from "../ports/clock.js";
import type { RunStore } from "../ports/run-store.js";
import { headOf } from "./head.js";
import { Journal } from "./journal.js";
import { newId } from "./new-id.js";
import { readKnownRun } from "./read-run.js";

/**
 * Appends what anybody may append, behind whatever else is appended meanwhile.
 *
 * @param decide what to append, given the run as it stands; `undefined` for nothing.
 */
export async function appendToRun(
  store: RunStore,
  runId: string,
  { clock }: { clock: Clock },
  decide: (state: RunState) => Fact | undefined,
): Promise<void> {
  const state = await readKnownRun(store, runId);
  const journal = new Journal(store, runId, newId(), state.seq);
  for (;;) {
    const fact = fromJournal(() => decide(state));
    if (fact === undefined) return;
    const record: JournalRecord = { ...fact, at: clock.now() };
    const others = await journal.append(
      [record],
      fromJournal(() => headOf(state, [record])),
    );
    if (others === undefined) return;
    for (const other of others) fromJournal(() => apply(state, other));
  }
}
