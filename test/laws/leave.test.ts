import { describe, expect, test } from "vitest";
import { attend, finish, journalOf, modes, open, trial, uninterrupted } from "./drive-sample.js";
import { atPlace, expectSame, judge, outcomeOf } from "./judge.js";
import { samples } from "./samples.js";
import { places } from "./thorough.js";
import { type Behaviour, behaviourOf, Life, World } from "./world.js";

/** How a driver is left at an event. */
const ways = {
  /** While the event is in hand: what is in flight settles behind the consumer's back. */
  "by return": async () => undefined,
  /** While the next event is asked for, so that more is in flight. */
  "by return, with a next pending": async (next: () => Promise<unknown>) => {
    next().catch(() => undefined);
    for (let turn = 0; turn < 6; turn++) await Promise.resolve();
  },
} as const;

/** What leaves doubt by itself. */
const doubtful: readonly Behaviour[] = ["lose_reply", "lose_call", "unknown", "hang"];

describe.each(modes)("a driver that is left leaves no doubt, writes: %s", (mode) => {
  describe.each(Object.entries(ways))("%s", (_way, prepare) => {
    test.each(samples.map((sample) => [sample.name, sample] as const))(
      "%s",
      { timeout: 20_000 },
      async (_name, sample) => {
        const { outcome, events } = await uninterrupted(sample, mode);
        for (const at of places(1, events - 1, 6)) {
          const run = trial(sample, mode, new World(40));
          const life = new Life();
          const stream = await open(run, life);
          let hasLeft = false;
          await attend(run, stream, life, async (_event, index) => {
            if (index !== at) return;
            await prepare(() => stream.next());
            hasLeft = true;
            await stream.return();
          });
          const left = await journalOf(run);
          const callsWhenLeft = run.world.calls;
          for (let turn = 0; turn < 99; turn++) await Promise.resolve();
          await atPlace(`left at event ${at}`, run, async () => {
            expect(hasLeft).toBe(true);
            expect(run.world.calls, "nothing starts once the driver is left").toBe(callsWhenLeft);
            expect(await journalOf(run), "and nothing is recorded").toEqual(left);
          });
          const result = await finish(run, async (event) => {
            if (event.type !== "question" || event.kind !== "in_doubt") return;
            expect(doubtful, `${event.path} is asked about`).toContain(behaviourOf(event.fields));
          });
          await atPlace(`left at event ${at}`, run, async () => {
            judge(result, run.world, await journalOf(run));
            expectSame(sample, outcomeOf(result, run.world), outcome);
          });
        }
      },
    );
  });
});
