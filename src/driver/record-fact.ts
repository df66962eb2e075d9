import { apply } from "../core/apply.js";
import type { Fact, JournalRecord } from "../core/record.js";
import type { RunState } from "../core/state.js";
import type { Clock } from "../ports/clock.js";

/** Applies a fact that was decided here, and gives the record to append. */
export function recordFact(state: RunState, fact: Fact, clock: Clock): JournalRecord {
  const record = stamped(fact, clock.now());
  apply(state, record);
  return record;
}

/** A fact belongs to whoever decided it, so it becomes the record itself. */
export function stamped(fact: Fact, at: number): JournalRecord {
  return Object.assign(fact, { at });
}
