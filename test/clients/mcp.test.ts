import { ElicitRequestSchema, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { answerQuestion, memoryStore, normalizeToolCalls, toAssistantMessage, toToolMessages } from "toolweave";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { answer } from "./agent.js";
import { post } from "./post.js";
import { bareHost, sdkClient, sdkServer, strictServer } from "./servers/mcp.js";

const rpcRequest = z.looseObject({ id: z.number() });
const rpcResponse = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  error: z.unknown().optional(),
  result: z.looseObject({ isError: z.boolean().optional() }).optional(),
});

/** A hand-made request, and the response to it. */
async function send(url: string, message: object) {
  const { status, text } = await post(url, message);
  return { status, ...rpcResponse.parse(JSON.parse(text)) };
}

/** Answers one request of a client with one response. */
async function respond(request: unknown) {
  const { calls, output } = await answer(request);
  return toToolMessages("mcp", calls, output)[0];
}

describe("calls of an MCP client", () => {
  it("are answered by a server of the SDK", async () => {
    const url = await sdkServer(async (request, { requestId: id }) => {
      const response = await respond({ jsonrpc: "2.0", id, ...request });
      return response?.result ?? { content: [] };
    });
    const client = await sdkClient(url);
    const call = (name: string, args?: Record<string, unknown>) => client.callTool({ name, arguments: args });
    const results = await Promise.all([
      call("get_weather", { city: "Oslo" }),
      call("get_weather", { city: 7 }),
      call("get_tide", { city: "Oslo" }),
      call("get_time"),
    ]);
    const isError = true;
    expect(results).toMatchObject([
      { isError: false, structuredContent: { celsius: 4 }, content: [{ text: '{"city":"Oslo","celsius":4}' }] },
      { isError },
      { isError },
      { isError, content: [{ text: expect.stringContaining("get_time") }] },
    ]);
  });

  it("are answered in whole messages, under ids of the client's own type", async () => {
    const ids: unknown[] = [];
    const url = await bareHost(async (request) => {
      const response = await respond(request);
      ids.push(response?.id);
      return response;
    });
    const client = await sdkClient(url);
    expect(await client.callTool({ name: "get_weather", arguments: { city: "Oslo" } })).toMatchObject({
      isError: false,
    });
    expect(await client.callTool({ name: "get_tide" })).toMatchObject({ isError: true });
    expect(ids).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it("wait for the person at the client, and are carried on by the same call", async () => {
    const store = memoryStore();
    const url = await sdkServer(async (request, { requestId: id, sendRequest }) => {
      const raw = { jsonrpc: "2.0", id, ...request };
      const options = { store, runId: "call-1" };
      const { output: waiting } = await answer(raw, options);
      for (const question of waiting.questions ?? []) {
        const message = `May ${question.kind === "approval" ? question.tool : question.stepId} be called?`;
        const params = { message, requestedSchema: { type: "object" as const, properties: {} } };
        const { action } = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
        const decision = action === "accept" ? "approve" : "reject";
        await answerQuestion(store, question.runId, question.id, { decision });
      }
      const { calls, output } = await answer(raw, options);
      return toToolMessages("mcp", calls, output)[0]?.result ?? { content: [] };
    });
    const client = await sdkClient(url, { elicitation: {} });
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: {} };
    });
    const result = await client.callTool({ name: "book_table", arguments: { guests: 2 } });
    expect(asked).toEqual(["May book_table be called?"]);
    expect(result).toMatchObject({ isError: false, content: [{ text: "A table for 2 is booked." }] });
  });
});

describe("a turn written as MCP requests", () => {
  it("is what a server of the SDK takes", async () => {
    const { url, called } = await strictServer();
    const calls = normalizeToolCalls([
      { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
      { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "get_weather", arguments: { city: "Rome" } } },
    ]);
    const responses = [];
    for (const request of toAssistantMessage("mcp", calls)) responses.push(await send(url, request));
    expect(responses).toMatchObject([
      { status: 200, id: "call_a", result: { content: [{ text: "4 degrees in Oslo" }] } },
      { status: 200, id: 7, result: { content: [{ text: "4 degrees in Rome" }] } },
    ]);
    expect(called).toEqual(["Oslo", "Rome"]);
  });
});

describe("the SDK is strict", () => {
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_weather", arguments: {} } };

  it.each<[string, object]>([
    ["a call without a name", { ...request, params: { arguments: {} } }],
    ["arguments that are null", { ...request, params: { name: "get_weather", arguments: null } }],
    ["arguments as text", { ...request, params: { name: "get_weather", arguments: "{}" } }],
    ["arguments that do not fit", request],
    ["an unknown tool", { ...request, params: { name: "get_time", arguments: {} } }],
    ["an id that is null", { ...request, id: null }],
    ["an id that is no whole number", { ...request, id: 1.5 }],
    ["another version", { ...request, jsonrpc: "1.0" }],
    ["a call as of OpenAI", { id: "a", type: "function", function: { name: "get_weather", arguments: "{}" } }],
  ])("a server refuses %s", async (_rule, message) => {
    const { url, called } = await strictServer();
    const { error, result } = await send(url, message);
    expect(error !== undefined || result?.isError === true).toBe(true);
    expect(called).toEqual([]);
  });

  it.each<[string, object]>([
    ["content as text", { content: "4" }],
    ["content as an object", { content: { celsius: 4 } }],
    ["a part without its type", { content: [{ text: "4" }] }],
    ["structured content that is a list", { content: [], structuredContent: [4] }],
    ["an error flag that is none", { content: [], isError: "yes" }],
  ])("a client refuses %s", async (_rule, result) => {
    const url = await bareHost(async (request) => ({ jsonrpc: "2.0", id: rpcRequest.parse(request).id, result }));
    const client = await sdkClient(url);
    await expect(client.callTool({ name: "get_weather" })).rejects.toThrow();
  });

  it("a client does not know an id that it did not send", async () => {
    const url = await bareHost(async (request) => {
      const response = await respond(request);
      return { ...response, id: "call_1" };
    });
    const client = await sdkClient(url);
    const unknown = new Promise<Error>((resolve) => {
      client.onerror = resolve;
    });
    const stop = new AbortController();
    const calling = client.callTool({ name: "get_weather" }, undefined, { signal: stop.signal });
    expect((await unknown).message).toContain("unknown message ID");
    stop.abort();
    await expect(calling).rejects.toThrow();
  });
});
