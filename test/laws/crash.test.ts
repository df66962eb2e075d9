import { describe, test } from "vitest";
import { attend, deadly, finish, journalOf, modes, open, type Trial, trial, uninterrupted } from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { samples } from "./samples.js";
import { isThorough, places } from "./thorough.js";
import { Life } from "./world.js";

interface Crash {
  readonly at: number;
  readonly when: "before" | "after";
  /** Whether writes on their way at the crash come to their effect. */
  readonly reaches: boolean;
}

/** Runs in one process until it dies at its append number `at`; says how many calls were on their way. */
async function crash(run: Trial, { at, when, reaches }: Crash): Promise<number> {
  const life = new Life();
  const stream = await open(run, life, { through: deadly(run.store, life, at, when, reaches) });
  await attend(run, stream, life);
  return life.flights.size;
}

/** After which further append the next process dies, too; 0 for never. */
function secondCrashes(at: number): readonly number[] {
  return isThorough ? [0, 1, 2, 3] : [0, 1 + (at % 3)];
}

describe.each(modes)("a crash at any append, writes: %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))(
    "%s",
    { timeout: 20_000 },
    async (_name, sample) => {
      const { appends, outcome } = await uninterrupted(sample, mode);
      for (const at of places(1, appends, 9)) {
        for (const when of ["before", "after"] as const) {
          for (const second of secondCrashes(at)) {
            // With nothing on its way both come to the same.
            let flights = 1;
            for (const reaches of [true, false]) {
              if (flights === 0) break;
              const run = trial(sample, mode);
              flights = await crash(run, { at, when, reaches });
              if (second > 0) flights += await crash(run, { at: second, when, reaches });
              const result = await finish(run);
              const place = `${when} append ${at}, writes ${reaches ? "" : "do not "}reach, again at +${second}`;
              await atPlace(place, run, async () => {
                judge(result, run.world, await journalOf(run));
                expectSame(sample, outcomeOf(result, run.world), outcome);
              });
            }
          }
        }
      }
    },
  );
});

describe.each(modes)("a crash at any append, and nobody drives for an hour, writes: %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))(
    "%s",
    { timeout: 20_000 },
    async (_name, sample) => {
      const { appends } = await uninterrupted(sample, mode);
      for (const at of places(1, appends, 5)) {
        for (const when of ["before", "after"] as const) {
          const run = trial(sample, mode);
          await crash(run, { at, when, reaches: true });
          run.now += 3_600_000;
          const result = await finish(run);
          await atPlace(`${when} append ${at}`, run, async () => judge(result, run.world, await journalOf(run)));
        }
      }
    },
  );
});
