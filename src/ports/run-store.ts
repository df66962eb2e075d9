import type { JournalRecord } from "../core/record.js";

/** What is known of a run without reading its journal; written in the same transaction as the records. */
export interface RunHead {
  runId: string;
  /** The name of the run's workflow. */
  workflow: string;
  status: RunStatus;
  /** `"undoing"` from the first record that stops the run on. */
  phase?: "undoing";
  /** How many questions wait for an answer. */
  openQuestions: number;
  /** When the run can go on by itself, ISO 8601: a wait that ends or a question that expires. */
  wakeAt?: string;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

export type RunStatus = "running" | "waiting" | "completed" | "failed" | "cancelled";

/** Selects heads; every given field must match. */
export interface RunFilter {
  status?: RunStatus | readonly RunStatus[];
  workflow?: string;
  /** Only runs with at least one open question. */
  withOpenQuestions?: boolean;
  /** Created at or after, and before: ISO 8601. */
  createdFrom?: string;
  createdBefore?: string;
  /** Only runs that can go on by themselves at this time or earlier: ISO 8601. */
  wakeBefore?: string;
  /** At most so many. @default all */
  limit?: number;
  /** Only runs that come after this one in the order of the listing: the last `runId` of the page before. */
  after?: string;
}

/**
 * Keeps the journals of runs. Records are opaque JSON to it; `storeConformance` tests an implementation.
 * A method that can't reach what it stores in rejects with its client's own error.
 */
export interface RunStore {
  /**
   * Adds records behind the `expectedSeq` records that are there, and replaces the head, atomically and durably.
   * @throws ConflictError when there are more or fewer records; nothing is then written.
   */
  append(runId: string, expectedSeq: number, records: readonly JournalRecord[], head: RunHead): Promise<void>;
  /** The records from `fromSeq` (from 0, the default) on, in order. None for an unknown run. */
  read(runId: string, fromSeq?: number): AsyncIterable<JournalRecord>;
  head(runId: string): Promise<RunHead | undefined>;
  /**
   * Heads in order of `createdAt`, then `runId`; both and `workflow` are those of the first append.
   *
   * @throws ToolweaveError `UNKNOWN_RUN` for an `after` that is not there, `INVALID_OPTIONS` for a time or limit that is none
   */
  list(filter?: RunFilter): AsyncIterable<RunHead>;
  delete(runId: string): Promise<void>;
  /** At most one owner drives a run. Times are the store's own, in real time; absent where one process is all there is. */
  lease?: RunLease;
  /**
   * Calls `onChange` soon after anyone appended to the run: a hint, it may come late, twice, for nothing, or never where
   * the appender is gone. Returns how to stop.
   */
  watch?(runId: string, onChange: () => void): () => void;
}

export interface RunLease {
  /**
   * True when nobody else holds a live lease; a new claim of the same owner renews it.
   *
   * @throws ToolweaveError `INVALID_OPTIONS` for a ttl that is not above 0
   */
  claim(runId: string, owner: string, ttlMs: number): Promise<boolean>;
  /** True when the owner still held it, expired or not, and nobody else has claimed it since. */
  renew(runId: string, owner: string, ttlMs: number): Promise<boolean>;
  /** Ends the owner's lease; that of another is left alone. */
  release(runId: string, owner: string): Promise<void>;
}
