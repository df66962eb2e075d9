import { type Content, GoogleGenAI, type Part } from "@google/genai";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { answer, successes } from "./agent.js";
import { post } from "./post.js";
import { type GeminiTurn, geminiWire } from "./servers/gemini.js";
import { modelServer } from "./servers/model-server.js";

const question: Content = { role: "user", parts: [{ text: "What is it like in Oslo?" }] };
const thoughtSignature = "c2ln";
const done: GeminiTurn = { parts: [{ text: "Cold." }] };

const sound: Part[] = [
  { functionCall: { id: "f1", name: "get_weather", args: { city: "Oslo" } }, thoughtSignature },
  { functionCall: { name: "get_weather", args: { city: "Oslo" } } },
  { functionCall: { name: "get_tide", args: { city: "Oslo" } } },
  { functionCall: { name: "default_api.get_time" } },
  { functionCall: { id: "f5", name: "get_weather", args: { city: 7 } } },
];

async function serve(...turns: GeminiTurn[]) {
  const { url, accepted } = await modelServer(geminiWire, turns);
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } });
  const ask = (contents: Content[]) => ai.models.generateContent({ model: "gemini-3", contents });
  return { url, accepted, ai, ask };
}

function contentOf(response: { candidates?: { content?: Content }[] }): Content {
  const content = response.candidates?.[0]?.content;
  if (content === undefined) throw new Error("The model says nothing.");
  return content;
}

describe("a turn of Gemini", () => {
  it("is answered behind the model's own content, with its ids where it gave them", async () => {
    const { ask, accepted } = await serve({ parts: [{ text: "I look.", thought: true }, ...sound] }, done);
    const response = await ask([question]);
    const answered = await answer(response);
    expect(successes(answered)).toEqual([
      ["get_weather", true],
      ["get_weather", true],
      ["get_tide", false],
      ["default_api.get_time", false],
      ["get_weather", false],
    ]);
    const results = toToolMessages("gemini", answered.calls, answered.output);
    const last = await ask([question, contentOf(response), ...results]);
    expect(last.text).toBe("Cold.");
    expect(accepted[1]?.contents[2]?.parts[0]?.functionResponse).toEqual({
      id: "f1",
      name: "get_weather",
      response: { output: { city: "Oslo", celsius: 4 } },
    });
  });

  it("with calls that can't be sent back is written anew, and stays in a history that is accepted", async () => {
    const faulty: Part[] = [...sound, { functionCall: { name: "get time" } }, { functionCall: {} }];
    const { ask, accepted } = await serve({ parts: faulty }, done, done);
    const response = await ask([question]);
    const { calls, output } = await answer(response);
    const results = toToolMessages("gemini", calls, output);
    await expect(ask([question, contentOf(response), ...results])).rejects.toMatchObject({ status: 400 });

    const history = [question, toAssistantMessage("gemini", calls), ...results];
    const cold = await ask(history);
    await ask([...history, contentOf(cold), { role: "user", parts: [{ text: "Thanks." }] }]);
    expect(accepted).toHaveLength(3);
  });

  it("is read from the client's own list of calls", async () => {
    const { ask } = await serve({ parts: sound }, done);
    const response = await ask([question]);
    const { calls, output } = await answer(response.functionCalls);
    await ask([question, contentOf(response), ...toToolMessages("gemini", calls, output)]);
  });

  it("comes in pieces, whose parts are one content", async () => {
    const { ai, ask } = await serve({ parts: sound }, done);
    const parts: Part[] = [];
    for await (const chunk of await ai.models.generateContentStream({ model: "gemini-3", contents: [question] })) {
      parts.push(...(contentOf(chunk).parts ?? []));
    }
    const content: Content = { role: "model", parts };
    const { calls, output } = await answer(content);
    expect(calls).toHaveLength(5);
    await ask([question, content, ...toToolMessages("gemini", calls, output)]);
  });

  it("waits for a person, and is carried on by the same call", async () => {
    const write: Part = { functionCall: { name: "book_table", args: { guests: 2 } }, thoughtSignature };
    const { ask, accepted } = await serve({ parts: [write] }, done);
    const response = await ask([question]);
    const store = memoryStore();
    const { output: waiting } = await answer(response, { store, runId: "turn-1" });
    expect(waiting.status).toBe("waiting");
    for (const { runId, id } of waiting.questions ?? [])
      await answerQuestion(store, runId, id, { decision: "approve" });

    const { calls, output } = await answer(response, { store, runId: "turn-1" });
    await ask([question, contentOf(response), ...toToolMessages("gemini", calls, output)]);
    expect(accepted[1]?.contents[2]?.parts).toMatchObject([
      { functionResponse: { response: { output: "A table for 2 is booked." } } },
    ]);
  });

  it("of another provider is taken behind a later question, whatever its names", async () => {
    const { ask } = await serve(done);
    const calls = normalizeToolCalls([{ type: "tool_use", id: "toolu_1", name: "1 get/weather", input: {} }]);
    const turn = toAssistantMessage("gemini", calls);
    const later: Content = { role: "user", parts: [{ text: "And now?" }] };
    await ask([
      question,
      turn,
      ...toToolMessages("gemini", calls, []),
      { role: "model", parts: [{ text: "Cold." }] },
      later,
    ]);
  });
});

describe("the Gemini server is strict", () => {
  const path = "/v1beta/models/gemini-3:generateContent";
  const a = { functionCall: { id: "f1", name: "get_weather", args: {} }, thoughtSignature };
  const b = { functionCall: { name: "get_tide", args: {} } };
  const resultA = { functionResponse: { id: "f1", name: "get_weather", response: { output: 4 } } };
  const resultB = { functionResponse: { name: "get_tide", response: { output: 5 } } };
  const model = (...parts: object[]) => ({ role: "model", parts });
  const user = (...parts: object[]) => ({ role: "user", parts });
  const text = { text: "Here." };

  it("takes a sound history", async () => {
    const { url } = await serve(done);
    const contents = [question, model(a, b), user(resultA, resultB)];
    expect(await post(`${url}${path}`, { contents })).toMatchObject({ status: 200 });
  });

  it.each<[string, object[], string]>([
    ["a result without its call", [question, user(resultA)], "immediately after a function call turn"],
    ["a call without its result", [question, model(a, b), user(resultA)], "number of function response parts"],
    ["calls at the end", [question, model(a)], "number of function response parts"],
    ["a result twice", [question, model(a), user(resultA, resultA)], "number of function response parts"],
    ["results spread over contents", [question, model(a, b), user(resultA), user(resultB)], "number of function"],
    ["calls spread over contents", [question, model(a), model(b), user(resultA, resultB)], "number of function"],
    ["results before the call", [question, user(resultA), model(a)], "immediately after a function call turn"],
    ["results in another order", [question, model(a, b), user(resultB, resultA)], "name and the id"],
    [
      "an id that was not given",
      [question, model(a, b), user(resultA, { functionResponse: { ...resultB.functionResponse, id: "call_2" } })],
      "name and the id",
    ],
    [
      "an id left out",
      [question, model(a), user({ functionResponse: { name: "get_weather", response: {} } })],
      "name and the id",
    ],
    ["a call at the start", [model(a), user(resultA)], "immediately after a user turn"],
    ["a text between the results", [question, model(a), user(text, resultA)], "without other parts"],
    ["a result of the model", [question, model(a), model(resultA)], "role 'user'"],
    ["a call of the user", [question, user(a), user(resultA)], "role 'model'"],
    [
      "a call without its signature",
      [question, model({ functionCall: a.functionCall }), user(resultA)],
      "thought_signature",
    ],
    [
      "a result as text",
      [question, model(a), user({ functionResponse: { ...resultA.functionResponse, response: "4" } })],
      "response",
    ],
    ["arguments as text", [question, model({ ...a, functionCall: { ...a.functionCall, args: "{}" } })], "args"],
    ["a name that no tool can have", [question, model({ ...a, functionCall: { name: "get time" } })], "name"],
    ["two kinds of data in one part", [question, model({ ...a, ...text }), user(resultA)], "oneof"],
    ["a role that it does not know", [question, { role: "tool", parts: [resultA] }], "role"],
    ["a result as of OpenAI", [question, model(a), { role: "user", tool_call_id: "f1", content: "4" }], "parts"],
    ["what it does not know", [question, model(a), user({ ...resultA, is_error: true })], "is_error"],
  ])("refuses %s", async (_rule, contents, words) => {
    const { url } = await serve(done);
    const { status, text } = await post(`${url}${path}`, { contents });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(words)]);
  });
});
