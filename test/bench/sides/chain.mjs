import { defineTool, defineWorkflow, runWorkflow } from "../dist/index.js";

const number = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
const addOne = ({ x }) => ({ x: x + 1 });

export const read = defineTool({ name: "read", effect: "read", inputSchema: number, execute: addOne });
export const write = defineTool({ name: "write", effect: "write", inputSchema: number, execute: addOne });

const tools = [read, write];

/** Steps that each add one to what the step before gave; `last` comes behind them. */
export function chain(tool, steps, last = []) {
  const each = Array.from({ length: steps }, (_, index) => ({
    id: `s${index}`,
    tool,
    inputs: { x: index === 0 ? "{{input.x}}" : `{{steps.s${index - 1}.result.x}}` },
  }));
  return defineWorkflow({ name: `chain_${steps}`, input_schema: number, steps: [...each, ...last] });
}

/** Runs to the end, every event taken, and gives the last one. */
export async function drive(workflow, store, status = "completed") {
  let last;
  const options = { input: { x: 0 }, tools, policy: () => "approve", store };
  for await (const event of runWorkflow(workflow, options)) last = event;
  if (last?.status !== status) throw new Error(`The run is ${last?.status}: ${JSON.stringify(last?.error)}`);
  return last;
}

/** The text of a step's record, as a store keeps it. */
export async function recordText(store, runId) {
  const records = [];
  for await (const record of store.read(runId)) records.push(record);
  const outcome = records.find(({ kind, path }) => kind === "completed" && path === "s5");
  if (outcome === undefined) throw new Error("Step s5 has completed.");
  return JSON.stringify(outcome);
}
