import { type Message, Ollama } from "ollama";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { answer, successes } from "./agent.js";
import { post } from "./post.js";
import { modelServer } from "./servers/model-server.js";
import { type OllamaCall, type OllamaTurn, ollamaWire } from "./servers/ollama.js";

const question: Message = { role: "user", content: "What is it like in Oslo?" };
const done: OllamaTurn = { content: "Cold." };

function call(name: string, args: Record<string, unknown>, id?: string): OllamaCall {
  return { ...(id === undefined ? {} : { id }), function: { name, arguments: args } };
}

const sound = [
  call("get_weather", { city: "Oslo" }),
  call("get_weather", { city: "Oslo" }),
  call("get_tide", { city: "Oslo" }),
  call("get_time", {}, "call_p7"),
  call("get_weather", { city: 7 }),
];

async function serve(...turns: OllamaTurn[]) {
  const { url, accepted } = await modelServer(ollamaWire, turns);
  const client = new Ollama({ host: url });
  const ask = (messages: Message[]) => client.chat({ model: "llama", messages });
  return { url, accepted, client, ask };
}

describe("a turn of Ollama", () => {
  it("is answered behind the model's own message, with ids where the server gave them", async () => {
    const { ask, accepted } = await serve({ content: "", tool_calls: sound }, done);
    const response = await ask([question]);
    const answered = await answer(response);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_weather", true],
      ["get_tide", false],
      ["get_time", false],
      ["get_weather", false],
    ]);
    const results = toToolMessages("ollama", answered.calls, answered.output);
    const last = await ask([question, response.message, ...results]);
    expect(last.message.content).toBe("Cold.");
    expect(accepted[1]?.messages.slice(2).map((message) => "tool_call_id" in message)).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  it("is written anew, and stays in a history that is accepted", async () => {
    const { ask, accepted } = await serve({ content: "I look.", tool_calls: sound }, done, done);
    const { message } = await ask([question]);
    const { calls, output } = await answer(message);
    const history = [question, toAssistantMessage("ollama", calls), ...toToolMessages("ollama", calls, output)];
    const cold = await ask(history);
    await ask([...history, cold.message, { role: "user", content: "Thanks." }]);
    expect(accepted).toHaveLength(3);
  });

  it("comes in pieces, whose calls are one list", async () => {
    const { client, ask } = await serve({ content: "", tool_calls: sound }, done);
    const toolCalls: NonNullable<Message["tool_calls"]> = [];
    for await (const { message } of await client.chat({ model: "llama", messages: [question], stream: true })) {
      toolCalls.push(...(message.tool_calls ?? []));
    }
    const { calls, output } = await answer(toolCalls);
    expect(calls).toHaveLength(5);
    const turn: Message = { role: "assistant", content: "", tool_calls: toolCalls };
    await ask([question, turn, ...toToolMessages("ollama", calls, output)]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const { ask, accepted } = await serve({ content: "", tool_calls: [call("book_table", { guests: 2 })] }, done);
    const { message } = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(message, { store, runId: "turn-1" });
    expect(waiting.status).toBe("waiting");
    for (const { runId, id } of waiting.questions ?? [])
      await answerQuestion(store, runId, id, { decision: "approve" });

    const { calls, output } = await answer(message, { store, runId: "turn-1" });
    await ask([question, message, ...toToolMessages("ollama", calls, output)]);
    expect(accepted[1]?.messages[2]).toMatchObject({ tool_name: "book_table", content: "A table for 2 is booked." });
  });

  it("of another provider is taken", async () => {
    const { ask } = await serve(done);
    const calls = normalizeToolCalls([
      { id: "call_1", type: "function", function: { name: "get.weather", arguments: "{" } },
      { type: "custom_tool_call", call_id: "call_s", name: "run_sql", input: "select 1" },
    ]);
    await ask([question, toAssistantMessage("ollama", calls), ...toToolMessages("ollama", calls, [])]);
  });
});

describe("the Ollama server is strict", () => {
  const [a, b] = [call("get_weather", {}), call("get_tide", {}, "call_b")];
  const assistant = { role: "assistant", content: "", tool_calls: [a, b] };
  const resultA = { role: "tool", tool_name: "get_weather", content: "4" };
  const resultB = { role: "tool", tool_name: "get_tide", content: "5", tool_call_id: "call_b" };

  it("takes a sound history", async () => {
    const { url } = await serve(done);
    const messages = [question, assistant, resultA, resultB];
    expect(await post(`${url}/api/chat`, { model: "llama", messages, stream: false })).toMatchObject({ status: 200 });
  });

  it.each<[string, object[], string]>([
    ["a result without its call", [question, resultA], "get_weather was not called"],
    ["a call without its result", [question, assistant, resultA], "1 calls are not answered"],
    ["a result twice", [question, assistant, resultA, resultA], "get_tide is to be answered"],
    ["a result too many", [question, assistant, resultA, resultB, resultA], "was not called"],
    ["another order", [question, assistant, resultB, resultA], "get_weather is to be answered"],
    ["results before the call", [question, resultA, resultB, assistant], "was not called"],
    ["a question between", [question, assistant, resultA, question, resultB], "1 calls are not answered"],
    ["a wrong id", [question, assistant, resultA, { ...resultB, tool_call_id: "call_a" }], "is to be answered"],
    [
      "an id that was not given",
      [question, assistant, { ...resultA, tool_call_id: "call_1" }, resultB],
      "is to be answered",
    ],
    [
      "another field for the name",
      [question, assistant, { role: "tool", name: "get_weather", content: "4" }],
      "tool_name",
    ],
    [
      "arguments as text",
      [question, { ...assistant, tool_calls: [{ function: { name: "x", arguments: "{}" } }] }],
      "arguments",
    ],
    ["content as a list", [question, assistant, { ...resultA, content: [{ type: "text", text: "4" }] }], "content"],
    ["content as an object", [question, assistant, { ...resultA, content: { celsius: 4 } }], "content"],
    ["a message without content", [question, { role: "assistant", tool_calls: [a] }], "content"],
    ["what it does not know", [question, assistant, { ...resultA, is_error: true }, resultB], "is_error"],
  ])("refuses %s", async (_rule, messages, words) => {
    const { url } = await serve(done);
    const { status, text } = await post(`${url}/api/chat`, { model: "llama", messages, stream: false });
    expect([status, JSON.parse(text).error]).toEqual([400, expect.stringContaining(words)]);
  });
});
