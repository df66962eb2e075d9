import { describe, expect, test } from "vitest";
import { attend, deadly, finish, journalOf, type Mode, meddled, open, type Trial, trial } from "./drive-sample.js";
import { judge, outcomeOf } from "./judge.js";
import { type Sample, samples } from "./samples.js";
import { Life } from "./world.js";

interface Crash {
  readonly at: number;
  readonly when: "before" | "after";
  /** Whether writes on their way at the crash come to their effect. */
  readonly reaches: boolean;
}

/** Runs in one process until it dies at its append number `at`; says whether it died with writes on their way. */
async function crash(run: Trial, { at, when, reaches }: Crash): Promise<"ended" | "died" | "died in flight"> {
  const life = new Life();
  const stream = await open(run, life, { through: deadly(run.store, life, at, when, reaches) });
  const result = await attend(run, stream, life);
  if (result !== undefined) return "ended";
  return life.flights.size > 0 ? "died in flight" : "died";
}

async function uninterrupted(sample: Sample, mode: Mode) {
  const run = trial(sample, mode);
  let appends = 0;
  const life = new Life();
  const through = meddled(run.store, (_count, append) => {
    appends++;
    return append();
  });
  const result = await attend(run, await open(run, life, { through }), life);
  if (result === undefined) throw new Error("died");
  judge(result, run.world, await journalOf(run));
  return { appends, outcome: outcomeOf(result, run.world) };
}

type Outcome = ReturnType<typeof outcomeOf>;

function expectSame(sample: Sample, outcome: Outcome, expected: Outcome): void {
  if (!sample.races) return expect(outcome).toEqual(expected);
  expect({ status: outcome.status, code: outcome.error?.code }).toEqual({
    status: expected.status,
    code: expected.error?.code,
  });
}

describe.each(["approve", "ask"] as const)("a crash at any append, where writes are let by %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))("%s", async (_name, sample) => {
    const { appends, outcome } = await uninterrupted(sample, mode);
    for (let at = 1; at <= appends; at++) {
      for (const when of ["before", "after"] as const) {
        for (const second of [0, 1, 2, 3]) {
          for (const reaches of [true, false]) {
            const run = trial(sample, mode);
            const place = `crash ${when} append ${at}, writes ${reaches ? "" : "do not "}reach, second at +${second}`;
            const first = await crash(run, { at, when, reaches });
            const inFlight = first === "died in flight";
            if (second > 0) await crash(run, { at: second, when, reaches });
            const result = await finish(run);
            await withPlace(place, async () => {
              judge(result, run.world, await journalOf(run));
              expectSame(sample, outcomeOf(result, run.world), outcome);
            });
            if (!inFlight && second === 0) break;
          }
        }
      }
    }
  });
});

async function withPlace(place: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof Error) error.message = `${place}: ${error.message}`;
    throw error;
  }
}
