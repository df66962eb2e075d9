import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../core/json.js";
import type { JournalRecord } from "../../core/record.js";
import type { RunResult } from "../../core/result.js";
import type { WriteEntry } from "../../core/write-entry.js";
import type { Witness } from "./witness.js";

/**
 * What is wrong with a run that came to its end, if anything:
 *
 * 1. The result tells of every write that was made, and of each what is true.
 * 2. What can be undone is undone when the run fails or is cancelled, newest first, nothing twice.
 * 3. Nothing is begun behind its deadline, or behind a cancel.
 */
export function judge(result: RunResult, witness: Witness): string | undefined {
  return (
    writesAreTrue(result, witness) ??
    (result.status === "completed" ? undefined : nothingLeftDone(result, witness.journal)) ??
    undoneNewestFirst(witness.journal) ??
    nothingBegunTooLate(witness.journal) ??
    nothingBegunBehindCancel(witness.journal) ??
    endedOnce(witness.journal)
  );
}

function writesAreTrue({ writes, runId }: RunResult, witness: Witness): string | undefined {
  const told = new Set(writes.map(({ path }) => path));
  const untold = witness.writes.find(({ path }) => !path.endsWith("~undo") && !told.has(path));
  if (untold !== undefined) return `${untold.path}: ${untold.tool} was made, and the result does not tell of it.`;
  for (const { path, tool, state, reason } of writes) {
    if (state === "in_doubt" && !isDoubted(path, witness.journal)) {
      return `${path}: the result tells that ${tool} is in doubt, and nobody said so.`;
    }
    const isMade = witness.writeOf(`${runId}:${path}`) !== undefined;
    const isUndone = undoPathsOf(path).some((undo) => witness.writeOf(`${runId}:${undo}`) !== undefined);
    const real = isMade ? (isUndone ? "made and undone" : "made") : "not made";
    if (!allowed[state].includes(real)) {
      return `${path}: the result tells that ${tool} is ${state}, and it was ${real}.`;
    }
    const known = reasons[state];
    if (known !== undefined && !known.includes(reason)) {
      return `${path}: the result tells that ${tool} is ${state} with the reason ${reason ?? "left out"}.`;
    }
  }
  return undefined;
}

const allowed: Record<WriteEntry["state"], readonly string[]> = {
  done: ["made"],
  // Also undone is what stayed in doubt.
  undone: ["made and undone", "not made"],
  undo_failed: ["made"],
  undo_in_doubt: ["made", "made and undone"],
  rejected: ["not made"],
  failed: ["not made"],
  in_doubt: ["made", "not made"],
};

/** The reasons that a write of a state may bear; of a state that is not named, any. */
export const reasons: Partial<Record<WriteEntry["state"], readonly WriteEntry["reason"][]>> = {
  undone: [undefined],
  undo_failed: ["failed", "rejected", "unresolved"],
  undo_in_doubt: ["in_doubt"],
};

/** The paths of the undos that may cover a write: its own, and those of the containers around it. */
export function undoPathsOf(path: string): string[] {
  const paths = [`${path}~undo`];
  for (let end = path.length; end > 0; end--) {
    if (path[end] === "/" || path[end] === "[" || path[end] === "#") paths.push(`${path.slice(0, end)}~undo`);
  }
  return paths;
}

function isDoubted(path: string, journal: readonly JournalRecord[]): boolean {
  return journal.some((record) => record.kind === "failed" && record.path === path && record.outcome === "in_doubt");
}

function nothingLeftDone({ writes, status }: RunResult, journal: readonly JournalRecord[]): string | undefined {
  const undoable = new Set(journal.flatMap((record) => ("undo" in record && record.undo ? [record.path] : [])));
  const left = writes.find(({ path, stepId, state, reason }) => {
    if (state !== "done") return false;
    if (reason !== "no_compensation" || undoable.has(path)) return true;
    return !path.endsWith("~fallback") && namesCompensation(stepId, journal);
  });
  return left && `${left.path}: ${left.tool} is left done though the run ${status} and it could be undone.`;
}

/** Whether every step of this id that calls a tool says what undoes it. */
function namesCompensation(stepId: string, [started]: readonly JournalRecord[]): boolean {
  const steps = started?.kind === "run_started" ? started.documents.flatMap(({ document }) => stepsIn(document)) : [];
  const named = steps.filter((step) => step.id === stepId);
  return named.length > 0 && named.every((step) => step.tool !== undefined && step.compensate !== undefined);
}

/** The steps of a document, or those of a `parallel`. */
function stepsIn(holder: JsonValue): JsonObject[] {
  if (!isJsonObject(holder)) return [];
  const { steps, parallel } = holder;
  const list = isJsonArray(steps) ? steps : isJsonArray(parallel) ? parallel : [];
  return list.filter(isJsonObject).flatMap((step) => [step, ...stepsIn(step)]);
}

/** Within each scope's undo, the outcomes are taken newest first, each once. */
function undoneNewestFirst(journal: readonly JournalRecord[]): string | undefined {
  const outcomes = new Map<string, number>();
  const undos = new Map<string, number>();
  journal.forEach((record, seq) => {
    if (record.kind === "completed" || record.kind === "failed") outcomes.set(record.path, seq);
    if (record.kind !== "write_intended" || !record.path.endsWith("~undo") || undos.has(record.path)) return;
    undos.set(record.path, seq);
  });
  const lastOf = new Map<string, number>();
  for (const [undoPath, seq] of undos) {
    const path = undoPath.slice(0, -"~undo".length);
    const scope = scopeUndoing(path, seq, journal);
    const outcome = outcomes.get(path) ?? Number.NaN;
    if (!(outcome < (lastOf.get(scope) ?? Number.POSITIVE_INFINITY))) {
      return `${path}: its undo came after that of what was done before it.`;
    }
    lastOf.set(scope, outcome);
  }
  return undefined;
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
  const rest = path.slice(scope.length);
  return /^(?:#\d+)?(?=[/[])/.test(rest) ? scope + (/^#\d+/.exec(rest)?.[0] ?? "") : undefined;
}

/** Behind its deadline a write is made only to settle whether it was made before. */
function nothingBegunTooLate(journal: readonly JournalRecord[]): string | undefined {
  const intended = new Set<string>();
  const deadlines: string[] = [];
  for (const record of journal) {
    if (record.kind === "timed_out") deadlines.push(record.path);
    if (record.kind !== "write_intended") continue;
    const { path, tool } = record;
    const isLate = deadlines.some((late) => late === "" || late === path || attemptAround(path, late) !== undefined);
    if (isLate && !path.endsWith("~undo") && !intended.has(path))
      return `${path}: ${tool} was begun behind its deadline.`;
    intended.add(path);
  }
  return undefined;
}

/** What begins is never appended behind a record of somebody else that was not seen. */
function nothingBegunBehindCancel(journal: readonly JournalRecord[]): string | undefined {
  const cancelled = journal.findIndex(({ kind }) => kind === "cancel_requested");
  if (cancelled < 0) return undefined;
  const intended = new Set<string>();
  for (const [seq, record] of journal.entries()) {
    if (record.kind !== "write_intended") continue;
    const { path, tool } = record;
    if (seq > cancelled && !path.endsWith("~undo") && !intended.has(path)) {
      return `${path}: ${tool} was begun after the run was cancelled.`;
    }
    intended.add(path);
  }
  return undefined;
}

function endedOnce(journal: readonly JournalRecord[]): string | undefined {
  const ends = journal.filter(({ kind }) => kind === "run_ended").length;
  return ends === 1 ? undefined : `The journal says ${ends} times that the run ended.`;
}
