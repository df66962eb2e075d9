import type { RunStore } from "../ports/run-store.js";
import { unref } from "./unref.js";

const lookEveryMs = 1_000;

/**
 * Calls back when someone may have appended to the run: soon after, where the store can tell, else every second. What
 * other processes do happens in real time, so this is the machine's, like that of leases.
 *
 * @returns how to stop
 */
export function watchRun(store: RunStore, runId: string, onChange: () => void): () => void {
  try {
    if (store.watch !== undefined) return store.watch(runId, onChange);
  } catch {
    // A store that can't tell is looked at like one that never could.
  }
  const timer = setInterval(onChange, lookEveryMs);
  unref(timer);
  return () => clearInterval(timer);
}
