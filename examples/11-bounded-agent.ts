// An agent as a workflow: it asks the model, runs the tools that it calls, tells it the results, and asks again, eight
// times at most. The model is scripted. Its write waits for a person.
import { defineTool, defineWorkflow, runWorkflow } from "toolweave";

const call = (id: string, name: string, given: object) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(given) } }],
});
const script = [
  call("call_1", "find_tables", { town: "Turin" }),
  call("call_2", "book", { table: 9, guests: 4 }),
  { role: "assistant", content: "Table 9 is yours at eight." },
];

const askModel = defineTool({
  name: "ask_model",
  effect: "read",
  execute({ messages }) {
    const told = Array.isArray(messages) ? messages : [];
    const last: unknown = told.at(-1)?.content;
    console.log(`Message ${told.length} to the model: ${last}`);
    return script[(told.length - 1) / 2];
  },
});
const findTables = defineTool({ name: "find_tables", effect: "read", execute: () => [{ table: 9, seats: 4 }] });
const reserve = defineTool({ name: "reserve", effect: "write", execute: ({ table }) => ({ table, at: "20:00" }) });

const book = defineWorkflow({
  name: "book",
  input_schema: {
    type: "object",
    properties: { table: { type: "integer" }, guests: { type: "integer" }, name: { type: "string" } },
    required: ["table", "guests", "name"],
  },
  steps: [
    {
      id: "reserve",
      tool: "reserve",
      inputs: { table: "{{input.table}}", guests: "{{input.guests}}", name: "{{input.name}}" },
    },
  ],
  output: "Reserved for {{steps.reserve.result.at}}.",
});

const turn = defineWorkflow({
  name: "agent_turn",
  steps: [
    { id: "ask", tool: "ask_model", inputs: { messages: "{{input.state}}" }, retries: 2 },
    {
      id: "serve",
      tool_dispatch: {
        source_key: "ask",
        on_error: "ignore",
        tools: {
          find_tables: { tool: "find_tables" },
          book: {
            flow: "book",
            input: { table: "arguments.table", guests: "arguments.guests", name: "ctx.user.name" },
          },
        },
      },
    },
  ],
  output: {
    state: ["{{...input.state}}", "{{steps.ask.result}}", "{{...steps.serve.result.tool_results_messages}}"],
    calls: "{{steps.serve.result.tool_results_count}}",
    answer: "{{steps.ask.result.content}}",
  },
});

const agent = defineWorkflow({
  name: "agent",
  steps: [
    {
      id: "talk",
      repeat: {
        workflow: "agent_turn",
        inputs: { user: "{{input.user}}" },
        state: [{ role: "user", content: "{{input.request}}" }],
        until: { equals: ["{{result.calls}}", 0] },
        max_iterations: 8,
      },
    },
  ],
  output: { answer: "{{steps.talk.result.result.answer}}", turns: "{{steps.talk.result.iterations}}" },
});

const input = { request: "Dinner for four in Turin, please.", user: { name: "Ada" } };
const options = { input, tools: [askModel, findTables, reserve], workflows: [turn, book] };
for await (const event of runWorkflow(agent, options)) {
  if (event.type === "question" && event.kind === "approval") {
    console.log(`Ada is asked at ${event.path}:`, event.fields);
    await event.answer({ decision: "approve", by: "ada" });
  }
  if (event.type === "result") console.log(event.status, event.output);
}
