import OpenAI from "openai";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { answer, successes } from "./agent.js";
import { post } from "./post.js";
import { modelServer } from "./servers/model-server.js";
import { type ChatTurn, openaiChatWire } from "./servers/openai-chat.js";

type MessageParam = OpenAI.Chat.ChatCompletionMessageParam;

const question: MessageParam = { role: "user", content: "What is it like in Oslo?" };
const done: ChatTurn = { message: { content: "Cold." } };
const oslo = '{"city":"Oslo"}';

function call(id: string, name: string, args: string) {
  return { id, type: "function" as const, function: { name, arguments: args } };
}

const sound = [call("call_a", "get_weather", oslo), call("call_b", "get_tide", oslo), call("call_c", "get_time", "{}")];
const faulty = [
  ...sound,
  call("call_d", "get_weather", '{"city":"Os'),
  call("call_e", "multi_tool_use.parallel", "[]"),
  call("call_f", "get_weather", ""),
];

async function serve(...turns: ChatTurn[]) {
  const { url, accepted } = await modelServer(openaiChatWire, turns);
  const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const ask = async (messages: MessageParam[]) => {
    const completion = await client.chat.completions.create({ model: "gpt", messages });
    const [choice] = completion.choices;
    if (choice === undefined) throw new Error("The model says nothing.");
    return { completion, message: choice.message };
  };
  return { url, accepted, client, ask };
}

describe("a turn of OpenAI chat completions", () => {
  it("is answered behind the model's own message", async () => {
    const { ask } = await serve({ message: { content: null, tool_calls: sound } }, done);
    const { completion, message } = await ask([question]);
    const answered = await answer(completion);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_tide", false],
      ["get_time", false],
    ]);
    const last = await ask([question, message, ...toToolMessages("openai-chat", answered.calls, answered.output)]);
    expect(last.message.content).toBe("Cold.");
  });

  it("with calls that can't be sent back is written anew, and stays in a history that is accepted", async () => {
    const { ask, accepted } = await serve({ message: { content: null, tool_calls: faulty } }, done, done);
    const { message } = await ask([question]);
    const { calls, output } = await answer(message);
    expect(output.entries.map(({ success }) => success)).toEqual([true, false, false, false, false, false]);
    const results = toToolMessages("openai-chat", calls, output);
    await expect(ask([question, message, ...results])).rejects.toMatchObject({ status: 400 });

    const history = [question, toAssistantMessage("openai-chat", calls), ...results];
    const { message: cold } = await ask(history);
    await ask([...history, cold, { role: "user", content: "Thanks." }]);
    expect(accepted).toHaveLength(3);
    expect(results.map((result) => "tool_call_id" in result && result.tool_call_id)).toEqual(
      faulty.map(({ id }) => id),
    );
  });

  it("of custom calls goes back as text", async () => {
    const custom = { id: "call_s", type: "custom" as const, custom: { name: "run_sql", input: "select 1" } };
    const { ask } = await serve({ message: { content: null, tool_calls: [custom] } }, done, done);
    const { message } = await ask([question]);
    const { calls, output } = await answer(message);
    const results = toToolMessages("openai-chat", calls, output);
    await ask([question, message, ...results]);
    await ask([question, toAssistantMessage("openai-chat", calls), ...results]);
  });

  it("of the older kind is answered by name", async () => {
    const older = { content: null, function_call: { name: "get_weather", arguments: oslo } };
    const { ask } = await serve({ message: older, finish_reason: "function_call" }, done, done);
    const { message } = await ask([question]);
    const { calls, output } = await answer(message);
    const results = toToolMessages("openai-chat", calls, output);
    await ask([question, message, ...results]);
    await ask([question, toAssistantMessage("openai-chat", calls), ...results]);
  });

  it("is put together from a stream by the client", async () => {
    const { client, ask } = await serve({ message: { content: null, tool_calls: sound } }, done);
    const stream = client.chat.completions.stream({ model: "gpt", messages: [question] });
    const { calls, output } = await answer(await stream.finalMessage());
    expect(output.entries.map(({ arguments: args }) => args)).toEqual([{ city: "Oslo" }, { city: "Oslo" }, {}]);
    expect(normalizeToolCalls(await stream.finalChatCompletion())).toEqual(calls);
    const results = toToolMessages("openai-chat", calls, output);
    await ask([question, toAssistantMessage("openai-chat", calls), ...results]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const write = [call("call_a", "get_weather", oslo), call("call_w", "book_table", '{"guests":2}')];
    const { ask, accepted } = await serve({ message: { content: null, tool_calls: write } }, done);
    const { message } = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(message, { store, runId: "turn-1" });
    expect(waiting).toMatchObject({ status: "waiting", runId: "turn-1" });
    for (const { runId, id } of waiting.questions ?? [])
      await answerQuestion(store, runId, id, { decision: "approve" });

    const { calls, output } = await answer(message, { store, runId: "turn-1" });
    expect(output.status).toBe("completed");
    await ask([question, message, ...toToolMessages("openai-chat", calls, output)]);
    expect(accepted[1]?.messages.at(-1)).toMatchObject({ tool_call_id: "call_w", content: "A table for 2 is booked." });
  });

  it("of another provider is taken, whatever its ids and names", async () => {
    const { ask } = await serve(done);
    const id = `toolu_${"x".repeat(50)}`;
    const calls = normalizeToolCalls([
      { type: "tool_use", id, name: "get.weather", input: { city: "Oslo" } },
      { functionCall: { name: "get weather".repeat(9), args: {} } },
    ]);
    await ask([question, toAssistantMessage("openai-chat", calls), ...toToolMessages("openai-chat", calls, [])]);
  });
});

describe("the chat server is strict", () => {
  const [a, b] = [call("call_a", "get_weather", oslo), call("call_b", "get_weather", oslo)];
  const assistant = { role: "assistant", content: null, tool_calls: [a, b] };
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "4" });
  const one = (changed: object): object[] => [
    question,
    { ...assistant, tool_calls: [{ ...a, ...changed }] },
    result("call_a"),
  ];
  const older = { role: "assistant", content: null, function_call: { name: "get_weather", arguments: oslo } };

  it("takes a sound history, its results in any order", async () => {
    const { url } = await serve(done);
    const messages = [question, assistant, result("call_b"), result("call_a")];
    expect(await post(`${url}/chat/completions`, { model: "gpt", messages })).toMatchObject({ status: 200 });
  });

  it.each<[string, object[], string]>([
    ["a result without its call", [question, result("call_a")], "must be a response to a preceding message"],
    ["a call without its result", [question, assistant, result("call_a")], "did not have response messages: call_b"],
    ["a result twice", [question, assistant, result("call_a"), result("call_a")], "must be a response"],
    ["a wrong id", [question, assistant, result("call_a"), result("call_x")], "must be a response"],
    ["another id field", one({}).with(2, { role: "tool", id: "call_a", content: "4" }), "tool_call_id"],
    ["results before the call", [question, result("call_a"), result("call_b"), assistant], "must be a response"],
    ["a question between", [question, assistant, result("call_a"), question, result("call_b")], "call_b"],
    ["a call split off", [question, { ...assistant, tool_calls: [a] }, { ...assistant, tool_calls: [b] }], "call_a"],
    ["one id twice", [question, { ...assistant, tool_calls: [a, a] }, result("call_a")], "Duplicate value"],
    ["a long id", [question, { ...assistant, tool_calls: [{ ...a, id: "x".repeat(41) }] }], "tool_calls[0].id"],
    ["arguments that are no text", one({ function: { name: "x", arguments: {} } }), "function.arguments"],
    ["arguments that are no JSON", one({ function: { name: "x", arguments: "{" } }), "function.arguments"],
    ["a name that no tool can have", one({ function: { name: "a.b", arguments: "{}" } }), "function.name"],
    ["a list of no calls", [question, { ...assistant, tool_calls: [] }], "tool_calls"],
    ["a message without content", [question, { role: "assistant", content: null }], "'content'"],
    ["an older call's result by id", [question, older, result("get_weather")], "must be a response"],
    ["an older call without its result", [question, older], "get_weather"],
    ["a result as of Anthropic", one({}).with(2, { role: "user", content: [{ type: "tool_result" }] }), "content"],
    ["a result as of Responses", one({}).with(2, { type: "function_call_output", call_id: "call_a" }), "role"],
    ["what it does not know", one({}).with(2, { ...result("call_a"), is_error: true }), "is_error"],
  ])("refuses %s", async (_rule, messages, words) => {
    const { url } = await serve(done);
    const { status, text } = await post(`${url}/chat/completions`, { model: "gpt", messages });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(words)]);
  });
});
