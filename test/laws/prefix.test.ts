import { describe, test } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import { finish, journalOf, modes, plainStore, runId, type Trial, trial, uninterrupted } from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { samples } from "./samples.js";
import { places } from "./thorough.js";
import { World } from "./world.js";

/**
 * The world as it is when a process dies with so many records stored: what outcomes tell is there; of the writes that
 * were intended and have no outcome yet, all or none.
 */
function worldAt(run: Trial, journal: readonly JournalRecord[], length: number, reaches: boolean): World {
  const hasArrived = (key: string, attempt: number) => {
    const path = key.slice(runId.length + 1);
    const intent = journal.findIndex(
      (record) => record.kind === "write_intended" && record.path === path && record.attempt === attempt,
    );
    const outcome = journal.findIndex((record, seq) => seq > intent && isOutcome(record) && record.path === path);
    return intent < length && (reaches || (outcome >= 0 && outcome < length));
  };
  const world = new World();
  world.effects.push(...run.world.effects.filter(({ key, attempt }) => hasArrived(key, attempt)));
  for (const arrived of run.world.arrived) {
    const [key = "", attempt] = arrived.split(/#(?=\d+$)/);
    if (hasArrived(key, Number(attempt))) world.arrived.add(arrived);
  }
  return world;
}

function isOutcome(record: JournalRecord): record is JournalRecord & { path: string } {
  return ["completed", "failed", "retried", "doubted"].includes(record.kind);
}

async function cut(run: Trial, journal: readonly JournalRecord[], length: number, reaches: boolean): Promise<Trial> {
  const store = plainStore();
  const head = await run.store.head(runId);
  if (head === undefined) throw new Error("The run has no head.");
  await store.append(runId, 0, journal.slice(0, length), { ...head, status: "running" });
  return {
    ...trial(run.sample, run.mode, worldAt(run, journal, length, reaches), store),
    now: journal[length - 1]?.at ?? 0,
  };
}

describe.each(modes)("a journal cut behind any record is resumed to the same end, writes: %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))(
    "%s",
    { timeout: 20_000 },
    async (_name, sample) => {
      const { outcome } = await uninterrupted(sample, mode);
      const run = trial(sample, mode);
      await finish(run);
      const journal = await journalOf(run);
      for (const length of places(1, journal.length - 1, 10)) {
        for (const reaches of [true, false]) {
          const rest = await cut(run, journal, length, reaches);
          const result = await finish(rest);
          await atPlace(`cut behind ${length} records, writes ${reaches ? "" : "do not "}reach`, rest, async () => {
            judge(result, rest.world, await journalOf(rest));
            expectSame(sample, outcomeOf(result, rest.world), outcome);
          });
        }
      }
    },
  );
});
