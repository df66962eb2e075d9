// A dispatch as a step: the model's calls come from the step before, and the answers go to the one behind. When the run
// fails later, what the calls did is undone with the rest.
import { defineTool, defineWorkflow, runToEnd } from "toolweave";

const askModel = defineTool({
  name: "ask_model",
  effect: "read",
  execute: () => ({
    content: [
      { type: "text", text: "I put both on the list." },
      { type: "tool_use", id: "toolu_1", name: "add", input: { item: "flour" } },
      { type: "tool_use", id: "toolu_2", name: "add", input: { item: "eggs" } },
    ],
    stop_reason: "tool_use",
  }),
});

const list: string[] = [];
const addItem = defineTool({
  name: "add_item",
  effect: "write",
  execute({ item }) {
    list.push(String(item));
    return { item };
  },
});
const removeItem = defineTool({
  name: "remove_item",
  effect: "write",
  execute({ item }) {
    console.log(`${item} is taken off the list.`);
    list.splice(list.indexOf(String(item)), 1);
  },
});
const order = defineTool({
  name: "order",
  effect: "read",
  execute({ messages }) {
    console.log("The answers:", messages);
    console.log("The list:", list.join(", "));
    throw new Error("The shop is closed.");
  },
});

const add = defineWorkflow({
  name: "add",
  steps: [
    {
      id: "add",
      tool: "add_item",
      inputs: { item: "{{input.item}}" },
      compensate: { tool: "remove_item", inputs: { item: "{{steps.add.result.item}}" } },
    },
  ],
  output: "{{steps.add.result.item}} is on the list",
});

const shopping = defineWorkflow({
  name: "shopping",
  steps: [
    { id: "ask", tool: "ask_model" },
    {
      id: "serve",
      tool_dispatch: { source_key: "ask", tools: { add: { flow: add, input: { item: "arguments.item" } } } },
    },
    { id: "order", tool: "order", inputs: { messages: "{{steps.serve.result.tool_results_messages}}" } },
  ],
});

const { status, error } = await runToEnd(shopping, {
  tools: [askModel, addItem, removeItem, order],
  policy: () => "approve",
});
console.log(status, error?.message);
console.log("On the list:", list.length);
