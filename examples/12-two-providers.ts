// The same turn in the shapes of two providers: what runs is the same, and each is answered in its own shape.
import { defineTool, normalizeToolCalls, type ProviderName, toolDispatch, toToolMessages } from "toolweave";

const readTide = defineTool({
  name: "read_tide",
  effect: "read",
  execute({ port }) {
    if (port === "Atlantis") throw new Error("There is no such port.");
    return { port, high: "14:20" };
  },
});

const turns: [ProviderName, object][] = [
  [
    "openai-chat",
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "read_tide", arguments: '{"port":"Brest"}' } },
        { id: "call_2", type: "function", function: { name: "read_tide", arguments: '{"port":"Atlantis"}' } },
      ],
    },
  ],
  [
    "anthropic",
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look both up." },
        { type: "tool_use", id: "toolu_1", name: "read_tide", input: { port: "Brest" } },
        { type: "tool_use", id: "toolu_2", name: "read_tide", input: { port: "Atlantis" } },
      ],
    },
  ],
];

for (const [provider, turn] of turns) {
  const calls = normalizeToolCalls(turn);
  const config = { on_error: "ignore", tools: { read_tide: { tool: "read_tide" } } };
  const output = await toolDispatch(config, { calls, tools: readTide });
  console.log(provider);
  console.log(JSON.stringify(toToolMessages(provider, calls, output), null, 2));
}
