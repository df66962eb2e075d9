import { setTimeout as sleep } from "node:timers/promises";
import type { How } from "./jobs.js";
import { type Case, carryToItsEnd, judgeEnded, newRun, type Played, type Stage } from "./play.js";
import { Random } from "./random.js";
import { type Shape, shapes } from "./shapes.js";

export interface Rescued {
  readonly given: Case;
  readonly played: Played;
}

/**
 * Processes die over many runs; then others look for what they left, all at once. Each run is carried on by one of them
 * as far as it goes by itself.
 */
export async function rescue(
  stage: Stage,
  seed: number,
  rescuers: number,
  some: readonly Shape[] = shapes,
): Promise<Rescued[]> {
  const name = `rescue/${rescuers}`;
  const random = new Random(seed, name);
  const how: How = {
    takeOver: false,
    inDoubt: "ask",
    asks: "nothing",
    notApplied: "retry",
    answersHere: false,
    paceMs: 2,
    isLate: random.onceIn(2),
    heedsSignal: false,
  };
  const rescued: Rescued[] = [];
  for (const shape of some) {
    // One that waits for a time which has not come is rightly left.
    if (shape.name === "retries") continue;
    const played = newRun(name);
    const { runId } = played;
    rescued.push({ given: { name, shape, kills: [], how }, played });
    const dieAt = 3 + random.below(25);
    const came = await stage.workers.run({ kind: "drive", shape: shape.name, ...how, leaseMs: 150, runId, dieAt });
    if (came.kind === "killed") played.kills += 1;
  }
  await stage.workers.gather(rescuers);
  await sleep(200);
  const left = new Set<string>();
  for await (const { runId } of stage.store.list({ status: "running" })) left.add(runId);
  const all = await Promise.all(Array.from({ length: rescuers }, () => stage.workers.run({ kind: "rescue", ...how })));
  const runs = all.flatMap((came) => (came.kind === "rescued" ? came.runs : []));
  for (const { given, played } of rescued) {
    const { runId, violations } = played;
    for (const came of all) if (came.kind === "error") violations.push(`a rescuer got ${came.message}`);
    const times = runs.filter((run) => run === runId).length;
    if (times !== (left.has(runId) ? 1 : 0)) violations.push(`it was carried on ${times} times`);
    played.resumes += times;
    const ending = await carryToItsEnd(stage, given, played);
    if (ending !== undefined) await judgeEnded(stage, given, played, ending);
  }
  return rescued;
}
