import { describe, expect, it } from "vitest";
import { normalizeToolCalls } from "../../src/providers/index.js";

const oslo = { city: "Oslo" };
const text = '{"city":"Oslo"}';
const chat = { id: "call_9", type: "function", function: { name: "weather", arguments: text } };
const toolUse = { type: "tool_use", id: "toolu_9", name: "weather", input: oslo };
const part = { functionCall: { name: "weather", args: oslo } };
const use = { toolUse: { toolUseId: "tooluse_9", name: "weather", input: oslo } };
const responsesCall = { type: "function_call", id: "fc_1", call_id: "call_9", name: "weather", arguments: text };
const agentsCall = { type: "function_call", id: "fc_1", callId: "call_9", name: "weather", arguments: text };
const sdkCall = { type: "tool-call", toolCallId: "c9", toolName: "weather", input: oslo };
const langchainCall = { type: "tool_call", id: "c9", name: "weather", args: oslo };
const _mcpCall = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "weather", arguments: oslo } };
const message = (fields: object) => ({ role: "assistant", content: null, ...fields });
const _responsesText = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] };

describe("what is passed over", () => {
  it.each<[string, unknown, number]>([
    [
      "anthropic: its own tools",
      {
        type: "message",
        content: [
          { type: "text", text: "I search." },
          { type: "redacted_thinking", data: "x" },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
          { type: "mcp_tool_use", id: "mcptoolu_1", name: "x", input: {} },
          { type: "mcp_tool_result", tool_use_id: "mcptoolu_1" },
          { type: "mcp_tool_listing", mcp_server_name: "x", tools: [] },
          { type: "fallback", from: { model: "a" }, to: { model: "b" } },
          toolUse,
        ],
      },
      1,
    ],
    [
      "openai-responses: its own tools",
      {
        output: [
          { type: "web_search_call", id: "ws_1", status: "completed" },
          { type: "mcp_call", id: "mcp_1", name: "x", arguments: "{}" },
          { type: "tool_search_call", execution: "server", call_id: null, arguments: {} },
          { type: "message", content: [] },
          { type: "program", id: "p_1", call_id: "call_p", code: "1", fingerprint: "x" },
          { type: "program_output", id: "po_1", call_id: "call_p", result: "1", status: "completed" },
          { type: "shell_call", call_id: "call_s", environment: { type: "container_reference", container_id: "c" } },
          { type: "shell_call_output", call_id: "call_s", output: [] },
          responsesCall,
        ],
      },
      1,
    ],
    [
      "gemini: its own tools",
      {
        role: "model",
        parts: [{ executableCode: { code: "1" } }, { codeExecutionResult: {} }, { toolCall: {} }, part],
      },
      1,
    ],
    [
      "bedrock: its own tools",
      [
        { toolUse: { ...use.toolUse, toolUseId: "srv", type: "server_tool_use" } },
        { toolResult: { toolUseId: "x" } },
        use,
      ],
      1,
    ],
    [
      "ai-sdk: the provider's tools",
      [{ ...sdkCall, toolCallId: "p", providerExecuted: true }, { type: "reasoning" }, sdkCall],
      1,
    ],
    [
      "ai-sdk: what the SDK has answered",
      {
        finishReason: "tool-calls",
        content: [
          { ...sdkCall, toolCallId: "ran" },
          sdkCall,
          { ...sdkCall, toolCallId: "threw" },
          { type: "tool-result", toolCallId: "ran", output: 1 },
          { type: "tool-error", toolCallId: "threw", error: "x" },
        ],
      },
      1,
    ],
    [
      "langchain: the provider's tools",
      { response_metadata: {}, content: [{ type: "server_tool_call", id: "s", name: "x", args: {} }, langchainCall] },
      1,
    ],
    ["a text alone, langchain", { content: "Done.", tool_calls: [], response_metadata: { finish_reason: "stop" } }, 0],
    ["a text alone, gemini", { candidates: [{ content: { role: "model", parts: [{ text: "Done." }] } }] }, 0],
    ["nothing, gemini", { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }, 0],
    ["no candidate, gemini", { candidates: [], promptFeedback: {} }, 0],
  ])("%s", (_kind, raw, count) => {
    const calls = normalizeToolCalls(raw);
    expect(calls).toHaveLength(count);
    expect(calls.every((call, index) => call.index === index && call.name === "weather")).toBe(true);
  });

  it.each<[string, unknown]>([
    [
      "a search that the client must make",
      { output: [{ type: "tool_search_call", execution: "client", call_id: "c" }] },
    ],
    [
      "a shell that the client must run",
      { output: [{ type: "shell_call", call_id: "c", environment: { type: "local" } }] },
    ],
    ["an answer of ours among the items", { output: [{ type: "function_call_output", call_id: "c", output: "4" }] }],
    ["parts of a person", { role: "user", parts: [{ text: "Hello" }] }],
    ["a block without a known key", { output: { message: { content: [{ hologram: {} }] } } }],
  ])("but not %s", (_kind, raw) => {
    expect(() => normalizeToolCalls(raw)).toThrow(expect.objectContaining({ code: "UNKNOWN_CALL_SHAPE" }));
  });
});

describe("a call that was cut off fails, though its prefix is whole", () => {
  const first = { ...chat, id: "call_8" };

  it.each<[string, unknown]>([
    ["openai-chat", { choices: [{ message: message({ tool_calls: [first, chat] }), finish_reason: "length" }] }],
    [
      "openai-chat, by a filter",
      { choices: [{ message: message({ tool_calls: [first, chat] }), finish_reason: "content_filter" }] },
    ],
    ["a message with its reason", { finish_reason: "length", tool_calls: [first, chat] }],
    ["mistral", { choices: [{ message: message({ tool_calls: [first, chat] }), finish_reason: "model_length" }] }],
    ["mistral's client", { choices: [{ message: message({ toolCalls: [first, chat] }), finishReason: "length" }] }],
    ["cohere", { message: { tool_calls: [first, chat] }, finish_reason: "MAX_TOKENS" }],
    ["ollama", { message: { tool_calls: [first, chat] }, done: true, done_reason: "length" }],
    ["openai-responses", { status: "incomplete", output: [{ ...responsesCall, call_id: "a" }, responsesCall] }],
    [
      "openai-responses, the item",
      [
        { ...responsesCall, call_id: "a" },
        { ...responsesCall, status: "incomplete" },
      ],
    ],
    [
      "openai-agents, the item",
      [
        { ...agentsCall, callId: "a" },
        { ...agentsCall, status: "in_progress" },
      ],
    ],
    ["anthropic", { content: [{ ...toolUse, id: "a" }, toolUse], stop_reason: "max_tokens" }],
    ["gemini", { candidates: [{ content: { parts: [part, part] }, finishReason: "MAX_TOKENS" }] }],
    ["gemini, by a filter", { candidates: [{ content: { parts: [part, part] }, finishReason: "SAFETY" }] }],
    [
      "gemini, a call that is not at its end",
      [part, { functionCall: { ...part.functionCall, partialArgs: [{ jsonPath: "$.city", stringValue: "Os" }] } }],
    ],
    ["gemini, a call that goes on", [part, { functionCall: { ...part.functionCall, willContinue: true } }]],
    [
      "bedrock",
      {
        output: { message: { content: [{ toolUse: { ...use.toolUse, toolUseId: "a" } }, use] } },
        stopReason: "max_tokens",
      },
    ],
    ["ai-sdk", { content: [{ ...sdkCall, toolCallId: "a" }, sdkCall], finishReason: "length" }],
    [
      "ai-sdk, a model's answer",
      { content: [{ ...sdkCall, toolCallId: "a" }, sdkCall], finishReason: { unified: "length" } },
    ],
    [
      "langchain",
      { tool_calls: [{ ...langchainCall, id: "a" }, langchainCall], response_metadata: { stop_reason: "max_tokens" } },
    ],
  ])("%s", (_kind, raw) => {
    const [whole, cut] = normalizeToolCalls(raw);
    expect(whole).toMatchObject({ arguments: oslo });
    expect(cut).toMatchObject({ arguments: null, error: { code: "INVALID_ARGUMENTS" } });
    expect(cut?.error?.message).toContain("cut off");
    expect(cut?.raw_arguments).not.toBe("");
  });

  it("but not a call with a text behind it", () => {
    const content = [toolUse, { type: "text", text: "And now" }];
    expect(normalizeToolCalls({ content, stop_reason: "max_tokens" })).toMatchObject([{ arguments: oslo }]);
  });
});
