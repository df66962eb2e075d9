import { defineWorkflow, memoryStore, runWorkflow } from "../dist/index.js";
import { read } from "./chain.mjs";

/** Kilobytes that live at most while a `for_each` runs, 8 at once, for each of its items; the results are among them. */
export async function toolweave(count) {
  const item = defineWorkflow({ name: "item", steps: [{ id: "add", tool: "read", inputs: { x: "{{input.x}}" } }] });
  const forEach = { items: "{{input.items}}", workflow: "item", inputs: { x: "{{item}}" }, max_concurrent: 8 };
  const each = defineWorkflow({ name: "each", steps: [{ id: "all", for_each: forEach }] });
  // It keeps nothing, so that what grows is the run.
  const store = { ...memoryStore(), append: async () => undefined };
  const items = Array.from({ length: count }, (_, index) => index);
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  let peak = 0;
  let events = 0;
  for await (const event of runWorkflow(each, { input: { items }, tools: read, workflows: item, store })) {
    if (++events % (count / 5) !== 0 && event.type !== "result") continue;
    globalThis.gc();
    peak = Math.max(peak, process.memoryUsage().heapUsed - before);
  }
  return peak / count / 1_000;
}
