import { expect } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunResult } from "../../src/core/result.js";
import type { WriteEntry } from "../../src/core/write-entry.js";
import { reasons, undoPathsOf } from "../../src/testing/simulate/judge.js";
import { journalOf, runId, type Trial } from "./drive-sample.js";
import type { Sample } from "./sample.js";
import type { World } from "./world.js";

/** What must be the same of two runs of a sample, whatever happened to them. */
export function outcomeOf(result: RunResult, world: World) {
  const { status, output, error, undoErrors = [] } = result;
  return {
    status,
    output,
    error: error && { code: codeOf(error), stepId: error.stepId, path: error.path },
    undoErrors: undoErrors.map(({ path }) => path).sort(),
    writes: result.writes.map(({ path, state, reason }) => ({ path, state, reason })).sort(byPath),
    effects: world.effects.map(({ key }) => key).sort(),
  };
}

export type Outcome = ReturnType<typeof outcomeOf>;

/** Where a failure races what runs beside it, how far that came is a matter of timing. */
export function expectSame({ races }: Sample, outcome: Outcome, expected: Outcome): void {
  const essence = ({ status, error }: Outcome) => ({ status, code: error?.code });
  if (races) expect(essence(outcome)).toEqual(essence(expected));
  else expect(outcome).toEqual(expected);
}

/** Says where a check of a run failed, and what its journal was. */
export async function atPlace(place: string, run: Trial, check: () => Promise<void> | void): Promise<void> {
  try {
    await check();
  } catch (error) {
    const journal = await journalOf(run);
    if (error instanceof Error) error.message = `${place}: ${error.message}\n${journal.map(summary).join("\n")}`;
    throw error;
  }
}

function summary(record: JournalRecord, seq: number): string {
  const { path = "", ...rest } = { path: "", ...record };
  const what = "status" in rest ? rest.status : "outcome" in rest ? rest.outcome : "id" in rest ? rest.id : "";
  return `${String(seq).padStart(4)} ${record.batch === undefined ? " " : "*"} ${record.kind} ${path} ${String(what)}`;
}

/** A refusal that was lost is told as a plain failure. */
function codeOf({ code }: { code: string }): string {
  return code === "TOOL_REFUSED" ? "TOOL_FAILED" : code;
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}

/** What holds of every run that ended, whatever happened to it. */
export function judge(result: RunResult, world: World, journal: readonly JournalRecord[]): void {
  expect(["completed", "failed", "cancelled"]).toContain(result.status);
  nothingTwice(world);
  writesAreTrue(result, world);
  if (result.status !== "completed") nothingLeftUndone(result, journal);
  undoneNewestFirst(journal);
  nothingBegunTooLate(journal);
}

function nothingTwice(world: World): void {
  const keys = world.effects.map(({ key }) => key);
  expect(keys, "no effect twice").toEqual([...new Set(keys)]);
}

/** The result tells of every effect, and of no other. */
function writesAreTrue(result: RunResult, world: World): void {
  const told = new Set(result.writes.map(({ path }) => `${runId}:${path}`));
  for (const { key } of world.effects) if (!key.endsWith("~undo")) expect([...told], "told").toContain(key);
  for (const write of result.writes) {
    const isApplied = world.has(`${runId}:${write.path}`);
    const isUndone = undoPathsOf(write.path).some((path) => world.has(`${runId}:${path}`));
    const real = isApplied ? (isUndone ? "applied, undone" : "applied") : "not applied";
    if (write.state in reasons) expect(reasons[write.state], `why ${write.path} is not undone`).toContain(write.reason);
    expect(allowed[write.state], `${write.path} is told to be ${write.state}`).toContain(real);
  }
}

const allowed: Record<WriteEntry["state"], readonly string[]> = {
  done: ["applied"],
  // Also undone is what stayed in doubt.
  undone: ["applied, undone", "not applied"],
  undo_failed: ["applied"],
  undo_in_doubt: ["applied", "applied, undone"],
  rejected: ["not applied"],
  failed: ["not applied"],
  in_doubt: ["applied", "not applied"],
};

/** After a run that failed or was cancelled, only what can't be undone is left. */
function nothingLeftUndone(result: RunResult, journal: readonly JournalRecord[]): void {
  const undoable = new Set(journal.flatMap((record) => ("undo" in record && record.undo ? [record.path] : [])));
  for (const { path, state, reason } of result.writes) {
    if (state === "done") expect(reason, `${path} is left done`).toBe("no_compensation");
    if (state === "done") expect(undoable.has(path), `${path} could be undone`).toBe(false);
  }
}

/** Within each scope's undo, the outcomes are taken newest first, each once. */
function undoneNewestFirst(journal: readonly JournalRecord[]): void {
  const outcomes = new Map<string, number>();
  const undos = new Map<string, number>();
  journal.forEach((record, seq) => {
    if (record.kind === "completed" || record.kind === "failed") outcomes.set(record.path, seq);
    if (record.kind === "write_intended" && record.path.endsWith("~undo") && !undos.has(record.path)) {
      undos.set(record.path, seq);
    }
  });
  const lastOf = new Map<string, number>();
  for (const [undoPath, seq] of undos) {
    const path = undoPath.slice(0, -"~undo".length);
    const scope = scopeUndoing(path, seq, journal);
    const outcome = outcomes.get(path) ?? Number.NaN;
    const last = lastOf.get(scope) ?? Number.POSITIVE_INFINITY;
    expect(outcome, `${undoPath} comes after those of later outcomes`).toBeLessThan(last);
    lastOf.set(scope, outcome);
  }
}

/** The attempt of the innermost scope around a path that failed, by a record of its own, after the undo. */
function scopeUndoing(path: string, seq: number, journal: readonly JournalRecord[]): string {
  let innermost = "";
  for (const record of journal.slice(seq)) {
    if (record.kind !== "failed" && record.kind !== "retried") continue;
    const scope = attemptAround(path, record.path);
    if (scope !== undefined && scope.length > innermost.length) innermost = scope;
  }
  return innermost;
}

/** The part of a path that names the attempt of a scope around it; `undefined` when it does not lie in the scope. */
function attemptAround(path: string, scope: string): string | undefined {
  if (path === scope || !path.startsWith(scope)) return undefined;
  if (scope.endsWith("/")) return scope;
  return /^(?:#\d+)?(?=[/[])/.exec(path.slice(scope.length)) === null
    ? undefined
    : scope + (/^#\d+/.exec(path.slice(scope.length))?.[0] ?? "");
}

/** Behind its deadline a write is made only to settle whether it was made before. */
function nothingBegunTooLate(journal: readonly JournalRecord[]): void {
  journal.forEach((deadline, seq) => {
    if (deadline.kind !== "timed_out") return;
    const before = journal.slice(0, seq);
    for (const record of journal.slice(seq)) {
      if (record.kind !== "write_intended" || record.path.endsWith("~undo")) continue;
      const isBelow = deadline.path === "" || attemptAround(record.path, deadline.path) !== undefined;
      if (record.path !== deadline.path && !isBelow) continue;
      const intended = before.some((earlier) => earlier.kind === "write_intended" && earlier.path === record.path);
      expect(intended, `${record.path} is begun behind the deadline of ${deadline.path}`).toBe(true);
    }
  });
}
