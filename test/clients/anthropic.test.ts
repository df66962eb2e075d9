import Anthropic from "@anthropic-ai/sdk";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { answer, successes } from "./agent.js";
import { post } from "./post.js";
import { type AnthropicTurn, anthropicWire } from "./servers/anthropic.js";
import { modelServer } from "./servers/model-server.js";

const question: Anthropic.MessageParam = { role: "user", content: "What is it like in Oslo?" };

function call(id: string, name: string, input: unknown): Anthropic.ToolUseBlock {
  return { type: "tool_use", id: `toolu_${id}`, name, input, caller: { type: "direct" } };
}

function say(text: string): Anthropic.TextBlock {
  return { type: "text", text, citations: null };
}

const sound = [
  call("a", "get_weather", { city: "Oslo" }),
  call("b", "get_tide", { city: "Oslo" }),
  call("c", "get_time", {}),
  call("d", "get_weather", { city: 7 }),
];
const thinking: Anthropic.ThinkingBlock = { type: "thinking", thinking: "Let me see.", signature: "c2ln" };
const done: AnthropicTurn = { content: [say("Cold.")] };

async function serve(...turns: AnthropicTurn[]) {
  const { url, accepted } = await modelServer(anthropicWire, turns);
  const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const ask = (messages: Anthropic.MessageParam[]) =>
    client.messages.create({ model: "claude", max_tokens: 100, messages });
  return { url, accepted, client, ask };
}

function turnOf({ role, content }: Anthropic.Message): Anthropic.MessageParam {
  return { role, content };
}

describe("a turn of Anthropic Messages", () => {
  it("is answered behind the model's own message", async () => {
    const { ask, accepted } = await serve({ content: [thinking, say("I look it up."), ...sound] }, done);
    const message = await ask([question]);
    const answered = await answer(message);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_tide", false],
      ["get_time", false],
      ["get_weather", false],
    ]);
    const results = toToolMessages("anthropic", answered.calls, answered.output);
    const last = await ask([question, turnOf(message), ...results]);
    expect(last.content).toMatchObject([{ text: "Cold." }]);
    expect(accepted[1]?.messages[2]?.content).toMatchObject([
      { tool_use_id: "toolu_a", is_error: false },
      { tool_use_id: "toolu_b", is_error: true },
      { tool_use_id: "toolu_c", is_error: true },
      { tool_use_id: "toolu_d", is_error: true },
    ]);
  });

  it("with calls that can't be sent back is written anew, and stays in a history that is accepted", async () => {
    const faulty = [...sound, call("e", "functions.get_weather", [1]), call("f", "get_weather", '{"city":"Os')];
    const { ask, accepted } = await serve({ content: faulty }, done, done);
    const message = await ask([question]);
    const { calls, output } = await answer(message);
    const results = toToolMessages("anthropic", calls, output);
    await expect(ask([question, turnOf(message), ...results])).rejects.toMatchObject({ status: 400 });

    const history = [question, toAssistantMessage("anthropic", calls), ...results];
    const cold = await ask(history);
    await ask([...history, turnOf(cold), { role: "user", content: "Thanks." }]);
    expect(accepted).toHaveLength(3);
  });

  it("is put together from a stream by the client", async () => {
    const { client, ask } = await serve({ content: [thinking, ...sound] }, done);
    const stream = client.messages.stream({ model: "claude", max_tokens: 100, messages: [question] });
    const message = await stream.finalMessage();
    const { calls, output } = await answer(message);
    expect(calls.map(({ arguments: args }) => args)).toEqual(sound.map(({ input }) => input));
    await ask([question, turnOf(message), ...toToolMessages("anthropic", calls, output)]);
  });

  it("that was cut off while streaming has one call that fails, and goes on", async () => {
    const { client, ask } = await serve({ content: sound.slice(0, 2), stop_reason: "max_tokens" }, done);
    const stream = client.messages.stream({ model: "claude", max_tokens: 100, messages: [question] });
    const message = await stream.finalMessage();
    const answered = await answer(message);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_tide", false],
    ]);
    expect(answered.calls[1]?.error?.code).toBe("INVALID_ARGUMENTS");
    await ask([question, turnOf(message), ...toToolMessages("anthropic", answered.calls, answered.output)]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const { ask, accepted } = await serve({ content: [...sound, call("w", "book_table", { guests: 2 })] }, done);
    const message = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(message, { store, runId: "turn-1" });
    expect(waiting).toMatchObject({ status: "waiting", questions: [{ kind: "approval", tool: "book_table" }] });
    for (const { runId, id } of waiting.questions ?? []) {
      await answerQuestion(store, runId, id, { decision: "approve", fields: { guests: 3 } });
    }
    const { calls, output } = await answer(message, { store, runId: "turn-1" });
    await ask([question, turnOf(message), ...toToolMessages("anthropic", calls, output)]);
    const results = accepted[1]?.messages[2]?.content;
    expect(results).toHaveLength(5);
    expect(results?.at(-1)).toMatchObject({ content: "A table for 3 is booked.", is_error: false });
  });

  it("of another provider is taken, whatever its ids and names", async () => {
    const { ask } = await serve(done);
    const calls = normalizeToolCalls([
      { id: "functions.get:0", type: "function", function: { name: "functions.get", arguments: "" } },
      { type: "custom_tool_call", call_id: "call_s", name: "run_sql", input: "select 1" },
    ]);
    await ask([question, toAssistantMessage("anthropic", calls), ...toToolMessages("anthropic", calls, [])]);
  });
});

describe("the Messages server is strict", () => {
  const [a, b] = [call("a", "get_weather", {}), call("b", "get_weather", {})];
  const result = (id: string) => ({ type: "tool_result", tool_use_id: `toolu_${id}`, content: "4" });
  const assistant = (...content: object[]) => ({ role: "assistant", content });
  const user = (...content: object[]) => ({ role: "user", content });

  it("takes a sound history, with a text behind the results", async () => {
    const { url } = await serve(done);
    const messages = [question, assistant(a, b), user(result("b"), result("a"), say("Go on."))];
    expect(await post(`${url}/v1/messages`, { model: "claude", max_tokens: 9, messages })).toMatchObject({
      status: 200,
    });
  });

  it.each<[string, object[], string]>([
    ["a result without its call", [question, user(result("a"))], "unexpected `tool_use_id` found"],
    ["a call without its result", [question, assistant(a, b), user(result("a"))], "immediately after: toolu_b"],
    ["calls at the end", [question, assistant(a)], "immediately after: toolu_a"],
    ["a result twice", [question, assistant(a), user(result("a"), result("a"))], "must have a single result"],
    ["a wrong id", [question, assistant(a), user(result("x"))], "unexpected `tool_use_id`"],
    [
      "another id field",
      [question, assistant(a), user({ ...result("a"), tool_use_id: undefined, id: "a" })],
      "tool_use_id",
    ],
    ["results before the call", [question, user(result("a")), assistant(a)], "unexpected `tool_use_id`"],
    ["results spread over messages", [question, assistant(a, b), user(result("a")), user(result("b"))], "toolu_b"],
    ["calls spread over messages", [question, assistant(a), assistant(b), user(result("a"), result("b"))], "toolu_a"],
    ["a text before the results", [question, assistant(a), user(say("Here."), result("a"))], "immediately after"],
    ["a result in the model's turn", [question, assistant(a, result("a"))], "can only be in `user` messages"],
    ["a call in the user's turn", [user(a)], "can only be in `assistant` messages"],
    [
      "an id used before",
      [question, assistant(a), user(result("a")), assistant(a), user(result("a"))],
      "must be unique",
    ],
    ["an id with other characters", [question, assistant({ ...a, id: "a:0" }), user(result("a"))], "id"],
    ["a name that no tool can have", [question, assistant({ ...a, name: "a.b" }), user(result("a"))], "name"],
    ["arguments as text", [question, assistant({ ...a, input: "{}" }), user(result("a"))], "input"],
    [
      "an error without a text",
      [question, assistant(a), user({ ...result("a"), content: "", is_error: true })],
      "is_error",
    ],
    ["a result as an object", [question, assistant(a), user({ ...result("a"), content: { celsius: 4 } })], "content"],
    ["a role that it does not know", [question, assistant(a), { role: "tool", content: [result("a")] }], "role"],
    ["what it does not know", [question, assistant(a), user({ ...result("a"), name: "get_weather" })], "name"],
  ])("refuses %s", async (_rule, messages, words) => {
    const { url } = await serve(done);
    const { status, text } = await post(`${url}/v1/messages`, { model: "claude", max_tokens: 9, messages });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(words)]);
  });
});
