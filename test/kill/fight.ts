import { setTimeout as sleep } from "node:timers/promises";
import type { RunResult } from "../../src/core/result.js";
import type { DriveJob } from "./jobs.js";
import { type Case, carryToItsEnd, judgeEnded, newRun, type Played, type Stage } from "./play.js";
import { Random } from "./random.js";
import { shapeNamed } from "./shapes.js";

/** Several processes that all want to drive one run. */
export interface Fight {
  readonly fighters: number;
  /** Whether they take the run from one who drives it. */
  readonly takeOver: boolean;
  readonly shape: string;
}

export interface Fought extends Played {
  /** How often one was told that another drives the run. */
  busy: number;
  /** How often one lost the run to another. */
  takenOver: number;
}

export const fights: readonly Fight[] = [2, 4, 8].flatMap((fighters) =>
  ["chain_fails", "parallel", "for_each_fails"].flatMap((shape) =>
    [false, true].map((takeOver) => ({ fighters, takeOver, shape })),
  ),
);

export function fightNamed(name: string): Fight | undefined {
  return fights.find((fight) => nameOf(fight) === name);
}

export function nameOf({ fighters, takeOver, shape }: Fight): string {
  return `fight/${shape}/${fighters}${takeOver ? "/taking" : ""}`;
}

/** How often one takes a run by force before it gives way. */
const attacks = 3;

/**
 * A process begins the run and dies; then all others drive it at once. No process answers what it is asked, so that a
 * person answers for a write in doubt when no call of a driver that was taken over is on its way any more.
 */
export async function fight(stage: Stage, given: Fight, seed: number): Promise<{ played: Fought; how: Case }> {
  const random = new Random(seed, nameOf(given));
  const shape = shapeNamed(given.shape);
  const how: DriveJob = {
    kind: "drive",
    shape: shape.name,
    takeOver: false,
    leaseMs: 150,
    inDoubt: "ask",
    asks: "nothing",
    notApplied: "retry",
    answersHere: false,
    paceMs: 1 + random.below(8),
    isLate: random.onceIn(2),
    heedsSignal: false,
  };
  const played: Fought = { ...newRun(nameOf(given)), busy: 0, takenOver: 0 };
  const { runId, violations } = played;
  await stage.workers.gather(given.fighters + 1);
  const first = await stage.workers.run({ ...how, runId, dieAt: 1 + random.below(30) });
  if (first.kind === "killed") played.kills += 1;
  const results: RunResult[] = [];

  // Whoever then drives the run holds it by a lease of the usual length.
  const { leaseMs: _, ...lasting } = how;

  async function join(): Promise<void> {
    for (let time = 0; time < 10_000; time++) {
      const takeOver = given.takeOver && time < attacks;
      const came = await stage.workers.run({ ...lasting, runId, takeOver });
      if (came.kind === "result") {
        if (came.result.status !== "waiting") results.push(came.result);
        return;
      }
      const code = came.kind === "error" ? came.code : came.kind;
      if (code === "RUN_BUSY") played.busy += 1;
      else if (code === "RUN_TAKEN_OVER") played.takenOver += 1;
      else violations.push(`a fighter got ${came.kind === "error" ? came.message : came.kind}`);
      await sleep(5);
    }
    violations.push("a fighter never got the run");
  }

  await Promise.all(Array.from({ length: given.fighters }, join));
  if (!given.takeOver && played.takenOver > 0) violations.push("a run was taken over from a driver that lives");
  if (new Set(results.map((result) => JSON.stringify(result))).size > 1) violations.push("two were told two results");
  await stage.ledger.settle();
  const calm: Case = { name: nameOf(given), shape, kills: [], how: { ...lasting, takeOver: true } };
  const ending = await carryToItsEnd(stage, calm, played);
  if (ending !== undefined) await judgeEnded(stage, calm, played, ending);
  return { played, how: calm };
}
