import OpenAI from "openai";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { answer, successes } from "./agent.js";
import { post } from "./post.js";
import { modelServer } from "./servers/model-server.js";
import { openaiResponsesWire, type ResponseItem } from "./servers/openai-responses.js";

type InputItem = OpenAI.Responses.ResponseInputItem;

const question: InputItem = { type: "message", role: "user", content: "What is it like in Oslo?" };
const oslo = '{"city":"Oslo"}';

function call(id: string, name: string, args: string) {
  return { type: "function_call" as const, id: `fc_${id}`, call_id: `call_${id}`, name, arguments: args };
}

const reasoning: ResponseItem = { type: "reasoning", id: "rs_1", summary: [] };
const custom = {
  type: "custom_tool_call" as const,
  id: "ctc_1",
  call_id: "call_s",
  name: "run_sql",
  input: "select 1",
};
const sound = [call("a", "get_weather", oslo), call("b", "get_tide", oslo), custom, call("c", "get_time", "{}")];
const faulty = [
  call("a", "get_weather", oslo),
  call("d", "get_weather", "{"),
  call("e", "multi_tool_use.parallel", ""),
];
const done: readonly ResponseItem[] = [
  {
    type: "message",
    id: "msg_9",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Cold.", annotations: [] }],
  },
];

async function serve(...turns: (readonly ResponseItem[])[]) {
  const { url, accepted } = await modelServer(openaiResponsesWire, turns);
  const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const ask = (input: InputItem[]) => client.responses.create({ model: "gpt", input, store: false });
  return { url, accepted, client, ask };
}

describe("a turn of OpenAI Responses", () => {
  it("is answered behind the model's own items", async () => {
    const { ask } = await serve([reasoning, ...sound], done);
    const { output: items } = await ask([question]);
    const answered = await answer(items);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_tide", false],
      ["run_sql", false],
      ["get_time", false],
    ]);
    const results = toToolMessages("openai-responses", answered.calls, answered.output);
    const last = await ask([question, ...toInput(items), ...results]);
    expect(last.output_text).toBe("Cold.");
  });

  it("with calls that can't be sent back is written anew, without its reasoning", async () => {
    const { ask, accepted } = await serve([reasoning, ...faulty, custom], done, done);
    const response = await ask([question]);
    const { calls, output } = await answer(response);
    expect(output.entries.map(({ success }) => success)).toEqual([true, false, false, false]);
    const results = toToolMessages("openai-responses", calls, output);
    await expect(ask([question, ...toInput(response.output), ...results])).rejects.toMatchObject({ status: 400 });

    const history = [question, ...toAssistantMessage("openai-responses", calls), ...results];
    const cold = await ask(history);
    await ask([...history, ...toInput(cold.output), { type: "message", role: "user", content: "Thanks." }]);
    expect(accepted).toHaveLength(3);
    expect(results.map(({ call_id }) => call_id)).toEqual(["call_a", "call_d", "call_e", "call_s"]);
  });

  it("is put together from a stream by the client", async () => {
    const { client, ask } = await serve([reasoning, ...sound], done);
    const stream = client.responses.stream({ model: "gpt", input: [question] });
    const { calls, output } = await answer(await stream.finalResponse());
    expect(calls.map(({ id, error }) => [id, error])).toEqual([
      ["call_a", undefined],
      ["call_b", undefined],
      ["call_s", undefined],
      ["call_c", undefined],
    ]);
    const results = toToolMessages("openai-responses", calls, output);
    await ask([question, ...toAssistantMessage("openai-responses", calls), ...results]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const { ask } = await serve([call("w", "book_table", '{"guests":2}')], done);
    const { output: items } = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(items, { store, runId: "turn-1" });
    expect(waiting.status).toBe("waiting");
    for (const { runId, id } of waiting.questions ?? []) await answerQuestion(store, runId, id, { decision: "reject" });

    const { calls, output } = await answer(items, { store, runId: "turn-1" });
    const results = toToolMessages("openai-responses", calls, output);
    expect(results).toEqual([{ type: "function_call_output", call_id: "call_w", output: expect.any(String) }]);
    await ask([question, ...toInput(items), ...results]);
  });

  it("of another provider is taken, whatever its ids and names", async () => {
    const { ask } = await serve(done);
    const calls = normalizeToolCalls([{ type: "tool_use", id: "x".repeat(65), name: "get.weather", input: {} }]);
    const turn = toAssistantMessage("openai-responses", calls);
    await ask([question, ...turn, ...toToolMessages("openai-responses", calls, [])]);
  });
});

/** The items of a turn as those of a request. */
function toInput(items: readonly ResponseItem[]): InputItem[] {
  return items.flatMap((item) =>
    item.type === "function_call" || item.type === "custom_tool_call" || item.type === "reasoning" ? [item] : [],
  );
}

describe("the Responses server is strict", () => {
  const [a, b] = [call("a", "get_weather", oslo), call("b", "get_weather", oslo)];
  const result = (id: string) => ({ type: "function_call_output", call_id: `call_${id}`, output: "4" });
  const customResult = { type: "custom_tool_call_output", call_id: "call_s", output: "1" };

  it("takes a sound history", async () => {
    const { url } = await serve(done);
    const input = [question, a, b, custom, result("b"), result("a"), customResult];
    expect(await post(`${url}/responses`, { model: "gpt", input })).toMatchObject({ status: 200 });
  });

  it.each<[string, object[], string]>([
    ["a result without its call", [question, result("a")], "No tool call found for function call output"],
    ["a call without its result", [question, a, b, result("a")], "No tool output found for function call call_b"],
    ["a result twice", [question, a, result("a"), result("a")], "No tool call found"],
    ["a result before its call", [question, result("a"), a], "No tool call found"],
    ["the id of the item", [question, a, { ...result("a"), call_id: "fc_a" }], "No tool call found"],
    ["another id field", [question, a, { ...result("a"), call_id: undefined, id: "call_a" }], "call_id"],
    ["one id twice", [question, a, a, result("a")], "Duplicate"],
    ["a long id", [question, { ...a, call_id: "x".repeat(65) }], "call_id"],
    ["a custom call's result as a function's", [question, custom, { ...result("s") }], "No tool call found"],
    ["a function's result as a custom call's", [question, call("s", "x", "{}"), customResult], "No tool call found"],
    ["a custom call without its result", [question, custom], "No tool output found for custom tool call"],
    ["arguments that are no text", [question, { ...a, arguments: {} }], "arguments"],
    ["arguments that are no JSON", [question, { ...a, arguments: "{" }], "arguments"],
    ["a name that no tool can have", [question, { ...a, name: "a.b" }], "name"],
    ["an item's id of another kind", [question, { ...a, id: "call_a" }, result("a")], "'input[1].id'"],
    ["a result as an object", [question, a, { ...result("a"), output: { celsius: 4 } }], "output"],
    ["a result as of chat completions", [question, a, { role: "tool", tool_call_id: "call_a", content: "4" }], "type"],
    ["what it does not know", [question, a, { ...result("a"), is_error: true }], "is_error"],
  ])("refuses %s", async (_rule, input, words) => {
    const { url } = await serve(done);
    const { status, text } = await post(`${url}/responses`, { model: "gpt", input });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(words)]);
  });

  it("refuses an item's id without the reasoning that came before it", async () => {
    const { url, ask } = await serve([reasoning, a], done);
    await ask([question]);
    const { status, text } = await post(`${url}/responses`, { model: "gpt", input: [question, a, result("a")] });
    expect([status, JSON.parse(text).error.message]).toEqual([
      400,
      expect.stringContaining("required 'reasoning' item"),
    ]);
  });
});
