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
  return normalizeToolCalls(ids.map((id) => ({ id, type: "function", function: { name: "weigh", arguments: '{"kg":2}' } })));
}

function entry(id: string, result: DispatchEntry["result"], error?: string): DispatchEntry {
  const content = typeof result === "string" ? result : JSON.stringify(result);
  const base = { success: error === undefined, id, name: "weigh", arguments: { kg: 2 }, flow: "scale", result, content };
  return error === undefined ? base : { ...base, error };
}

const output = [entry("b", { error: "It slipped." }, "It slipped."), entry("a", { grams: 2000 })];
const slipped = '{"error":"It slipped."}';
const args = { kg: 2 };
const argsText = '{"kg":2}';

describe("results", () => {
  it.each<[ProviderName, object]>([
    ["openai-chat", [
      { role: "tool", tool_call_id: "a", content: '{"grams":2000}' },
      { role: "tool", tool_call_id: "b", content: slipped },
    ]],
    ["openai-responses", [
      { type: "function_call_output", call_id: "a", output: '{"grams":2000}' },
      { type: "function_call_output", call_id: "b", output: slipped },
    ]],
    ["openai-agents", [
      { type: "function_call_result", callId: "a", name: "weigh", status: "completed", output: { type: "text", text: '{"grams":2000}' } },
      { type: "function_call_result", callId: "b", name: "weigh", status: "completed", output: { type: "text", text: slipped } },
    ]],
    ["anthropic", [
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: '{"grams":2000}', is_error: false },
          { type: "tool_result", tool_use_id: "b", content: slipped, is_error: true },
        ],
      },
    ]],
    ["gemini", [
      {
        role: "user",
        parts: [
          { functionResponse: { name: "weigh", response: { output: { grams: 2000 } } } },
          { functionResponse: { name: "weigh", response: { error: slipped } } },
        ],
      },
    ]],
    ["cohere", [
      { role: "tool", tool_call_id: "a", content: [{ type: "document", document: { data: '{"grams":2000}' } }] },
      { role: "tool", tool_call_id: "b", content: [{ type: "document", document: { data: slipped } }] },
    ]],
    ["cohere-sdk", [
      { role: "tool", toolCallId: "a", content: [{ type: "document", document: { data: '{"grams":2000}' } }] },
      { role: "tool", toolCallId: "b", content: [{ type: "document", document: { data: slipped } }] },
    ]],
    ["ollama", [
      { role: "tool", tool_name: "weigh", tool_call_id: "a", content: '{"grams":2000}' },
      { role: "tool", tool_name: "weigh", tool_call_id: "b", content: slipped },
    ]],
    ["bedrock", [
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "a", content: [{ json: { grams: 2000 } }], status: "success" } },
          { toolResult: { toolUseId: "b", content: [{ json: { error: "It slipped." } }], status: "error" } },
        ],
      },
    ]],
    ["ai-sdk", [
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "a", toolName: "weigh", output: { type: "json", value: { grams: 2000 } } },
          { type: "tool-result", toolCallId: "b", toolName: "weigh", output: { type: "error-text", value: slipped } },
        ],
      },
    ]],
    ["langchain", [
      { role: "tool", tool_call_id: "a", name: "weigh", content: '{"grams":2000}', status: "success" },
      { role: "tool", tool_call_id: "b", name: "weigh", content: slipped, status: "error" },
    ]],
    ["mcp", [
      {
        jsonrpc: "2.0",
        id: "a",
        result: { content: [{ type: "text", text: '{"grams":2000}' }], structuredContent: { grams: 2000 }, isError: false },
      },
      { jsonrpc: "2.0", id: "b", result: { content: [{ type: "text", text: slipped }], isError: true } },
    ]],
  ])("go to %s in call order", (provider, expected) => {
    expect(toToolMessages(provider, chatCalls("a", "b"), output)).toEqual(expected);
    expect(toToolMessages(provider, chatCalls("a", "b"), { entries: output })).toEqual(expected);
  });

  it.each<[ProviderName, string, string]>([
    ["mistral", "tool_call_id", "tool_calls"],
    ["mistral-sdk", "toolCallId", "toolCalls"],
  ])("go to %s under ids of nine letters and digits, the same on both sides", (provider, key, callsKey) => {
    const calls = chatCalls("call_with_long_id", "D681PevKs", "call-other");
    const messages = toToolMessages(provider, calls, [entry("D681PevKs", "ok")]);
    const ids = messages.map((message) => Reflect.get(message, key));
    expect(ids[1]).toBe("D681PevKs");
    expect(new Set(ids).size).toBe(3);
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
    expect(toToolMessages("bedrock", chatCalls("a"), [entry("a", result)])[0]?.content[0]?.toolResult.content).toEqual([block]);
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
    expect(toToolMessages("openai-chat", chatCalls("a"), [{ ...entry("a", 1), content: "\uD83D!" }])[0]?.content).toBe("\uFFFD!");
  });

  it("without content are written from the result", () => {
    const { content: _content, ...bare } = entry("a", { grams: 1 });
    const messages = toToolMessages("openai-chat", chatCalls("a"), JSON.parse(JSON.stringify([bare])));
    expect(messages[0]?.content).toBe('{"grams":1}');
  });
});

describe("the assistant's turn", () => {
  it.each<[ProviderName, object]>([
    ["openai-chat", {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
    }],
    ["openai-responses", [{ type: "function_call", call_id: "a", name: "weigh", arguments: argsText }]],
    ["openai-agents", [{ type: "function_call", callId: "a", name: "weigh", status: "completed", arguments: argsText }]],
    ["anthropic", { role: "assistant", content: [{ type: "tool_use", id: "a", name: "weigh", input: args }] }],
    ["gemini", { role: "model", parts: [{ functionCall: { name: "weigh", args } }] }],
    ["cohere", {
      role: "assistant",
      tool_calls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
    }],
    ["cohere-sdk", {
      role: "assistant",
      toolCalls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
    }],
    ["ollama", { role: "assistant", content: "", tool_calls: [{ id: "a", function: { name: "weigh", arguments: args } }] }],
    ["bedrock", { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: "weigh", input: args } }] }],
    ["ai-sdk", { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "weigh", input: args }] }],
    ["langchain", { role: "assistant", content: "", tool_calls: [{ type: "tool_call", id: "a", name: "weigh", args }] }],
    ["mcp", [{ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "weigh", arguments: args } }]],
  ])("is written for %s", (provider, expected) => {
    expect(toAssistantMessage(provider, chatCalls("a"))).toEqual(expected);
  });

  it.each<ProviderName>(["openai-chat", "openai-responses", "mistral", "bedrock", "anthropic", "ollama", "gemini"])(
    "bears {} for arguments that could not be read, and a name: %s",
    (provider) => {
      const calls = normalizeToolCalls([
        { id: "a", type: "function", function: { name: "weigh", arguments: '{"kg": ' } },
        { id: "b", type: "function", function: { arguments: "[1]" } },
      ]);
      const written = JSON.stringify(toAssistantMessage(provider, calls));
      expect(written).not.toContain("kg");
      expect(written.match(/"(\{\})"|:\{\}/g)).toHaveLength(2);
      expect(written).toContain("unnamed_tool");
    },
  );

  it("has well-formed arguments", () => {
    const calls = normalizeToolCalls([{ name: "weigh", arguments: { "a\uD800": "\uD800" } }]);
    expect(toAssistantMessage("anthropic", calls).content[0]?.input).toEqual({ "a\uFFFD": "\uFFFD" });
  });
});

describe("custom calls", () => {
  const calls = normalizeToolCalls([{ type: "custom_tool_call", call_id: "c", name: "sql", input: "select \uD800" }]);

  it("go back as text where the provider has them", () => {
    expect(toAssistantMessage("openai-chat", calls)).toMatchObject({
      tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "select \uFFFD" } }],
    });
    expect(toAssistantMessage("openai-responses", calls)).toEqual([
      { type: "custom_tool_call", call_id: "c", name: "sql", input: "select \uFFFD" },
    ]);
    expect(toToolMessages("openai-responses", calls, [entry("c", "one row")])).toEqual([
      { type: "custom_tool_call_output", call_id: "c", output: "one row" },
    ]);
  });

  it("go back as an object elsewhere", () => {
    expect(toAssistantMessage("anthropic", calls).content[0]?.input).toEqual({ input: "select \uFFFD" });
    expect(toAssistantMessage("mistral", calls).tool_calls[0]?.function.arguments).toBe('{"input":"select \uFFFD"}');
  });
});

describe("what a provider sent goes back to it", () => {
  it("openai-chat: the older call, answered by its name", () => {
    const calls = normalizeToolCalls({ role: "assistant", content: null, function_call: { name: "weigh", arguments: "{}" } });
    expect(toAssistantMessage("openai-chat", calls)).toEqual({
      role: "assistant",
      content: null,
      function_call: { name: "weigh", arguments: "{}" },
    });
    expect(toToolMessages("openai-chat", calls, [entry("call_1", 2)])).toEqual([{ role: "function", name: "weigh", content: "2" }]);
  });

  it("openai-chat: what a gateway to Gemini adds to a call", () => {
    const extra = { google: { thought_signature: "c2ln" } };
    const call = { id: "a", type: "function", function: { name: "weigh", arguments: "{}" }, extra_content: extra };
    expect(toAssistantMessage("openai-chat", normalizeToolCalls([call]))).toMatchObject({ tool_calls: [call] });
  });

  it("gemini: ids that it sent, and no others; signatures", () => {
    const calls = normalizeToolCalls([
      { functionCall: { id: "g1", name: "weigh", args }, thoughtSignature: "c2ln" },
      { functionCall: { name: "weigh", args } },
    ]);
    expect(toAssistantMessage("gemini", calls).parts).toEqual([
      { functionCall: { id: "g1", name: "weigh", args }, thoughtSignature: "c2ln" },
      { functionCall: { name: "weigh", args } },
    ]);
    expect(toToolMessages("gemini", calls, [])[0]?.parts.map((part) => part.functionResponse.id)).toEqual(["g1", undefined]);
  });

  it("ollama: ids that it sent, and no others", () => {
    const calls = normalizeToolCalls([{ function: { name: "weigh", arguments: args } }]);
    expect(toToolMessages("ollama", calls, [entry("call_1", "ok")])).toEqual([{ role: "tool", tool_name: "weigh", content: "ok" }]);
    expect(toAssistantMessage("ollama", calls).tool_calls).toEqual([{ function: { name: "weigh", arguments: args } }]);
    expect(toToolMessages("ollama", normalizeToolCalls([{ functionCall: { id: "g", name: "weigh" } }]), [])[0]).not.toHaveProperty(
      "tool_call_id",
    );
  });

  it.each([4, "4", "req-4", 0])("mcp: the id %j in its own type", (id) => {
    const request = { jsonrpc: "2.0", id, method: "tools/call", params: { name: "weigh", arguments: args } };
    const calls = normalizeToolCalls(request);
    expect(toToolMessages("mcp", calls, [])[0]?.id).toBe(id);
    expect(toAssistantMessage("mcp", calls)).toEqual([request]);
  });

  it.each<[ProviderName, object, RegExp]>([
    ["anthropic", { type: "tool_use", id: "functions.weigh:0", name: "weigh", input: {} }, /^toolu_[A-Za-z0-9]{24}$/],
    ["bedrock", { toolUse: { toolUseId: "functions.weigh:0", name: "weigh", input: {} } }, /^tooluse_[A-Za-z0-9]{24}$/],
  ])("%s: an id as it sent it; one of another provider as it takes it", (provider, raw, fitting) => {
    const own = JSON.stringify([toAssistantMessage(provider, normalizeToolCalls([raw])), toToolMessages(provider, normalizeToolCalls([raw]), [])]);
    expect(own.split('"functions.weigh:0"')).toHaveLength(3);
    const foreign = chatCalls("functions.weigh:0", "fits_-1");
    const written = JSON.stringify([toAssistantMessage(provider, foreign), toToolMessages(provider, foreign, [])]);
    const ids = [...written.matchAll(/"(?:id|tool_use_id|toolUseId)":"([^"]+)"/g)].map((match) => match[1]);
    expect(ids).toEqual([expect.stringMatching(fitting), "fits_-1", ids[0], "fits_-1"]);
  });

  it("a raw call that does not bear the call's id is not believed", () => {
    const [call] = normalizeToolCalls([{ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "weigh" } }]);
    expect(toToolMessages("mcp", normalizeToolCalls([{ ...call, id: "5" }]), [])[0]?.id).toBe("5");
    expect(toToolMessages("mcp", normalizeToolCalls([{ ...call, raw_call: null }]), [])[0]?.id).toBe("4");
  });
});

describe("what can't be written", () => {
  const unchecked = (value: unknown) => JSON.parse(JSON.stringify(value));

  it.each<[string, () => unknown, string]>([
    ["an unknown provider", () => toToolMessages(unchecked("abacus"), [], []), "one of langchain, "],
    ["an inherited name", () => toAssistantMessage(unchecked("constructor"), chatCalls("a")), "one of langchain, "],
    ["a turn without calls", () => toAssistantMessage("mistral", []), "no calls"],
    ["no entries", () => toToolMessages("mistral", chatCalls("a"), unchecked({})), "The output must be the entries"],
    ["entries that are none", () => toToolMessages("mistral", chatCalls("a"), unchecked([{ id: "a" }])), "Entry 0 must be"],
    ["entries without ids", () => toToolMessages("mistral", chatCalls("a"), unchecked([{ success: true }])), "Entry 0 must be"],
  ])("%s is refused", (_kind, run, text) => {
    expect(run).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS", message: expect.stringContaining(text) }));
  });
});
