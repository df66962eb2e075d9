import { count, kilobytes } from "./timing.mjs";

const runs = count(1_000, 10_000);

/** Kilobytes of heap for each of many runs that wait for a person behind ten steps, in a store in memory. */
export async function toolweave() {
  const { memoryStore } = await import("../dist/index.js");
  const { chain, drive } = await import("./chain.mjs");
  const workflow = chain("read", 10, [{ id: "ask", ask: { prompt: "Go on?" } }]);
  return kilobytes(runs, async (many) => {
    const store = memoryStore();
    for (let run = 0; run < many; run++) await drive(workflow, store, "waiting");
    return store;
  });
}

export async function tanstack() {
  const { chain, drive, inMemoryRunStore } = await import("./tanstack.mjs");
  const workflow = chain(10, true);
  return kilobytes(runs, async (many) => {
    const runStore = inMemoryRunStore();
    for (let run = 0; run < many; run++) await drive({ workflow, runStore, input: { x: run } }, "APPROVAL_REQUESTED");
    return runStore;
  });
}
