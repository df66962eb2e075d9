import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, type ModelMessage, streamText, tool } from "ai";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { answer, successes } from "./agent.js";
import { modelServer } from "./servers/model-server.js";
import { type ChatTurn, openaiChatWire } from "./servers/openai-chat.js";

const question: ModelMessage = { role: "user", content: "What is it like in Oslo?" };
const done: ChatTurn = { message: { content: "Cold." } };
const oslo = '{"city":"Oslo"}';

// Without `execute`, so that the calls are left to us.
const city = tool({ inputSchema: z.object({ city: z.string() }) });
const tools = {
  get_weather: city,
  get_tide: city,
  book_table: tool({ inputSchema: z.object({ guests: z.number() }) }),
};

function call(id: string, name: string, args: string) {
  return { id, type: "function" as const, function: { name, arguments: args } };
}

const sound = [call("call_a", "get_weather", oslo), call("call_b", "get_tide", oslo)];
const faulty = [
  ...sound,
  call("call_c", "get_time", "{}"),
  call("call_d", "get_weather", '{"city":"Os'),
  call("call_e", "multi_tool_use.parallel", "[]"),
];

async function serve(...turns: ChatTurn[]) {
  const { url, accepted } = await modelServer(openaiChatWire, turns);
  const model = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "none" })("gpt");
  const ask = (messages: ModelMessage[]) => generateText({ model, messages, tools, maxRetries: 0 });
  const stream = (messages: ModelMessage[]) => streamText({ model, messages, tools, maxRetries: 0 });
  return { accepted, ask, stream };
}

describe("a turn of the AI SDK", () => {
  it("is answered behind the SDK's own messages", async () => {
    const { ask } = await serve({ message: { content: null, tool_calls: sound } }, done);
    const result = await ask([question]);
    const answered = await answer(result);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_tide", false],
    ]);
    const results = toToolMessages("ai-sdk", answered.calls, answered.output);
    const last = await ask([question, ...result.response.messages, ...results]);
    expect(last.text).toBe("Cold.");
  });

  it("has answers of the SDK to the calls that it could not read: only the others are ours", async () => {
    const { ask, accepted } = await serve({ message: { content: null, tool_calls: faulty.slice(0, 4) } }, done);
    const result = await ask([question]);
    const { calls, output } = await answer(result);
    expect(calls.map(({ id }) => id)).toEqual(["call_a", "call_b"]);
    await ask([question, ...result.response.messages, ...toToolMessages("ai-sdk", calls, output)]);
    expect(accepted[1]?.messages).toHaveLength(6);
  });

  it("is written anew from the list of all its calls, and stays in a history that is accepted", async () => {
    const { ask, accepted } = await serve({ message: { content: null, tool_calls: faulty } }, done, done);
    const result = await ask([question]);
    const { calls, output } = await answer(result.toolCalls);
    expect(output.entries.map(({ success }) => success)).toEqual([true, false, false, false, false]);
    const results = toToolMessages("ai-sdk", calls, output);
    const ours = toToolMessages("ai-sdk", normalizeToolCalls(result), output);
    const behind = [question, ...result.response.messages, ...ours];
    await expect(ask(behind)).rejects.toMatchObject({ statusCode: 400 });

    const history = [question, toAssistantMessage("ai-sdk", calls), ...results];
    const cold = await ask(history);
    await ask([...history, ...cold.response.messages, { role: "user", content: "Thanks." }]);
    expect(accepted).toHaveLength(3);
  });

  it("is put together from a stream by the SDK", async () => {
    const { ask, stream } = await serve({ message: { content: null, tool_calls: sound } }, done);
    const result = stream([question]);
    const { calls, output } = await answer(await result.toolCalls);
    expect(calls.map(({ arguments: args }) => args)).toEqual([{ city: "Oslo" }, { city: "Oslo" }]);
    expect(normalizeToolCalls((await result.steps).at(-1)).map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    const { messages } = await result.response;
    await ask([question, ...messages, ...toToolMessages("ai-sdk", calls, output)]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const write = [call("call_w", "book_table", '{"guests":2}')];
    const { ask, accepted } = await serve({ message: { content: null, tool_calls: write } }, done);
    const result = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(result, { store, runId: "turn-1" });
    expect(waiting.status).toBe("waiting");
    for (const { runId, id } of waiting.questions ?? [])
      await answerQuestion(store, runId, id, { decision: "approve" });

    const { calls, output } = await answer(result, { store, runId: "turn-1" });
    await ask([question, ...result.response.messages, ...toToolMessages("ai-sdk", calls, output)]);
    expect(accepted[1]?.messages.at(-1)).toMatchObject({ content: "A table for 2 is booked." });
  });

  it("of another provider is taken, whatever its names", async () => {
    const { ask } = await serve(done);
    const calls = normalizeToolCalls([{ type: "tool_use", id: "toolu_1", name: "get.weather", input: {} }]);
    await ask([question, toAssistantMessage("ai-sdk", calls), ...toToolMessages("ai-sdk", calls, [])]);
  });
});

describe("the SDK is strict", () => {
  const input = { city: "Oslo" };
  const turn = { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "get_weather", input }] };
  const part = { type: "tool-result", toolCallId: "a", toolName: "get_weather", output: { type: "text", value: "4" } };
  const result = (changed: object) => ({ role: "tool", content: [{ ...part, ...changed }] });

  it.each<[string, object[], string]>([
    ["a call without its result", [question, turn], "AI_MissingToolResultsError"],
    ["a question between", [question, turn, question, result({})], "AI_MissingToolResultsError"],
    ["a wrong id", [question, turn, result({ toolCallId: "x" })], "AI_MissingToolResultsError"],
    ["another id field", [question, turn, result({ toolCallId: undefined, id: "a" })], "AI_InvalidPromptError"],
    ["a result without its tool's name", [question, turn, result({ toolName: undefined })], "AI_InvalidPromptError"],
    ["a result that is a bare value", [question, turn, result({ output: 4 })], "AI_InvalidPromptError"],
    ["a result as of chat completions", [question, turn, { role: "tool", content: "4" }], "AI_InvalidPromptError"],
  ])("and refuses %s", async (_rule, messages, name) => {
    const { ask, accepted } = await serve(done);
    // Hand-made, so no type knows them.
    await expect(ask(messages as ModelMessage[])).rejects.toMatchObject({ name });
    expect(accepted).toEqual([]);
  });
});
