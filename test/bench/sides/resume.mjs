import { count, microsecondsOnEach } from "./timing.mjs";

const times = count(2, 5);

/** Microseconds for resuming and ending a run that waits for a person behind so many steps. */
export async function toolweave(steps) {
  const { memoryStore, resumeRun } = await import("../dist/index.js");
  const { chain, drive, read } = await import("./chain.mjs");
  const workflow = chain("read", steps, [{ id: "ask", ask: { prompt: "Go on?" } }]);
  const prepare = async () => {
    const store = memoryStore();
    const { runId } = await drive(workflow, store, "waiting");
    return { store, runId };
  };
  return microsecondsOnEach(times, prepare, async ({ store, runId }) => {
    let last;
    for await (const event of resumeRun(store, runId, { tools: read })) {
      if (event.type === "question") await event.answer({ value: true });
      last = event;
    }
    if (last?.status !== "completed") throw new Error(`The run is ${last?.status}.`);
  });
}

/** The same for one of the steps. */
export async function toolweaveStep(steps) {
  return (await toolweave(steps)) / steps;
}

export async function tanstack(steps) {
  const { chain, drive, inMemoryRunStore } = await import("./tanstack.mjs");
  const workflow = chain(steps, true);
  const prepare = async () => {
    const runStore = inMemoryRunStore();
    const events = await drive({ workflow, runStore, input: { x: 0 } }, "APPROVAL_REQUESTED");
    const { runId } = events.find(({ type }) => type === "RUN_STARTED");
    return { runStore, runId, approvalId: events.at(-1).approvalId };
  };
  return microsecondsOnEach(times, prepare, ({ runStore, runId, approvalId }) =>
    drive({ workflow, runId, runStore, approval: { approvalId, approved: true } }),
  );
}
