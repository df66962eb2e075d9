import type { JournalRecord } from "../../src/core/record.js";
import type { RunResult } from "../../src/core/result.js";
import type { WriteEntry } from "../../src/core/write-entry.js";
import type { LedgerEntry } from "./ledger-client.js";
import type { Shape } from "./shapes.js";

/** All that is known of a run that ended. */
export interface Evidence {
  readonly shape: Shape;
  readonly result: RunResult;
  readonly journal: readonly JournalRecord[];
  /** Every effect that the ledger applied for the run, in order. */
  readonly entries: readonly LedgerEntry[];
  /** Whether somebody said of a write that it did not happen, or nobody was asked: the run may then fail. */
  readonly mayFail: boolean;
  /** Whether doubt was left as it is, instead of asking. */
  readonly leavesDoubt: boolean;
}

/** What is wrong with a run, by the ledger. */
export function violationsOf(evidence: Evidence): string[] {
  return [
    ...nothingTwice(evidence),
    ...writesAreTrue(evidence),
    ...endsAsItShould(evidence),
    ...nothingLost(evidence),
    ...nothingLeft(evidence),
    ...undoneNewestFirst(evidence),
  ];
}

function nothingTwice({ entries }: Evidence): string[] {
  const wrong: string[] = [];
  const memos = new Set<string>();
  const paid = new Set<unknown>();
  const voided = new Set<unknown>();
  for (const { memo, tool, inputs, result } of entries) {
    if (memos.has(memo)) wrong.push(`${memo} was applied twice`);
    memos.add(memo);
    if (!isVoid(tool)) {
      paid.add(result.id);
      continue;
    }
    if (voided.has(inputs.payment)) wrong.push(`payment ${String(inputs.payment)} was voided twice`);
    if (!paid.has(inputs.payment)) wrong.push(`payment ${String(inputs.payment)} was voided and never made`);
    voided.add(inputs.payment);
  }
  return wrong;
}

interface Fate {
  readonly entry: LedgerEntry;
  readonly isVoided: boolean;
}

/** What became of each payment, by its path. */
function fatesOf({ entries, result }: Evidence): Map<string, Fate> {
  const voided = new Set(entries.filter(({ tool }) => isVoid(tool)).map(({ inputs }) => inputs.payment));
  const payments = entries.filter(({ tool }) => !isVoid(tool));
  return new Map(
    payments.map((entry) => [
      entry.memo.slice(result.runId.length + 1),
      { entry, isVoided: voided.has(entry.result.id ?? null) },
    ]),
  );
}

const told: Record<WriteEntry["state"], readonly string[]> = {
  done: ["paid"],
  undone: ["voided"],
  undo_failed: ["paid"],
  undo_in_doubt: ["paid", "voided"],
  rejected: ["not paid"],
  failed: ["not paid"],
  in_doubt: ["paid", "not paid"],
};

/** The result tells of every payment, and truly. */
function writesAreTrue(evidence: Evidence): string[] {
  const wrong: string[] = [];
  const fates = fatesOf(evidence);
  const known = new Set(evidence.result.writes.map(({ path }) => path));
  for (const path of fates.keys()) if (!known.has(path)) wrong.push(`the result does not tell of ${path}`);
  for (const { path, state } of evidence.result.writes) {
    const fate = fates.get(path);
    const real = fate === undefined ? "not paid" : fate.isVoided ? "voided" : "paid";
    if (!told[state].includes(real)) wrong.push(`${path} is told to be ${state}, and is ${real}`);
    const isDoubt = state === "in_doubt" || state === "undo_in_doubt";
    if (isDoubt && !evidence.leavesDoubt) wrong.push(`${path} is left ${state}, though the truth was told`);
    if (state === "undo_failed") wrong.push(`${path} could not be undone`);
  }
  return wrong;
}

function endsAsItShould({ shape, result, mayFail, journal }: Evidence): string[] {
  const allowed = [shape.ends, ...(mayFail ? ["failed"] : []), ...(shape.isCancelled ? ["cancelled"] : [])];
  const wrong = allowed.includes(result.status) ? [] : [`it ended ${result.status}, not ${allowed.join(" or ")}`];
  const last = journal.at(-1);
  if (last?.kind !== "run_ended" || last.status !== result.status) wrong.push(`its journal ends with ${last?.kind}`);
  return wrong;
}

/** A run that completed paid everyone, and gives what the ledger gave. */
function nothingLost(evidence: Evidence): string[] {
  const { result, shape } = evidence;
  if (result.status !== "completed") return [];
  const standing = [...fatesOf(evidence).values()].filter(({ isVoided }) => !isVoided).map(({ entry }) => entry);
  const payees = standing.map(({ inputs }) => String(inputs.to)).sort();
  const wrong = payees.join() === [...shape.pays].sort().join() ? [] : [`${payees.join()} are paid, not ${shape.pays}`];
  const output = JSON.stringify(result.output);
  for (const { result } of standing) {
    if (!output.includes(`"${String(result.id)}"`)) wrong.push(`the output lacks ${String(result.id)}`);
  }
  return wrong;
}

/** After a run that did not complete only that is paid which nothing undoes, or which is told to be in doubt. */
function nothingLeft(evidence: Evidence): string[] {
  const { result, shape } = evidence;
  if (result.status === "completed") return [];
  const wrong: string[] = [];
  const states = new Map(result.writes.map(({ path, state }) => [path, state]));
  for (const [path, { entry, isVoided }] of fatesOf(evidence)) {
    const state = states.get(path);
    if (isVoided || shape.keeps.includes(path) || state === "in_doubt" || state === "undo_in_doubt") continue;
    wrong.push(`${path} (${String(entry.inputs.to)}) is still paid after the run ${result.status}`);
  }
  return wrong;
}

/** Voids come in the reverse order of the outcomes of their payments. */
function undoneNewestFirst({ journal, entries, result }: Evidence): string[] {
  const outcomes = new Map<string, number>();
  journal.forEach((record, seq) => {
    if (record.kind === "completed" || record.kind === "failed") outcomes.set(record.path, seq);
  });
  const wrong: string[] = [];
  let last = Number.POSITIVE_INFINITY;
  for (const { tool, memo } of entries) {
    if (!isVoid(tool)) continue;
    const path = memo.slice(result.runId.length + 1).replace(/~undo$/, "");
    const outcome = outcomes.get(path);
    if (outcome === undefined) wrong.push(`${path} was undone without an outcome`);
    else if (outcome > last) wrong.push(`${path} was undone after an older write`);
    else last = outcome;
  }
  return wrong;
}

function isVoid(tool: string): boolean {
  return tool.startsWith("void");
}
