import { describe, expect, test } from "vitest";
import { isToolweaveError, ToolweaveError } from "../../src/core/errors.js";
import { cancelRun } from "../../src/driver/answer.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  attend,
  finish,
  journalOf,
  meddled,
  modes,
  open,
  plainStore,
  runId,
  type Trial,
  trial,
  uninterrupted,
} from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { samples } from "./samples.js";
import { places } from "./thorough.js";
import { type Behaviour, behaviourOf, Life, World } from "./world.js";

const named = samples.map((sample) => [sample.name, sample] as const);
/** What a former driver can't settle, since the call does not tell or does not end. */
const leavesDoubt: readonly Behaviour[] = ["lose_reply", "lose_call", "unknown", "hang", "late"];

const limit = { timeout: 20_000 };

/** Something that another process does, once, behind append number `at`. */
function behindAppend(store: RunStore, at: number, act: () => Promise<void>): RunStore {
  return meddled(store, async (count, append) => {
    await append();
    if (count === at) await act();
  });
}

describe.each(modes)("writes: %s", (mode) => {
  describe.each([true, false])("cancelled by another process behind any append, store with watch: %s", (watch) => {
    test.each(named)("%s", limit, async (_name, sample) => {
      const { appends, outcome } = await uninterrupted(sample, mode);
      for (const at of places(1, appends, watch ? 8 : 3)) {
        const run = trial(sample, mode, new World(), plainStore({ watch }));
        const through = behindAppend(run.store, at, () =>
          cancelRun(run.store, runId, { clock: fakeClock({ now: run.now }) }),
        );
        const life = new Life();
        const result = await attend(run, await open(run, life, { through }), life);
        await atPlace(`cancelled behind append ${at}`, run, async () => {
          if (result === undefined) throw new Error("no result");
          judge(result, run.world, await journalOf(run));
          const journal = await journalOf(run);
          const isTaken = journal.some(({ kind }) => kind === "cancel_begun");
          if (!isTaken) expectSame(sample, outcomeOf(result, run.world), outcome);
          else if (result.status !== "cancelled") expect(result.status).toBe(outcome.status);
        });
      }
    });
  });

  describe("taken over behind any append while the former driver lives", () => {
    test.each(named)("%s", limit, async (_name, sample) => {
      const { appends, outcome } = await uninterrupted(sample, mode);
      for (const at of places(1, appends - 1, 8)) {
        const run = trial(sample, mode);
        const former = new Life();
        let told: unknown;
        const taking = new Promise<void>((resolve) => {
          const through = behindAppend(run.store, at, async () => resolve());
          void open(run, former, { through })
            .then((stream) => attend(run, stream, former))
            .catch((error) => {
              told = error;
            });
        });
        await taking;
        // The person is slower than the calls that the former driver had on their way.
        const result = await finish(run, async (event) => {
          if (event.type !== "question" || event.kind !== "in_doubt") return;
          await settled(former);
          if (leavesDoubt.includes(behaviourOf(event.fields))) return;
          const isTold = (await journalOf(run)).some(
            ({ kind, ...rest }) => kind === "reported" && "path" in rest && rest.path === event.path,
          );
          const hasArrived = run.world.arrived.has(`${runId}:${event.path}#${event.attempt}`);
          expect(isTold, `${event.path} is settled by the former driver`).toBe(hasArrived);
        });
        await settled(former);
        await atPlace(`taken over behind append ${at}`, run, async () => {
          judge(result, run.world, await journalOf(run));
          expectSame(sample, outcomeOf(result, run.world), outcome);
          if (told !== undefined) expect(isToolweaveError(told) && told.code).toBe("RUN_TAKEN_OVER");
        });
      }
    });
  });

  describe("an append that is made and whose reply is lost is recognized", () => {
    test.each(named)("%s", limit, async (_name, sample) => {
      const { appends, outcome } = await uninterrupted(sample, mode);
      for (const at of places(1, appends, 4)) {
        const run = trial(sample, mode);
        let isLost = false;
        const through = meddled(run.store, async (count, append) => {
          await append();
          if (count !== at || isLost) return;
          isLost = true;
          throw new Error("socket hang up");
        });
        const life = new Life();
        const result = await attend(run, await open(run, life, { through }), life);
        await atPlace(`reply of append ${at} lost`, run, async () => {
          if (result === undefined) throw new Error("no result");
          judge(result, run.world, await journalOf(run));
          expectSame(sample, outcomeOf(result, run.world), outcome);
        });
      }
    });
  });

  describe("a store out of reach at any append ends the stream, and the run goes on when it is back", () => {
    test.each(named)("%s", limit, async (_name, sample) => {
      const { appends, outcome } = await uninterrupted(sample, mode);
      for (const at of places(1, appends, 4)) {
        for (const isMade of [false, true]) {
          const run = trial(sample, mode);
          const life = new Life();
          const through = meddled(run.store, async (count, append) => {
            if (count < at || isMade) await append();
            if (count >= at) throw new ToolweaveError("STORE_UNAVAILABLE", "It can't be reached.");
          });
          const error = await failureOf(run, life, through);
          await settled(life);
          const result = await finish(run);
          await atPlace(`out of reach at append ${at}, ${isMade ? "" : "not "}made`, run, async () => {
            expect(isToolweaveError(error) && error.code).toBe("STORE_UNAVAILABLE");
            judge(result, run.world, await journalOf(run));
            expectSame(sample, outcomeOf(result, run.world), outcome);
          });
        }
      }
    });
  });
});

async function failureOf(run: Trial, life: Life, through: RunStore): Promise<unknown> {
  try {
    await attend(run, await open(run, life, { through }), life);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Until all calls of a process have settled, and what came of them is told. */
async function settled(life: Life): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (life.flights.size > 0);
  await new Promise((resolve) => setImmediate(resolve));
}
