import { nextTimer } from "../core/clock.js";
import { isToolweaveError, ToolweaveError } from "../core/errors.js";
import { isoTime } from "../core/event.js";
import { next } from "../core/next.js";
import type { RunResult } from "../core/result.js";
import type { RunState } from "../core/state.js";
import type { RunHead, RunStore } from "../ports/run-store.js";
import { Drive } from "./drive.js";
import { hasCode } from "./journal.js";
import { listRuns } from "./list-runs.js";
import { type ResumeOptions, type Settings, settingsOf } from "./options.js";
import { takeRun } from "./take-run.js";

export interface ResumeAbandonedOptions extends Omit<ResumeOptions, "signal" | "takeOver"> {
  /** Only runs of the workflow of this name. @default runs of every workflow */
  workflow?: string;
  /** How many runs are driven at once. @default 4 */
  maxConcurrent?: number;
}

/** What became of a run that was carried on, or why it could not be. */
export type ResumedRun = { runId: string; workflow: string } & ({ result: RunResult } | { error: ToolweaveError });

/**
 * Finds the runs of a store whose driver is gone and that can go on by themselves, and carries each on until it ends or
 * waits, as `resumeRun` does: a run that was running when its process ended, one that was answered or cancelled from
 * elsewhere, one whose wait is over or whose question has expired. It goes through the store once; a host calls it when
 * it starts, and then from time to time.
 *
 * - Safe on many machines at once: each run is driven by whoever gets its lease, and a run that is driven is passed over.
 *   A driver that died keeps its lease for up to 30 seconds, so that its runs are found by a later call.
 * - Runs that only wait for people, or for a time that has not come, are left as they are.
 * - A run whose code is not in `workflows` gives an item with the error `CODE_REQUIRED`, and is left as it is; so does
 *   any other error that carrying a run on ends in.
 * - Items come as runs come to their ends. Leaving the loop, or aborting `stop`, stops the driving of the others, which
 *   stay resumable. A run that sleeps keeps its place among `maxConcurrent` meanwhile.
 *
 * @throws ToolweaveError while it is read: `INVALID_OPTIONS`, also for a store without `lease`, since it can't tell which
 *   runs are driven; `STORE_UNAVAILABLE` where runs can't be listed
 */
export async function* resumeAbandoned(
  store: RunStore,
  { workflow, maxConcurrent = 4, ...options }: ResumeAbandonedOptions,
): AsyncGenerator<ResumedRun, void, undefined> {
  if (store.lease === undefined) {
    throw new ToolweaveError("INVALID_OPTIONS", "The store has no lease, so that runs which are driven can't be told.");
  }
  if (!(maxConcurrent >= 1)) throw new ToolweaveError("INVALID_OPTIONS", "maxConcurrent: expected 1 or more.");
  const stop = new AbortController();
  const stopAll = () => stop.abort();
  if (options.stop?.aborted) stopAll();
  options.stop?.addEventListener("abort", stopAll, { once: true });
  const settings = settingsOf({ ...options, stop: stop.signal });
  const underWay = new Set<Promise<ResumedRun | undefined>>();
  const done: ResumedRun[] = [];
  try {
    for await (const head of candidates(store, workflow, settings)) {
      if (stop.signal.aborted) break;
      const resumed: Promise<ResumedRun | undefined> = carryOn(store, head, settings).then((run) => {
        underWay.delete(resumed);
        if (run !== undefined) done.push(run);
        return run;
      });
      underWay.add(resumed);
      if (underWay.size >= maxConcurrent) await Promise.race(underWay);
      yield* done.splice(0);
    }
    while (underWay.size > 0) {
      await Promise.race(underWay);
      yield* done.splice(0);
    }
    // Those that came to their end while the last of the store was read.
    yield* done.splice(0);
  } finally {
    options.stop?.removeEventListener("abort", stopAll);
    stopAll();
    await Promise.allSettled(underWay);
  }
}

/** Runs that may be able to go on: only their journals can tell whether they are. */
async function* candidates(
  store: RunStore,
  workflow: string | undefined,
  { clock }: Settings,
): AsyncGenerator<RunHead, void, undefined> {
  yield* listRuns(store, { workflow, status: "running" });
  yield* listRuns(store, { workflow, status: "waiting", wakeBefore: isoTime(clock.now()) });
}

/** @returns nothing for a run that was passed over. */
async function carryOn(
  store: RunStore,
  { runId, workflow }: RunHead,
  settings: Settings,
): Promise<ResumedRun | undefined> {
  try {
    const wants = (state: RunState) => canGoOn(state, settings.clock.now());
    const taken = await takeRun(store, runId, settings, { takeOver: false, wants });
    if ("untaken" in taken) return undefined;
    const drive = new Drive(taken, settings);
    while ((await drive.nextEvent()) !== undefined);
    return drive.outcome && { runId, workflow, result: drive.outcome };
  } catch (error) {
    if (hasCode(error, "RUN_BUSY") || hasCode(error, "UNKNOWN_RUN")) return undefined;
    if (isToolweaveError(error)) return { runId, workflow, error };
    throw error;
  }
}

/** Whether something is left to do, or has come due. */
function canGoOn(state: RunState, now: number): boolean {
  if (state.intended.size > 0) return true;
  const due = nextTimer(state);
  return (due !== undefined && due <= now) || next(state) !== undefined;
}
