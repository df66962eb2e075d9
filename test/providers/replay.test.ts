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

const _output = [entry("b", { error: "It slipped." }, "It slipped."), entry("a", { grams: 2000 })];
const _slipped = '{"error":"It slipped."}';
const args = { kg: 2 };
const argsText = '{"kg":2}';

describe("the assistant's turn", () => {
  it.each<[ProviderName, object]>([
    [
      "openai-chat",
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
      },
    ],
    ["openai-responses", [{ type: "function_call", call_id: "a", name: "weigh", arguments: argsText }]],
    [
      "openai-agents",
      [{ type: "function_call", callId: "a", name: "weigh", status: "completed", arguments: argsText }],
    ],
    ["anthropic", { role: "assistant", content: [{ type: "tool_use", id: "a", name: "weigh", input: args }] }],
    ["gemini", { role: "model", parts: [{ functionCall: { name: "weigh", args } }] }],
    [
      "cohere",
      {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
      },
    ],
    [
      "cohere-sdk",
      {
        role: "assistant",
        toolCalls: [{ id: "a", type: "function", function: { name: "weigh", arguments: argsText } }],
      },
    ],
    [
      "ollama",
      { role: "assistant", content: "", tool_calls: [{ id: "a", function: { name: "weigh", arguments: args } }] },
    ],
    ["bedrock", { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: "weigh", input: args } }] }],
    [
      "ai-sdk",
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "weigh", input: args }] },
    ],
    [
      "langchain",
      { role: "assistant", content: "", tool_calls: [{ type: "tool_call", id: "a", name: "weigh", args }] },
    ],
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

describe("names that models make up", () => {
  const long = "get".repeat(50);

  it.each<[ProviderName, string, string]>([
    ["openai-chat", "multi_tool_use.parallel", "multi_tool_use_parallel"],
    ["openai-chat", long, `${long.slice(0, 57)}_cFBonM`],
    ["openai-responses", "get weather", "get_weather"],
    ["anthropic", "functions.weigh:0", "functions_weigh_0"],
    ["anthropic", long, `${long.slice(0, 121)}_cFBonM`],
    ["bedrock", "$weigh<|x|>", "_weigh__x__"],
    ["mistral", "wiegen_\u00fc\u{1F600}", "wiegen___"],
    ["gemini", "default_api.weigh", "default_api.weigh"],
    ["gemini", "2 weigh", "_2_weigh"],
    ["gemini", long, `${long.slice(0, 121)}_cFBonM`],
    ["ollama", "functions.weigh", "functions.weigh"],
    ["mcp", "scale/weigh.now", "scale/weigh.now"],
  ])("go back to %s as it takes them: %s", (provider, name, fitting) => {
    const calls = normalizeToolCalls([{ id: "a", type: "function", function: { name, arguments: "{}" } }]);
    const written = JSON.stringify(toAssistantMessage(provider, calls));
    expect(written).toContain(`"name":${JSON.stringify(fitting)}`);
  });

  it("stay apart where they differ only behind what is kept of them", () => {
    const calls = normalizeToolCalls(
      ["a", "b"].map((id) => ({ id, type: "function", function: { name: long + id, arguments: "{}" } })),
    );
    const { tool_calls = [] } = toAssistantMessage("openai-chat", calls);
    expect(new Set(tool_calls.map((call) => JSON.stringify({ ...call, id: "" }))).size).toBe(2);
  });

  it.each<ProviderName>(["gemini", "mistral", "ai-sdk", "langchain"])("are the same in the results: %s", (provider) => {
    const calls = normalizeToolCalls([{ id: "a", type: "function", function: { name: "weigh now", arguments: "{}" } }]);
    expect(JSON.stringify(toToolMessages(provider, calls, []))).toContain('"weigh_now"');
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
    const calls = normalizeToolCalls({
      role: "assistant",
      content: null,
      function_call: { name: "weigh", arguments: "{}" },
    });
    expect(toAssistantMessage("openai-chat", calls)).toEqual({
      role: "assistant",
      content: null,
      function_call: { name: "weigh", arguments: "{}" },
    });
    expect(toToolMessages("openai-chat", calls, [entry("call_1", 2)])).toEqual([
      { role: "function", name: "weigh", content: "2" },
    ]);
  });

  it("openai-chat: what a gateway to Gemini adds to a call", () => {
    const extra = { google: { thought_signature: "c2ln" } };
    const call = { id: "a", type: "function", function: { name: "weigh", arguments: "{}" }, extra_content: extra };
    expect(toAssistantMessage("openai-chat", normalizeToolCalls([call]))).toMatchObject({ tool_calls: [call] });
  });

  it("openai-chat: the older call among others is written as they are", () => {
    const older = normalizeToolCalls({
      role: "assistant",
      content: null,
      function_call: { name: "a", arguments: "{}" },
    });
    const calls = [...older, ...normalizeToolCalls([{ id: "b", function: { name: "b", arguments: "{}" } }])];
    expect(toAssistantMessage("openai-chat", calls)).toMatchObject({ tool_calls: [{ id: "call_1" }, { id: "b" }] });
  });

  it("gemini: an id that is a number does not go back", () => {
    const calls = normalizeToolCalls([{ functionCall: { id: 7, name: "a", args: {} } }]);
    expect(toAssistantMessage("gemini", calls).parts[0]?.functionCall).not.toHaveProperty("id");
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
    expect(toToolMessages("gemini", calls, [])[0]?.parts.map((part) => part.functionResponse.id)).toEqual([
      "g1",
      undefined,
    ]);
  });

  it("ollama: ids that it sent, and no others", () => {
    const calls = normalizeToolCalls([{ function: { name: "weigh", arguments: args } }]);
    expect(toToolMessages("ollama", calls, [entry("call_1", "ok")])).toEqual([
      { role: "tool", tool_name: "weigh", content: "ok" },
    ]);
    expect(toAssistantMessage("ollama", calls).tool_calls).toEqual([{ function: { name: "weigh", arguments: args } }]);
    expect(
      toToolMessages("ollama", normalizeToolCalls([{ functionCall: { id: "g", name: "weigh" } }]), [])[0],
    ).not.toHaveProperty("tool_call_id");
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
    const own = JSON.stringify([
      toAssistantMessage(provider, normalizeToolCalls([raw])),
      toToolMessages(provider, normalizeToolCalls([raw]), []),
    ]);
    expect(own.split('"functions.weigh:0"')).toHaveLength(3);
    const foreign = chatCalls("functions.weigh:0", "fits_-1");
    const written = JSON.stringify([toAssistantMessage(provider, foreign), toToolMessages(provider, foreign, [])]);
    const ids = [...written.matchAll(/"(?:id|tool_use_id|toolUseId)":"([^"]+)"/g)].map((match) => match[1]);
    expect(ids).toEqual([expect.stringMatching(fitting), "fits_-1", ids[0], "fits_-1"]);
  });

  it.each<[ProviderName, number, string]>([
    ["openai-chat", 40, "tool_call_id"],
    ["openai-responses", 64, "call_id"],
  ])("%s: ids of another provider of at most %i characters", (provider, length, key) => {
    const ids = ["x".repeat(length), "x".repeat(length + 1), "y".repeat(length + 1)];
    const calls = normalizeToolCalls(ids.map((id) => ({ type: "tool_use", id, name: "weigh", input: {} })));
    const results = JSON.stringify(toToolMessages(provider, calls, []));
    const sent = [...results.matchAll(new RegExp(`"${key}":"([^"]+)"`, "g"))].map((match) => match[1]);
    expect(sent).toEqual([ids[0], expect.stringMatching(/^call_\w{24}$/), expect.stringMatching(/^call_\w{24}$/)]);
    expect(new Set(sent).size).toBe(3);
    const turn = JSON.stringify(toAssistantMessage(provider, calls));
    expect(sent.filter((id) => !turn.includes(`"${id}"`))).toEqual([]);
  });

  it("a raw call that does not bear the call's id is not believed", () => {
    const [call] = normalizeToolCalls([{ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "weigh" } }]);
    expect(toToolMessages("mcp", normalizeToolCalls([{ ...call, id: "5" }]), [])[0]?.id).toBe("5");
    expect(toToolMessages("mcp", normalizeToolCalls([{ ...call, raw_call: null }]), [])[0]?.id).toBe("4");
  });
});
