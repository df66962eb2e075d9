import { createWorkflow, inMemoryRunStore, runWorkflow } from "@tanstack/workflow-core";

export { inMemoryRunStore };

/** Steps that each add one to what the step before gave, then, if wanted, an approval. */
export function chain(steps, asks = false) {
  return createWorkflow({ id: "chain" }).handler(async (ctx) => {
    let last = { x: 0 };
    for (let index = 0; index < steps; index++) {
      const { x } = last;
      last = await ctx.step(`s${index}`, async () => ({ x: x + 1 }));
    }
    if (asks) await ctx.approve({ title: "Go on?" });
    return last;
  });
}

/** Runs to its end or to its approval, every event taken, and gives all events but those of steps. */
export async function drive(options, type = "RUN_FINISHED") {
  const events = [];
  for await (const event of runWorkflow(options)) if (!event.type.startsWith("STEP_")) events.push(event);
  if (events.at(-1)?.type !== type) throw new Error(`The last event is ${events.at(-1)?.type}.`);
  return events;
}
