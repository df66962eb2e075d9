import { z } from "zod";
import { microseconds } from "./timing.mjs";

const schema = z.object({ a: z.number(), b: z.number() });
const sum = ({ a, b }) => ({ sum: a + b });

const callsOf = (count) =>
  Array.from({ length: count }, (_, index) => ({
    id: `call_${index}`,
    type: "function",
    function: { name: "add", arguments: `{"a":${index},"b":2}` },
  }));

function expect(messages, count) {
  if (messages.length !== count) throw new Error(`${messages.length} messages answer ${count} calls.`);
}

/** Microseconds for a set of so many calls; what handles them is the tool, or a workflow of one step. */
export async function toolweave(count, through = "tool") {
  const { defineTool, defineWorkflow, memoryStore, toolDispatch } = await import("../dist/index.js");
  const tools = defineTool({ name: "add", effect: "read", inputSchema: schema, execute: sum });
  const inputs = { a: "{{input.a}}", b: "{{input.b}}" };
  const workflow = defineWorkflow({
    name: "sum",
    input_schema: z.toJSONSchema(schema),
    steps: [{ id: "add", tool: "add", inputs }],
  });
  const handler =
    through === "tool" ? { tool: "add" } : { flow: workflow, input: { a: "arguments.a", b: "arguments.b" } };
  const config = { tools: { add: handler }, max_calls: count };
  const calls = callsOf(count);
  return microseconds(1, async () => {
    const { status, messages } = await toolDispatch(config, { calls, tools, store: memoryStore() });
    if (status !== "completed") throw new Error(`The dispatch is ${status}.`);
    expect(messages, count);
  });
}

/** Microseconds for a call of a set of so many. */
export async function toolweaveCall(count) {
  return (await toolweave(count)) / count;
}

export async function toolNode(count) {
  const { AIMessage } = await import("@langchain/core/messages");
  const { tool } = await import("@langchain/core/tools");
  const { ToolNode } = await import("@langchain/langgraph/prebuilt");
  const add = tool(async (inputs) => sum(inputs), { name: "add", description: "Adds.", schema });
  const node = new ToolNode([add]);
  const calls = callsOf(count);
  return microseconds(1, async () => {
    const tool_calls = calls.map(({ id, function: { name, arguments: text } }) => ({
      name,
      id,
      type: "tool_call",
      args: JSON.parse(text),
    }));
    const { messages } = await node.invoke({ messages: [new AIMessage({ content: "", tool_calls })] });
    expect(messages, count);
  });
}

async function aiSdk(count) {
  const { generateText, stepCountIs, tool } = await import("ai");
  const { MockLanguageModelV3 } = await import("ai/test");
  const content = callsOf(count).map(({ id, function: { name, arguments: input } }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input,
  }));
  const usage = { inputTokens: {}, outputTokens: {} };
  const doGenerate = async () => ({
    content,
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  });
  const add = tool({ description: "Adds.", inputSchema: schema, execute: async (inputs) => sum(inputs) });
  return microseconds(1, async () => {
    const model = new MockLanguageModelV3({ doGenerate });
    const { toolResults } = await generateText({ model, tools: { add }, prompt: "Add.", stopWhen: stepCountIs(1) });
    expect(toolResults, count);
  });
}

const between = async (cost) => ((await cost(100)) - (await cost(10))) / 90;

/** Microseconds for a further call: between 10 and 100 calls in a set. */
export const toolweaveFurther = () => between(toolweave);
export const aiSdkFurther = () => between(aiSdk);
