import { type ErrorCode, isToolweaveError, ToolweaveError } from "../core/errors.js";
import { deepFreeze } from "../core/freeze.js";
import type { JournalRecord } from "../core/record.js";
import type { RunHead, RunStore } from "../ports/run-store.js";

/** What `isToolweaveError` alone can't tell: a conflict may come from another copy of the package. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return isToolweaveError(error) && error.code === code;
}

/** Short faults of a store are ridden out; a longer one is `STORE_UNAVAILABLE`. */
export function reachStore<T>(runId: string | undefined, use: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(use()).catch((first) => reachAgain(first, runId, use));
  } catch (first) {
    return reachAgain(first, runId, use);
  }
}

async function reachAgain<T>(first: unknown, runId: string | undefined, use: () => Promise<T>): Promise<T> {
  if (isToolweaveError(first)) throw first;
  try {
    // Loaded at the first fault: most processes see none.
    const { default: pRetry, AbortError } = await import("p-retry");
    // A store that throws, or gives something else than a promise, is used as any other.
    const useOnce = async () => {
      try {
        return await use();
      } catch (error) {
        throw isToolweaveError(error) ? new AbortError(error) : error;
      }
    };
    return await pRetry(useOnce, { retries: 3, minTimeout: 50, factor: 3 });
  } catch (error) {
    if (isToolweaveError(error)) throw error;
    const message =
      runId === undefined
        ? "The store can't be reached. Try again when it is back."
        : `The store of run ${runId} can't be reached. The run stands as it is stored: resume it when the store is back.`;
    throw new ToolweaveError("STORE_UNAVAILABLE", message, { cause: error });
  }
}

/** A run's records, deeply frozen: those that a store revived from text are not. */
export async function* readRecords(
  store: RunStore,
  runId: string,
  fromSeq = 0,
): AsyncGenerator<JournalRecord, void, undefined> {
  for await (const record of store.read(runId, fromSeq)) yield deepFreeze(record);
}

const maxTries = 10;

/** One writer's view of a run's journal: appends behind what it has seen, and notices what others appended. */
export class Journal {
  private batches = 0;
  /** What all names of its batches begin with, which they share. */
  private readonly prefix: string;

  /**
   * @param writer names the writer, different from every other.
   * @param seq how many records the writer has seen.
   */
  constructor(
    readonly store: RunStore,
    readonly runId: string,
    writer: string,
    public seq: number,
  ) {
    this.prefix = `${writer}.`;
  }

  /**
   * @returns `undefined` when the records are durable; else the records that others appended, which the writer has now
   *   seen: nothing was written then.
   * @throws ToolweaveError `STORE_UNAVAILABLE`; `UNKNOWN_RUN` when the run was deleted
   */
  async append(records: JournalRecord[], head: RunHead): Promise<JournalRecord[] | undefined> {
    const batch = `${this.prefix}${++this.batches}`;
    const [first] = records;
    if (first !== undefined) first.batch = batch;
    for (let tries = 1; ; tries++) {
      try {
        await this.appendOnce(records, head);
        break;
      } catch (error) {
        if (!hasCode(error, "STORE_CONFLICT")) throw error;
        const others = await this.readOn();
        // The reply to an append that was made got lost.
        if (others[0]?.batch === batch) break;
        if (others.length > 0) {
          this.seq += others.length;
          return others;
        }
        await this.explainConflict(tries, error);
      }
    }
    this.seq += records.length;
    return undefined;
  }

  private appendOnce(records: JournalRecord[], head: RunHead): Promise<void> {
    return reachStore(this.runId, () => this.store.append(this.runId, this.seq, records, head));
  }

  /** A conflict with nobody: the run is gone, or the store could not put two appends in an order. */
  private async explainConflict(tries: number, error: unknown): Promise<void> {
    const { runId, seq, store } = this;
    if (seq > 0 && (await reachStore(runId, () => store.head(runId))) === undefined) {
      throw new ToolweaveError("UNKNOWN_RUN", `Run ${runId} was deleted while it was written to.`);
    }
    if (tries < maxTries) return;
    const message = `The store of run ${runId} refuses appends without saying what came first. Resume the run later.`;
    throw new ToolweaveError("STORE_UNAVAILABLE", message, { cause: error });
  }

  /** What others appended since; it counts as seen. */
  async news(): Promise<JournalRecord[]> {
    const records = await this.readOn();
    this.seq += records.length;
    return records;
  }

  private readOn(): Promise<JournalRecord[]> {
    return reachStore(this.runId, async () => {
      const records: JournalRecord[] = [];
      for await (const record of readRecords(this.store, this.runId, this.seq)) records.push(record);
      return records;
    });
  }
}
