import { microseconds } from "./timing.mjs";

export async function toolweave(steps) {
  const { memoryStore } = await import("../dist/index.js");
  const { chain, drive } = await import("./chain.mjs");
  const workflow = chain("read", steps);
  return microseconds(steps, () => drive(workflow, memoryStore()));
}

export async function tanstack(steps) {
  const { chain, drive, inMemoryRunStore } = await import("./tanstack.mjs");
  const workflow = chain(steps);
  return microseconds(steps, () => drive({ workflow, runStore: inMemoryRunStore(), input: { x: 0 } }));
}

export async function mastra(steps) {
  const { definition, mastraWithTool } = await import("./mastra.mjs");
  const host = mastraWithTool();
  await host.addDynamicWorkflow(definition(steps));
  return microseconds(steps, async () => {
    const run = await host.getWorkflow("chain").createRun();
    const { status } = await run.start({ inputData: { x: 0 } });
    if (status !== "success") throw new Error(`The run is ${status}.`);
  });
}
