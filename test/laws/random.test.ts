import fc from "fast-check";
import { test } from "vitest";
import { cancelRun } from "../../src/driver/answer.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  attend,
  deadly,
  finish,
  journalOf,
  type Mode,
  meddled,
  open,
  runId,
  type Trial,
  trial,
  uninterrupted,
} from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { part, sampleOf } from "./random-sample.js";
import { isThorough } from "./thorough.js";
import { Life } from "./world.js";

/** What happens to the process that drives, at its append or event number `at`. */
const fault = fc.record({
  kind: fc.constantFrom("dies_before", "dies_after", "leaves", "cancelled", "taken_over"),
  at: fc.integer({ min: 1, max: 25 }),
  reaches: fc.boolean(),
});

type Fault = typeof fault extends fc.Arbitrary<infer Value> ? Value : never;

async function suffer(run: Trial, { kind, at, reaches }: Fault): Promise<void> {
  const life = new Life();
  switch (kind) {
    case "dies_before":
    case "dies_after": {
      const when = kind === "dies_before" ? "before" : "after";
      await attend(run, await open(run, life, { through: deadly(run.store, life, at, when, reaches) }), life);
      return;
    }
    case "leaves": {
      const stream = await open(run, life);
      await attend(run, stream, life, async (_event, index) => {
        if (index === at) await stream.return();
      });
      return;
    }
    case "cancelled": {
      const through = behind(run, at, () => cancelRun(run.store, runId, { clock: fakeClock({ now: run.now }) }));
      await attend(run, await open(run, life, { through }), life);
      return;
    }
    case "taken_over":
      return new Promise((resolve) => {
        const through = behind(run, at, async () => resolve());
        open(run, life, { through })
          .then((stream) => attend(run, stream, life))
          .then(() => resolve())
          .catch(() => undefined);
      });
    default:
      throw new Error(`There is no fault ${kind}.`);
  }
}

function behind({ store }: Trial, at: number, act: () => Promise<void>) {
  return meddled(store, async (count, append) => {
    await append();
    if (count === at) await act();
  });
}

const runs = isThorough ? 3_000 : 250;
const seed = isThorough ? {} : { seed: 1 };

test("random workflows come to the same, whatever happens to their drivers", {
  timeout: isThorough ? 3_600_000 : 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part(2), { minLength: 1, maxLength: 4 }),
      fc.constantFrom<Mode>("approve", "ask"),
      fc.array(fault, { minLength: 1, maxLength: 3 }),
      async (parts, mode, faults) => {
        const sample = sampleOf(parts);
        const { outcome } = await uninterrupted(sample, mode);
        const run = trial(sample, mode);
        for (const one of faults) await suffer(run, one);
        const result = await finish(run, async (event) => {
          // The person is slower than the calls of a driver that was taken over.
          if (event.type === "question" && event.kind === "in_doubt")
            for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
        });
        await atPlace("in the end", run, async () => {
          judge(result, run.world, await journalOf(run));
          if (faults.some(({ kind }) => kind === "cancelled") || sample.races) return;
          expectSame(sample, outcomeOf(result, run.world), outcome);
        });
      },
    ),
    { numRuns: runs, timeout: 20_000, ...seed },
  );
});
