import { describe, test } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import { finish, journalOf, modes, plainStore, runId, type Trial, trial, uninterrupted } from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { samples } from "./samples.js";
import { type Effect, World } from "./world.js";

/**
 * The world as it is when a process dies with so many records stored: what outcomes tell is there; of the writes that
 * were intended and have no outcome yet, all or none.
 */
function worldAt(run: Trial, journal: readonly JournalRecord[], length: number, reaches: boolean): World {
  const world = new World();
  for (const effect of run.world.effects) {
    const intent = journal.findIndex((record) => record.kind === "write_intended" && isOf(effect, record));
    const outcome = journal.findIndex((record, seq) => seq > intent && isOutcome(record) && isOf(effect, { ...record, attempt: effect.attempt }));
    if (outcome < length || (intent < length && reaches)) world.effects.push(effect);
  }
  for (const arrived of run.world.arrived) {
    const [key, attempt] = arrived.split(/#(?=\d+$)/);
    const intent = journal.findIndex(
      (record) =>
        record.kind === "write_intended" && `${runId}:${record.path}` === key && record.attempt === Number(attempt),
    );
    if (intent >= 0 && intent < length) world.arrived.add(arrived);
  }
  return world;
}

function isOf(effect: Effect, record: { path: string; attempt: number }): boolean {
  return effect.key === `${runId}:${record.path}` && effect.attempt === record.attempt;
}

function isOutcome(record: JournalRecord): record is JournalRecord & { path: string } {
  return ["completed", "failed", "retried", "doubted"].includes(record.kind);
}

async function cut(run: Trial, journal: readonly JournalRecord[], length: number, reaches: boolean): Promise<Trial> {
  const store = plainStore();
  const head = await run.store.head(runId);
  if (head === undefined) throw new Error("The run has no head.");
  await store.append(runId, 0, journal.slice(0, length), { ...head, status: "running" });
  return { ...trial(run.sample, run.mode, worldAt(run, journal, length, reaches), store), now: journal[length - 1]?.at ?? 0 };
}

describe.each(modes)("a journal cut behind any record is resumed to the same end, writes: %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))("%s", { timeout: 60_000 }, async (_name, sample) => {
    const { outcome } = await uninterrupted(sample, mode);
    const run = trial(sample, mode);
    await finish(run);
    const journal = await journalOf(run);
    for (let length = 1; length < journal.length; length++) {
      for (const reaches of [true, false]) {
        const rest = await cut(run, journal, length, reaches);
        const result = await finish(rest);
        await atPlace(`cut behind ${length} records, writes ${reaches ? "" : "do not "}reach`, rest, async () => {
          judge(result, rest.world, await journalOf(rest));
          expectSame(sample, outcomeOf(result, rest.world), outcome);
        });
      }
    }
  });
});
