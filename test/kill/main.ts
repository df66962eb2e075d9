// Kills processes that drive runs, at every point and at any time, lets others carry the runs on, and asks the ledger
// whether anyone was paid twice or not at all.
//
//   npm run test:kill -- [--store sqlite|postgres] [--seed 7] [--kills 300|all] [--case chain/17]
import { parseArgs } from "node:util";
import { caseNamed, caseNames, playUndisturbed } from "./cases.js";
import { fight, fightNamed, fights, nameOf } from "./fight.js";
import type { StoreKind } from "./jobs.js";
import { type Case, type Played, play, reportOf, type Stage } from "./play.js";
import { rescue } from "./rescue.js";
import { setStage } from "./stage.js";
import { buildPrograms } from "./workers.js";

const { values } = parseArgs({
  options: {
    store: { type: "string" },
    seed: { type: "string" },
    kills: { type: "string", default: "300" },
    case: { type: "string" },
  },
});
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const wanted = values.kills === "all" ? Number.POSITIVE_INFINITY : Number(values.kills);
const kinds: readonly StoreKind[] = ["sqlite", "postgres"];

/** Cases that wait for a lease or a retry leave the machine to others. */
const atOnce = 3;

const programs = await buildPrograms();
let violations = 0;
try {
  for (const kind of kinds) if (values.store === undefined || values.store === kind) await test(kind);
} finally {
  programs.remove();
}
console.log(`seed ${seed}, ${violations} violations`);
process.exit(violations === 0 ? 0 : 1);

async function test(kind: StoreKind): Promise<void> {
  const stage = await setStage(kind, programs);
  const sum = { cases: 0, kills: 0, resumes: 0, violations: 0, fights: 0, busy: 0, takenOver: 0 };

  async function count(given: Case, played: Played): Promise<void> {
    sum.cases += 1;
    sum.kills += played.kills;
    sum.resumes += played.resumes;
    sum.violations += played.violations.length;
    if (played.violations.length === 0) return;
    console.error(await reportOf(stage, given, played));
    console.error(`  again: npm run test:kill -- --store ${kind} --seed ${seed} --case ${given.name}`);
  }

  async function playOne(name: string): Promise<void> {
    if (name.startsWith("rescue/")) {
      const rescuers = Number(name.slice("rescue/".length));
      for (const { given, played } of await rescue(stage, seed, rescuers)) await count(given, played);
      return;
    }
    const contest = fightNamed(name);
    if (contest === undefined) {
      const given = caseNamed(name, seed);
      return count(given, await play(stage, given));
    }
    const { played, how } = await fight(stage, contest, seed);
    sum.fights += 1;
    sum.busy += played.busy;
    sum.takenOver += played.takenOver;
    await count(how, played);
  }

  try {
    if (values.case !== undefined) await playOne(values.case);
    else await playAll(stage, count, playOne, () => sum.kills < wanted);
  } finally {
    await stage.strike();
  }
  violations += sum.violations;
  console.log(
    `${kind}: ${sum.cases} runs, ${sum.kills} kills, ${sum.resumes} resumes, ${sum.violations} violations; ` +
      `${sum.fights} fights (${sum.busy} times busy, ${sum.takenOver} times taken over)`,
  );
}

async function playAll(
  stage: Stage,
  count: (given: Case, played: Played) => Promise<void>,
  playOne: (name: string) => Promise<void>,
  isWanting: () => boolean,
): Promise<void> {
  const names = caseNames(await playUndisturbed(stage, count), seed);
  for (const contest of fights) await playOne(nameOf(contest));
  for (const rescuers of [2, 4, 8]) await playOne(`rescue/${rescuers}`);

  async function playOn(): Promise<void> {
    for (let name = names.shift(); name !== undefined && isWanting(); name = names.shift()) await playOne(name);
  }

  await Promise.all(Array.from({ length: atOnce }, playOn));
}
