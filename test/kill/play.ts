import { setTimeout as sleep } from "node:timers/promises";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunResult } from "../../src/core/result.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { How, Job } from "./jobs.js";
import { violationsOf } from "./judge.js";
import type { Ledger } from "./ledger-client.js";
import type { Shape } from "./shapes.js";
import type { Came, Workers } from "./workers.js";

/** Where cases are played: a store that all processes share, and the ledger that they pay through. */
export interface Stage {
  readonly store: RunStore;
  readonly ledger: Ledger;
  readonly workers: Workers;
}

/** When a process is killed: after so many points that it passes, or so many milliseconds after it was told to drive. */
export type Kill = { readonly points: number } | { readonly ms: number };

/** One run, and what happens to it. */
export interface Case {
  readonly name: string;
  readonly shape: Shape;
  /** One after another, each in the process that then works on the run. */
  readonly kills: readonly Kill[];
  /** After so many milliseconds of the run another process cancels it. */
  readonly cancelAfterMs?: number;
  readonly how: How;
}

export interface Played {
  readonly runId: string;
  kills: number;
  /** How often another process carried the run on. */
  resumes: number;
  /** How many points were passed by processes that lived on. */
  points: number;
  violations: string[];
}

/** How often a run is carried on before it counts as one that does not end. */
const patience = 100;
let runs = 0;

export function newRun(name: string): Played {
  runs += 1;
  return { runId: `${name}:${runs}`, kills: 0, resumes: 0, points: 0, violations: [] };
}

/** Runs a case to its end, and judges it. */
export async function play(stage: Stage, given: Case): Promise<Played> {
  const tally = newRun(given.name);
  const over = new AbortController();
  const cancelled = cancelMeanwhile(stage, given, tally.runId, over.signal);
  const ending = await carryToItsEnd(stage, given, tally).finally(() => over.abort());
  await cancelled;
  if (ending !== undefined) await judgeEnded(stage, given, tally, ending);
  return tally;
}

interface Ending {
  readonly result: RunResult;
  /** Whether somebody said of a write that it did not happen. */
  readonly saysNotApplied: boolean;
}

/** @returns `undefined` where it does not come to an end, which is then a violation. */
export async function carryToItsEnd(stage: Stage, given: Case, tally: Played): Promise<Ending | undefined> {
  const { runId } = tally;
  const kills = [...given.kills];
  let kill = kills.shift();
  const { notApplied, answersHere } = given.how;
  let saysNotApplied = answersHere && notApplied === "not_applied";

  async function work(job: Job): Promise<Came> {
    const dieAt = kill !== undefined && "points" in kill ? { dieAt: kill.points } : {};
    const killAfterMs = kill !== undefined && "ms" in kill ? kill.ms : undefined;
    const came = await stage.workers.run({ ...job, ...dieAt }, killAfterMs);
    if (came.kind === "killed") {
      tally.kills += 1;
      kill = kills.shift();
    } else {
      tally.points += came.points;
      if (kill !== undefined && "points" in kill) kill = { points: kill.points - came.points };
    }
    return came;
  }

  for (let turn = 0; turn < patience; turn++) {
    if (turn > 0) tally.resumes += 1;
    const came = await work({ kind: "drive", runId, shape: given.shape.name, ...given.how });
    if (came.kind === "error") {
      // The lease of the process that was killed has not run out.
      if (came.code === "RUN_BUSY") await sleep(50);
      else tally.violations.push(`driving it gave ${came.message}`);
    }
    if (came.kind !== "result") continue;
    if (came.result.status !== "waiting") return { result: came.result, saysNotApplied };
    for (const question of came.result.questions ?? []) {
      if (question.kind === "in_doubt" && notApplied === "not_applied") saysNotApplied = true;
      const answered = await work({ kind: "answer", runId, question, notApplied });
      if (answered.kind === "error" && answered.code !== "QUESTION_CLOSED" && answered.code !== "RUN_ENDED") {
        tally.violations.push(`answering ${question.id} gave ${answered.message}`);
      }
    }
  }
  tally.violations.push("it does not end");
  return undefined;
}

async function cancelMeanwhile(stage: Stage, given: Case, runId: string, over: AbortSignal): Promise<void> {
  if (given.cancelAfterMs === undefined) return;
  const elapsed = await sleep(given.cancelAfterMs, true, { signal: over }).catch(() => false);
  while (elapsed && !over.aborted) {
    const came = await stage.workers.run({ kind: "cancel", runId });
    // Before the run is begun there is nothing to cancel.
    if (came.kind === "done") return;
    await sleep(5);
  }
}

export async function judgeEnded(stage: Stage, given: Case, tally: Played, ending: Ending): Promise<void> {
  const { store, ledger, workers } = stage;
  const { shape, how } = given;
  const { runId, violations } = tally;
  const { result, saysNotApplied } = ending;
  await ledger.settle();
  const journal = await journalOf(store, runId);
  const entries = await ledger.entries(`${runId}:`);
  const leavesDoubt = how.inDoubt === "fail";
  const mayFail = leavesDoubt || saysNotApplied;
  violations.push(...violationsOf({ shape, result, journal, entries, mayFail, leavesDoubt }));
  const again = await workers.run({ kind: "drive", runId, shape: shape.name, ...how });
  if (again.kind !== "result" || JSON.stringify(again.result) !== JSON.stringify(result)) {
    violations.push("another process is told another result");
  }
  const head = await store.head(runId);
  if (head?.status !== result.status || head.openQuestions !== 0) violations.push("its head says something else");
}

async function journalOf(store: RunStore, runId: string): Promise<JournalRecord[]> {
  const journal: JournalRecord[] = [];
  for await (const record of store.read(runId)) journal.push(record);
  return journal;
}

/** What there is to see of a run that went wrong. */
export async function reportOf({ store, ledger }: Stage, { name, kills, how }: Case, played: Played): Promise<string> {
  const journal = await journalOf(store, played.runId);
  const entries = await ledger.entries(`${played.runId}:`);
  return [
    `${name}: ${played.violations.join("; ")}`,
    `  kills ${JSON.stringify(kills)}, ${JSON.stringify(how)}`,
    ...journal.map((record, seq) => `  ${seq} ${JSON.stringify(record).slice(0, 200)}`),
    ...entries.map(({ tool, memo, inputs }) => `  ledger: ${tool} ${memo} ${JSON.stringify(inputs)}`),
  ].join("\n");
}
