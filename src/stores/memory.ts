import { ConflictError } from "../core/errors.js";
import type { JournalRecord } from "../core/record.js";
import type { RunFilter, RunHead, RunLease, RunStore } from "../ports/run-store.js";
import { checkTtl, type FilterArguments, filterArguments, unknownAfter } from "../ports/store-arguments.js";

interface StoredRun {
  head: RunHead;
  readonly createdMs: number;
  readonly records: JournalRecord[];
}

const done = Promise.resolve();
const nobody: ReadonlySet<() => void> = new Set();

/**
 * Keeps runs for as long as the process lives. Records are kept as they are given, not copied: they must be frozen.
 * An append calls those who watch the run before it returns.
 */
export function memoryStore(): RunStore {
  const runs = new Map<string, StoredRun>();
  const ordered: StoredRun[] = [];
  const watchers = new Map<string, Set<() => void>>();
  const { lease, forget } = memoryLease();

  function append(runId: string, expectedSeq: number, records: readonly JournalRecord[], head: RunHead): Promise<void> {
    let run = runs.get(runId);
    if ((run?.records.length ?? 0) !== expectedSeq) return Promise.reject(new ConflictError(runId, expectedSeq));
    if (run === undefined) {
      run = { head: { ...head }, createdMs: Date.parse(head.createdAt), records: [] };
      runs.set(runId, run);
      ordered.splice(placeAfter(ordered, run.createdMs, runId), 0, run);
    } else {
      run.head = { ...head };
    }
    for (const record of records) run.records.push(record);
    for (const onChange of watchers.get(runId) ?? nobody) hint(onChange);
    return done;
  }

  async function* read(runId: string, fromSeq = 0): AsyncGenerator<JournalRecord, void, undefined> {
    const records = runs.get(runId)?.records ?? [];
    // What is appended while the reader is at it belongs to a later read.
    const end = records.length;
    for (let seq = fromSeq; seq < end; seq++) {
      const record = records[seq];
      if (record !== undefined) yield record;
    }
  }

  async function* list(filter: RunFilter = {}): AsyncGenerator<RunHead, void, undefined> {
    const wanted = filterArguments(filter);
    let start = 0;
    if (wanted.after !== undefined) {
      const last = runs.get(wanted.after);
      if (last === undefined) throw unknownAfter(wanted.after);
      start = placeAfter(ordered, last.createdMs, wanted.after);
    }
    const heads: RunHead[] = [];
    for (let place = start; place < ordered.length && heads.length < wanted.limit; place++) {
      const run = ordered[place];
      if (run !== undefined && matches(run, wanted)) heads.push(run.head);
    }
    for (const head of heads) yield { ...head };
  }

  return {
    append,
    read,
    list,
    async head(runId) {
      const run = runs.get(runId);
      return run && { ...run.head };
    },
    async delete(runId) {
      const run = runs.get(runId);
      if (run !== undefined) ordered.splice(placeAfter(ordered, run.createdMs, runId) - 1, 1);
      runs.delete(runId);
      forget(runId);
    },
    lease,
    watch(runId, onChange) {
      const watching = watchers.get(runId) ?? new Set();
      watchers.set(runId, watching);
      // Its own function, so that one that is given twice is called, and stopped, twice.
      const call = () => onChange();
      watching.add(call);
      return () => {
        watching.delete(call);
        if (watching.size === 0 && watchers.get(runId) === watching) watchers.delete(runId);
      };
    },
  };
}

function hint(onChange: () => void): void {
  try {
    onChange();
  } catch (error) {
    // The records are there already: the fault is the watcher's own, not that of the append.
    queueMicrotask(() => {
      throw error;
    });
  }
}

function memoryLease(): { lease: RunLease; forget(runId: string): void } {
  const leases = new Map<string, { readonly owner: string; readonly expiresMs: number }>();
  const lease: RunLease = {
    async claim(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      const held = leases.get(runId);
      if (held !== undefined && held.owner !== owner && held.expiresMs > Date.now()) return false;
      leases.set(runId, { owner, expiresMs: Date.now() + ttlMs });
      return true;
    },
    async renew(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      if (leases.get(runId)?.owner !== owner) return false;
      leases.set(runId, { owner, expiresMs: Date.now() + ttlMs });
      return true;
    },
    async release(runId, owner) {
      if (leases.get(runId)?.owner === owner) leases.delete(runId);
    },
  };
  return { lease, forget: (runId) => leases.delete(runId) };
}

/** How many of the ordered runs stand at or before this place. New runs come last, so the search looks there first. */
function placeAfter(ordered: readonly StoredRun[], createdMs: number, runId: string): number {
  let low = 0;
  let high = ordered.length;
  let middle = high - 1;
  while (low < high) {
    const run = ordered[middle];
    if (run === undefined || isAfter(run, createdMs, runId)) high = middle;
    else low = middle + 1;
    middle = (low + high) >>> 1;
  }
  return low;
}

function isAfter(run: StoredRun, createdMs: number, runId: string): boolean {
  return run.createdMs > createdMs || (run.createdMs === createdMs && run.head.runId > runId);
}

function matches({ head, createdMs }: StoredRun, wanted: FilterArguments): boolean {
  return (
    (wanted.statuses === undefined || wanted.statuses.includes(head.status)) &&
    (wanted.workflow === undefined || head.workflow === wanted.workflow) &&
    (!wanted.withOpenQuestions || head.openQuestions > 0) &&
    (wanted.createdFromMs === undefined || createdMs >= wanted.createdFromMs) &&
    (wanted.createdBeforeMs === undefined || createdMs < wanted.createdBeforeMs) &&
    (wanted.wakeBeforeMs === undefined || (head.wakeAt !== undefined && Date.parse(head.wakeAt) <= wanted.wakeBeforeMs))
  );
}
