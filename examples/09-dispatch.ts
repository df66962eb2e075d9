// One turn of a model, three calls: each is run by a workflow or a tool, and each has its answer, also the one that can't
// be run.
import { defineTool, defineWorkflow, toolDispatch } from "toolweave";

const readGauge = defineTool({
  name: "read_gauge",
  effect: "read",
  execute: ({ river }) => ({ river, metres: 2.4 }),
});
const convert = defineTool({
  name: "convert",
  effect: "read",
  execute: ({ metres }) => `${(Number(metres) * 3.28084).toFixed(1)} feet`,
});

const level = defineWorkflow({
  name: "level",
  input_schema: { type: "object", properties: { river: { type: "string" } }, required: ["river"] },
  steps: [{ id: "gauge", tool: "read_gauge", inputs: { river: "{{input.river}}" } }],
  output: { river: "{{input.river}}", metres: "{{steps.gauge.result.metres}}", asked_by: "{{input.user}}" },
});

const turn = {
  role: "assistant",
  content: null,
  tool_calls: [
    { id: "call_a", type: "function", function: { name: "level", arguments: '{"river":"Rhine"}' } },
    { id: "call_b", type: "function", function: { name: "level", arguments: '{"river":' } },
    { id: "call_c", type: "function", function: { name: "convert", arguments: '{"metres":2.4}' } },
  ],
};

const { status, messages, context } = await toolDispatch(
  {
    on_error: "ignore",
    tools: {
      level: { flow: level, input: { river: "arguments.river", user: "ctx.user.name" } },
      convert: { tool: "convert" },
    },
  },
  { calls: turn, context: { user: { name: "Ida" } }, tools: [readGauge, convert] },
);

console.log(status, `${context.tool_results_errors} of ${context.tool_results_count} failed`);
for (const { tool_call_id, content } of messages) console.log(`${tool_call_id}: ${content}`);
