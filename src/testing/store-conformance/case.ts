import { deepFreeze } from "../../core/freeze.js";
import type { JsonValue } from "../../core/json.js";
import type { JournalRecord } from "../../core/record.js";
import type { RunFilter, RunHead, RunLease, RunStore } from "../../ports/run-store.js";
import { fail } from "./expect.js";

/** What a store may do without. */
export type Capability = "reopen" | "lease" | "watch";

export interface Subject {
  /** Need not be empty: every case works on runs and workflows of its own. */
  readonly store: RunStore;
  /** Another handle on the same data, such as another process would have. */
  reopen?(): RunStore | Promise<RunStore>;
}

export interface CaseDefinition {
  readonly name: string;
  readonly needs?: Capability;
  check(trial: Trial): Promise<void>;
}

/** One case's store, and names that no other case has. */
export interface Trial {
  readonly store: RunStore;
  readonly runId: string;
  readonly lease: RunLease;
  /** A head of this trial's run, unless the change names another, and of a workflow that is this trial's alone. */
  head(change?: Partial<RunHead>): RunHead;
  /** Begins a run whose head has these fields, with one record. */
  begin(change?: Partial<RunHead>): Promise<RunHead>;
  /** The ids of this trial's runs, as the store lists them. */
  listed(filter?: RunFilter): Promise<string[]>;
  /** Watches through this trial's store, unless another is given. */
  watch(runId: string, onChange: () => void, through?: RunStore): () => void;
  /** Another handle on the same data. */
  reopen(): Promise<RunStore>;
}

export function trialOf(subject: Subject): Trial {
  const { store } = subject;
  const runId = `run-${crypto.randomUUID()}`;
  const workflow = `conformance_${crypto.randomUUID()}`;

  function head(change: Partial<RunHead> = {}): RunHead {
    const { createdAt = "2031-05-01T10:00:00.000Z" } = change;
    return { runId, workflow, status: "running", openQuestions: 0, createdAt, updatedAt: createdAt, ...change };
  }

  return {
    store,
    runId,
    head,
    get lease() {
      return store.lease ?? fail("the store has no lease: give it, or say so by { without: ['lease'] }");
    },
    async begin(change) {
      const begun = head(change);
      await store.append(begun.runId, 0, [recordOf("begun")], begun);
      return begun;
    },
    async listed(filter) {
      const heads = await collect(store.list({ workflow, ...filter }));
      return heads.map((each) => each.runId);
    },
    watch(watched, onChange, through = store) {
      const stop = through.watch?.(watched, onChange);
      return stop ?? fail("the store has no watch: give it, or say so by { without: ['watch'] }");
    },
    async reopen() {
      const other = await subject.reopen?.();
      return other ?? fail("makeStore gives no reopen(): give it, or say so by { without: ['reopen'] }");
    },
  };
}

/** A record that bears this data. */
export function recordOf(data: JsonValue): JournalRecord {
  return Object.freeze({
    kind: "entered",
    path: "conformance/",
    input: deepFreeze({ data }),
    at: 1_935_482_400_000,
  } satisfies JournalRecord);
}

export function recordsOf(from: number, to: number): JournalRecord[] {
  return Array.from({ length: to - from }, (_, index) => recordOf(from + index));
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of iterable) all.push(item);
  return all;
}
