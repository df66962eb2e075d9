import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { caseNamed } from "./cases.js";
import { fight } from "./fight.js";
import type { StoreKind } from "./jobs.js";
import { type Case, type Played, play, reportOf } from "./play.js";
import { rescue } from "./rescue.js";
import { shapeNamed } from "./shapes.js";
import { setStage } from "./stage.js";
import { buildPrograms, type Programs } from "./workers.js";

/** A sample of what `npm run test:kill` does: points at which each kind of thing happens, and a few times. */
const sample = [
  "chain/1", // before the run's first record
  "chain/2",
  "chain/11", // an intent that is durable, and no call
  "chain/13", // a call that did not come to its effect, or too late to be told
  "chain/14", // a call that came to its effect
  "chain/16", // an outcome that is not recorded
  "chain_fails/49", // in the midst of undoing
  "chain_fails/54",
  "parallel/14",
  "parallel_fails/r1",
  "for_each/23",
  "for_each_fails/r2",
  "fallback/17",
  "approved/13",
  "approved_fails/40",
  "cancelled/r3",
];

let programs: Programs;
beforeAll(async () => {
  programs = await buildPrograms();
}, 60_000);
afterAll(() => programs.remove());

describe.each<StoreKind>(["sqlite", "postgres"])("on %s", (kind) => {
  let stage: Awaited<ReturnType<typeof setStage>>;
  beforeAll(async () => {
    stage = await setStage(kind, programs);
  }, 120_000);
  afterAll(() => stage.strike(), 60_000);

  async function expectRight(given: Case, played: Played): Promise<void> {
    if (played.violations.length > 0) expect.fail(await reportOf(stage, given, played));
  }

  test("processes that are killed leave every payment made once, or undone once, and truly told", async () => {
    let kills = 0;
    const names = [...sample];
    async function playOn(): Promise<void> {
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        const given = caseNamed(name, 5);
        const played = await play(stage, given);
        kills += played.kills;
        await expectRight(given, played);
      }
    }
    await Promise.all([playOn(), playOn(), playOn()]);
    // A run may be over before a time comes; a point it comes to.
    expect(kills).toBeGreaterThanOrEqual(sample.filter((name) => !name.includes("/r")).length);
  }, 300_000);

  test("of processes that all carry one run on, one drives at a time", async () => {
    const { played, how } = await fight(stage, { fighters: 3, takeOver: false, shape: "chain_fails" }, 5);
    await expectRight(how, played);
  }, 120_000);

  test("processes that look for runs that others left carry each on once", async () => {
    const some = ["chain", "chain_fails", "parallel", "for_each_fails"].map(shapeNamed);
    for (const { given, played } of await rescue(stage, 5, 3, some)) await expectRight(given, played);
  }, 120_000);

  test("of processes that take one run from each other, the last drives it", async () => {
    const { played, how } = await fight(stage, { fighters: 3, takeOver: true, shape: "parallel" }, 5);
    await expectRight(how, played);
  }, 120_000);
});
