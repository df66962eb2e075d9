import { describe, expect, it } from "vitest";
import {
  type DispatchEntry,
  type NormalizedCall,
  normalizeToolCalls,
  type ProviderName,
  toAssistantMessage,
  toToolMessages,
} from "../../src/providers/index.js";

function chatCalls(...ids: string[]): readonly NormalizedCall[] {
  return normalizeToolCalls(
    ids.map((id) => ({ id, type: "function", function: { name: "weigh", arguments: '{"kg":2}' } })),
  );
}

function entry(id: string, result: DispatchEntry["result"], error?: string): DispatchEntry {
  const content = typeof result === "string" ? result : JSON.stringify(result);
  const base = {
    success: error === undefined,
    id,
    name: "weigh",
    arguments: { kg: 2 },
    flow: "scale",
    result,
    content,
  };
  return error === undefined ? base : { ...base, error };
}

const output = [entry("b", { error: "It slipped." }, "It slipped."), entry("a", { grams: 2000 })];
const slipped = '{"error":"It slipped."}';
const _args = { kg: 2 };
const argsText = '{"kg":2}';

describe("results", () => {
  it.each<[ProviderName, object]>([
    [
      "openai-chat",
      [
        { role: "tool", tool_call_id: "a", content: '{"grams":2000}' },
        { role: "tool", tool_call_id: "b", content: slipped },
      ],
    ],
    [
      "openai-responses",
      [
        { type: "function_call_output", call_id: "a", output: '{"grams":2000}' },
        { type: "function_call_output", call_id: "b", output: slipped },
      ],
    ],
    [
      "openai-agents",
      [
        {
          type: "function_call_result",
          callId: "a",
          name: "weigh",
          status: "completed",
          output: { type: "text", text: '{"grams":2000}' },
        },
        {
          type: "function_call_result",
          callId: "b",
          name: "weigh",
          status: "completed",
          output: { type: "text", text: slipped },
        },
      ],
    ],
    [
      "anthropic",
      [
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: '{"grams":2000}', is_error: false },
            { type: "tool_result", tool_use_id: "b", content: slipped, is_error: true },
          ],
        },
      ],
    ],
    [
      "gemini",
      [
        {
          role: "user",
          parts: [
            { functionResponse: { name: "weigh", response: { output: { grams: 2000 } } } },
            { functionResponse: { name: "weigh", response: { error: slipped } } },
          ],
        },
      ],
    ],
    [
      "cohere",
      [
        { role: "tool", tool_call_id: "a", content: [{ type: "document", document: { data: '{"grams":2000}' } }] },
        { role: "tool", tool_call_id: "b", content: [{ type: "document", document: { data: slipped } }] },
      ],
    ],
    [
      "cohere-sdk",
      [
        { role: "tool", toolCallId: "a", content: [{ type: "document", document: { data: '{"grams":2000}' } }] },
        { role: "tool", toolCallId: "b", content: [{ type: "document", document: { data: slipped } }] },
      ],
    ],
    [
      "ollama",
      [
        { role: "tool", tool_name: "weigh", tool_call_id: "a", content: '{"grams":2000}' },
        { role: "tool", tool_name: "weigh", tool_call_id: "b", content: slipped },
      ],
    ],
    [
      "bedrock",
      [
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "a", content: [{ json: { grams: 2000 } }], status: "success" } },
            { toolResult: { toolUseId: "b", content: [{ json: { error: "It slipped." } }], status: "error" } },
          ],
        },
      ],
    ],
    [
      "ai-sdk",
      [
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "a",
              toolName: "weigh",
              output: { type: "json", value: { grams: 2000 } },
            },
            { type: "tool-result", toolCallId: "b", toolName: "weigh", output: { type: "error-text", value: slipped } },
          ],
        },
      ],
    ],
    [
      "langchain",
      [
        { role: "tool", tool_call_id: "a", name: "weigh", content: '{"grams":2000}', status: "success" },
        { role: "tool", tool_call_id: "b", name: "weigh", content: slipped, status: "error" },
      ],
    ],
    [
      "mcp",
      [
        {
          jsonrpc: "2.0",
          id: "a",
          result: {
            content: [{ type: "text", text: '{"grams":2000}' }],
            structuredContent: { grams: 2000 },
            isError: false,
          },
        },
        { jsonrpc: "2.0", id: "b", result: { content: [{ type: "text", text: slipped }], isError: true } },
      ],
    ],
  ])("go to %s in call order", (provider, expected) => {
    expect(toToolMessages(provider, chatCalls("a", "b"), output)).toEqual(expected);
    expect(toToolMessages(provider, chatCalls("a", "b"), { entries: output })).toEqual(expected);
  });

  it.each<[ProviderName, string, string]>([
    ["mistral", "tool_call_id", "tool_calls"],
    ["mistral-sdk", "toolCallId", "toolCalls"],
  ])("go to %s under ids of nine letters and digits, the same on both sides", (provider, key, callsKey) => {
    const calls = chatCalls("call_with_long_id", "D681PevKs", "D681PevKs-", "-D681PevKs");
    const messages = toToolMessages(provider, calls, [entry("D681PevKs", "ok")]);
    const ids = messages.map((message) => Reflect.get(message, key));
    expect(ids[1]).toBe("D681PevKs");
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(messages[1]).toEqual({ role: "tool", name: "weigh", [key]: "D681PevKs", content: "ok" });
    const written = ids.map((id) => ({ id, type: "function", function: { name: "weigh", arguments: argsText } }));
    expect(toAssistantMessage(provider, calls)).toEqual({ role: "assistant", content: "", [callsKey]: written });
  });

  it.each<[ProviderName, unknown]>([
    ["ai-sdk", { type: "text", value: "two kilos" }],
    ["bedrock", [{ text: "two kilos" }]],
    ["gemini", { output: "two kilos" }],
    ["mcp", { content: [{ type: "text", text: "two kilos" }], isError: false }],
  ])("that are text go to %s as text", (provider, expected) => {
    expect(JSON.stringify(toToolMessages(provider, chatCalls("a"), [entry("a", "two kilos")]))).toContain(
      JSON.stringify(expected),
    );
  });

  it.each([
    ["", { json: { result: "" } }],
    [" \n", { json: { result: " \n" } }],
    [[1], { text: "[1]" }],
    [null, { text: "null" }],
  ])("%j is given to bedrock as it takes it", (result, block) => {
    expect(toToolMessages("bedrock", chatCalls("a"), [entry("a", result)])[0]?.content[0]?.toolResult.content).toEqual([
      block,
    ]);
  });

  it("answer every call, also one that was not run, once", () => {
    const messages = toToolMessages("openai-chat", chatCalls("a", "b", "c"), [
      entry("c", 3),
      entry("c", 4),
      entry("unasked", 5),
      entry("a", 1),
    ]);
    expect(messages.map((message) => ("tool_call_id" in message ? message.tool_call_id : ""))).toEqual(["a", "b", "c"]);
    expect(messages.map(({ content }) => content)).toEqual(["1", expect.stringContaining("NOT_RUN"), "3"]);
    expect(toToolMessages("anthropic", chatCalls("a"), [])[0]?.content[0]).toMatchObject({ is_error: true });
  });

  it("of no calls are no messages", () => {
    expect(toToolMessages("anthropic", [], output)).toEqual([]);
  });

  it("that failed without a word say so", () => {
    const silent = (error?: string) => ({ ...entry("a", "", error ?? "x"), error });
    const contents = [silent("No such scale."), silent(), silent("")].map(
      (failed) => toToolMessages("openai-chat", chatCalls("a"), [failed])[0]?.content,
    );
    expect(contents).toEqual(["No such scale.", "The call failed.", "The call failed."]);
    expect(toToolMessages("openai-chat", chatCalls("a"), [entry("a", "")])[0]?.content).toBe("");
  });

  it("are well-formed text, and copies", () => {
    const result = { "k\uD800": ["\uDC00", 1, null, true, { deep: "😀" }] };
    const [message] = toToolMessages("ai-sdk", chatCalls("a"), [{ ...entry("a", result), content: "\uD800" }]);
    expect(message?.content[0]?.output.value).toEqual({ "k\uFFFD": ["\uFFFD", 1, null, true, { deep: "😀" }] });
    expect(Object.isFrozen(message?.content[0]?.output.value)).toBe(false);
    expect(toToolMessages("openai-chat", chatCalls("a"), [{ ...entry("a", 1), content: "\uD83D!" }])[0]?.content).toBe(
      "\uFFFD!",
    );
  });

  it("without content are written from the result", () => {
    const { content: _content, ...bare } = entry("a", { grams: 1 });
    const messages = toToolMessages("openai-chat", chatCalls("a"), JSON.parse(JSON.stringify([bare])));
    expect(messages[0]?.content).toBe('{"grams":1}');
  });
});

describe("what can't be written", () => {
  const unchecked = (value: unknown) => JSON.parse(JSON.stringify(value));

  it.each<[string, () => unknown, string]>([
    ["an unknown provider", () => toToolMessages(unchecked("abacus"), [], []), "one of langchain, "],
    ["an inherited name", () => toAssistantMessage(unchecked("constructor"), chatCalls("a")), "one of langchain, "],
    ["a turn without calls", () => toAssistantMessage("mistral", []), "no calls"],
    ["no entries", () => toToolMessages("mistral", chatCalls("a"), unchecked({})), "The output must be the entries"],
    [
      "entries that are none",
      () => toToolMessages("mistral", chatCalls("a"), unchecked([{ id: "a" }])),
      "Entry 0 must be",
    ],
    [
      "entries without ids",
      () => toToolMessages("mistral", chatCalls("a"), unchecked([{ success: true }])),
      "Entry 0 must be",
    ],
    [
      "entries that throw when they are read",
      () => toToolMessages("mistral", chatCalls("a"), new Proxy([], { get: () => JSON.parse("no JSON") })),
      "The output must be the entries",
    ],
  ])("%s is refused", (_kind, run, text) => {
    expect(run).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS", message: expect.stringContaining(text) }));
  });
});
