import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Comparison, Row, Side } from "./rows.js";

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));

export interface Settings {
  readonly rounds: number;
  readonly isQuick: boolean;
  /** By when the last process has to have started, in the time of `performance.now`. */
  readonly deadline: number;
  /** Of a running server, for the rows that need one. */
  readonly postgres?: string;
}

/** A cost, or why there is none. */
export type Cost = number | { readonly fault: string };

export interface Measured {
  readonly row: Row;
  readonly comparison: Comparison;
  /** One of each for each round. */
  readonly ours: readonly Cost[];
  readonly theirs: readonly Cost[];
}

/** Measures a row in rounds: in each, every side in a new process, the sides by turns in this and in the other order. */
export async function measureRow(row: Row, settings: Settings): Promise<readonly Measured[]> {
  const sides = new Map<string, Side>();
  for (const { ours, theirs } of row.comparisons) {
    for (const side of [ours, theirs]) if (side !== undefined) sides.set(keyOf(side), side);
  }
  const costs = new Map([...sides.keys()].map((key): [string, Cost[]] => [key, []]));
  for (let round = 0; round < settings.rounds; round++) {
    const turn = [...sides];
    if (round % 2 === 1) turn.reverse();
    for (const [key, side] of turn) costs.get(key)?.push(await costOf(side, settings));
  }
  const of = (side: Side | undefined) => (side && costs.get(keyOf(side))) ?? [];
  return row.comparisons.map((comparison) => ({
    row,
    comparison,
    ours: of(comparison.ours),
    theirs: of(comparison.theirs),
  }));
}

/** How much our cost is of theirs, or theirs of ours, for each round in which there are both. */
export function ratios({ comparison: { target }, ours, theirs }: Measured): readonly number[] {
  return ours.flatMap((cost, round) => {
    const other = theirs[round];
    if (typeof cost !== "number" || typeof other !== "number") return [];
    return "atLeast" in target ? other / cost : cost / other;
  });
}

/** The costs that there are, or the first fault. */
export function medianCost(costs: readonly Cost[]): Cost | undefined {
  const numbers = costs.filter((cost) => typeof cost === "number");
  return median(numbers) ?? costs[0];
}

export function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function keyOf({ file, measure, argument = "" }: Side): string {
  return `${file} ${measure} ${argument}`;
}

function costOf({ file, measure, argument }: Side, settings: Settings): Promise<Cost> {
  const left = settings.deadline - performance.now();
  if (left <= 0) return Promise.resolve({ fault: "no time left" });
  const given = argument === undefined ? [] : String(argument).split(" ");
  const env = {
    ...process.env,
    ...(settings.isQuick && { TOOLWEAVE_BENCH_QUICK: "1" }),
    ...(settings.postgres !== undefined && { TOOLWEAVE_BENCH_POSTGRES: settings.postgres }),
  };
  const timeout = Math.ceil(Math.min(left, 300_000));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--expose-gc", worker, file, measure, ...given],
      { env, timeout },
      (error, stdout, stderr) => {
        if (error === null) resolve(costIn(stdout));
        else resolve({ fault: error.killed ? "no time left" : faultIn(stderr) });
      },
    );
  });
}

function costIn(stdout: string): Cost {
  const { cost }: { cost: number } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  return cost;
}

function faultIn(stderr: string): string {
  const lines = stderr.split("\n");
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? "it failed";
}
