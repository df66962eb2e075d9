import { queue } from "../core/queue.js";
import type { JournalRecord } from "../core/record.js";
import type { RunState } from "../core/state.js";
import type { Beginning, Flight } from "./flight.js";
import type { OwnedRun } from "./owned-run.js";

/**
 * Makes beginnings durable, and does at once what follows: nothing is awaited between a write's intent and its call.
 * Where others came first nothing is begun, and all of it is decided anew.
 */
export async function begin(owned: OwnedRun, flight: Flight, beginnings: readonly Beginning[]): Promise<void> {
  const hasBegun = await owned.begin(beginnings.map(({ fact }) => fact));
  const withheld: JournalRecord[] = [];
  for (const beginning of beginnings) {
    const { handle, goOn } = beginning;
    if (hasBegun && goOn !== undefined && !handle.isAborted) {
      handle.isWrite = true;
      goOn();
      continue;
    }
    if (!hasBegun) {
      decideAnew(owned.state, flight, beginning);
      continue;
    }
    flight.release(handle);
    // The consumer left while the intent was being appended.
    if (goOn !== undefined) withheld.push(owned.record({ kind: "withheld", path: handle.node.path }));
  }
  if (withheld.length > 0) await owned.write(withheld);
}

/** Whether what had to wait for the consumer is still what was shown; if not, all of it is decided anew. */
export async function stillHold(state: RunState, flight: Flight, beginnings: readonly Beginning[]): Promise<boolean> {
  const holding = await Promise.all(beginnings.map(({ stillHolds }) => stillHolds?.() ?? true));
  if (holding.every(Boolean)) return true;
  for (const beginning of beginnings) decideAnew(state, flight, beginning);
  return false;
}

function decideAnew(state: RunState, flight: Flight, { handle }: Beginning): void {
  flight.release(handle);
  if (handle.isWanted()) queue(state, handle.node);
}
