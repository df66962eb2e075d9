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
const mcpCall = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "weather", arguments: oslo } };
const message = (fields: object) => ({ role: "assistant", content: null, ...fields });
const responsesText = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] };

describe("a call is read", () => {
  it.each<[string, unknown, string]>([
    [
      "openai-chat, a response",
      { choices: [{ index: 0, message: message({ tool_calls: [chat] }), finish_reason: "tool_calls" }] },
      "call_9",
    ],
    ["openai-chat, a choice", { message: message({ tool_calls: [chat] }) }, "call_9"],
    ["openai-chat, a message", message({ tool_calls: [chat] }), "call_9"],
    [
      "openai-chat, a message with parts",
      message({ content: [{ type: "text", text: "" }], tool_calls: [chat] }),
      "call_9",
    ],
    ["openai-chat, the older call", { choices: [{ message: message({ function_call: chat.function }) }] }, "call_1"],
    ["openai-chat, the older call by itself", chat.function, "call_1"],
    ["openai-chat, a flat call", [{ id: "call_9", name: "weather", arguments: text }], "call_9"],
    [
      "openai-responses, a response",
      { status: "completed", output: [{ type: "reasoning" }, responsesText, responsesCall] },
      "call_9",
    ],
    ["openai-responses, without call_id", [{ ...responsesCall, call_id: undefined }], "call_1"],
    [
      "openai-agents, a response",
      { usage: {}, output: [responsesText, { type: "hosted_tool_call", name: "x" }, agentsCall] },
      "call_9",
    ],
    [
      "anthropic, a response",
      { type: "message", role: "assistant", content: [{ type: "thinking" }, toolUse], stop_reason: "tool_use" },
      "toolu_9",
    ],
    ["anthropic, a message", { role: "assistant", content: [{ type: "text", text: "" }, toolUse] }, "toolu_9"],
    [
      "gemini, a response",
      {
        candidates: [{ content: { role: "model", parts: [{ text: "", thought: true }, part] }, finishReason: "STOP" }],
      },
      "call_1",
    ],
    ["gemini, a content", { role: "model", parts: [part] }, "call_1"],
    ["gemini, with an id", [{ functionCall: { ...part.functionCall, id: "g9" }, thoughtSignature: "c2ln" }], "g9"],
    ["gemini, its list of calls", [part.functionCall], "call_1"],
    [
      "mistral, a response",
      { choices: [{ message: message({ tool_calls: [{ ...chat, type: undefined, index: 0 }] }) }] },
      "call_9",
    ],
    [
      "mistral, its client's",
      { choices: [{ message: message({ toolCalls: [chat] }), finishReason: "tool_calls" }] },
      "call_9",
    ],
    [
      "cohere, a response",
      { finish_reason: "TOOL_CALL", message: { role: "assistant", tool_plan: "I will.", tool_calls: [chat] } },
      "call_9",
    ],
    [
      "cohere, its client's",
      { finishReason: "TOOL_CALL", message: { role: "assistant", toolCalls: [chat] } },
      "call_9",
    ],
    ["cohere, version 1", { text: "", tool_calls: [{ name: "weather", parameters: oslo }] }, "call_1"],
    [
      "ollama, a response",
      {
        model: "m",
        done: true,
        message: message({ content: "", tool_calls: [{ function: { name: "weather", arguments: oslo } }] }),
      },
      "call_1",
    ],
    ["ollama, with an id", [{ id: "call_9", function: { index: 0, name: "weather", arguments: oslo } }], "call_9"],
    [
      "bedrock, a response",
      { output: { message: { role: "assistant", content: [{ text: "" }, use] } }, stopReason: "tool_use" },
      "tooluse_9",
    ],
    ["bedrock, a message", { role: "assistant", content: [use] }, "tooluse_9"],
    ["bedrock, its inner calls", [use.toolUse], "tooluse_9"],
    [
      "ai-sdk, a result",
      {
        steps: [
          { content: [], finishReason: "stop" },
          { content: [{ type: "text" }, sdkCall], finishReason: "tool-calls" },
        ],
      },
      "c9",
    ],
    [
      "ai-sdk, a model's answer",
      { content: [{ ...sdkCall, input: text }], finishReason: { unified: "tool-calls", raw: "x" } },
      "c9",
    ],
    ["ai-sdk, a message", { role: "assistant", content: [{ type: "text", text: "" }, sdkCall] }, "c9"],
    ["ai-sdk, its list of calls", { toolCalls: [sdkCall], finishReason: "tool-calls" }, "c9"],
    ["ai-sdk, version 4", [{ type: "tool-call", toolCallId: "c9", toolName: "weather", args: oslo }], "c9"],
    [
      "langchain, a message",
      { content: "", tool_calls: [langchainCall], invalid_tool_calls: [], response_metadata: {} },
      "c9",
    ],
    [
      "langchain, a serialized message",
      { lc: 1, type: "constructor", id: [], kwargs: { content: "", tool_calls: [langchainCall] } },
      "c9",
    ],
    [
      "langchain, blocks beside calls",
      { content: [toolUse], tool_calls: [{ ...langchainCall, id: "toolu_9" }], response_metadata: {} },
      "toolu_9",
    ],
    ["langchain, blocks alone", { content: [{ type: "reasoning" }, langchainCall], response_metadata: {} }, "c9"],
    ["langchain, without a type", [{ id: "c9", name: "weather", args: oslo }], "c9"],
    ["langchain, with more beside", [{ id: "c9", name: "weather", args: oslo, index: 0 }], "c9"],
    ["openai-chat, an empty list beside", message({ tool_calls: [], toolCalls: [chat] }), "call_9"],
    ["openai-chat, with an index", [{ ...chat, index: 0 }], "call_9"],
    ["mcp, a request", mcpCall, "9"],
    ["mcp, a batch", [mcpCall], "9"],
  ])("%s", (_kind, raw, id) => {
    const calls = normalizeToolCalls(raw);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ id, index: 0, type: "function", name: "weather", arguments: oslo });
    expect(calls[0]).not.toHaveProperty("error");
  });

  it.each<[string, unknown]>([
    ["openai-chat", [{ id: "c9", type: "custom", custom: { name: "sql", input: "select 1" } }]],
    ["openai-responses", [{ type: "custom_tool_call", id: "ctc_1", call_id: "c9", name: "sql", input: "select 1" }]],
  ])("%s, a custom one", (_kind, raw) => {
    expect(normalizeToolCalls(raw)).toMatchObject([
      { id: "c9", type: "custom", name: "sql", arguments: { input: "select 1" }, raw_arguments: "select 1" },
    ]);
  });

  it("langchain, one that LangChain could not read", () => {
    const bad = { type: "invalid_tool_call", id: "c8", name: "weather", args: '{"city":', error: "Malformed args." };
    const calls = normalizeToolCalls({ tool_calls: [langchainCall], invalid_tool_calls: [bad] });
    expect(calls).toMatchObject([{ id: "c9" }, { id: "c8", arguments: null, error: { code: "INVALID_ARGUMENTS" } }]);
  });

  it.each<[string, unknown]>([
    ["gemini, no arguments", [{ functionCall: { name: "now" } }]],
    ["gemini, its list, no arguments", [{ id: "g", name: "now" }]],
    ["mcp, no arguments", [{ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "now" } }]],
    ["ai-sdk, null", [{ type: "tool-call", toolCallId: "c", toolName: "now", input: null }]],
    ["cohere, the text null", [{ id: "c", type: "function", function: { name: "now", arguments: "null" } }]],
  ])("%s are {}", (_kind, raw) => {
    expect(normalizeToolCalls(raw)).toMatchObject([{ name: "now", arguments: {} }]);
  });
});
