import { isOneOf, own } from "./own-property.js";
import type { Provider } from "./provider.js";
import { fitName, shortId } from "./wire-id.js";

/** What the provider ran itself, and what is no call; every result of a server tool ends in `_tool_result`. */
const passedOver = [
  "text",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "mcp_tool_use",
  "mcp_tool_listing",
  "container_upload",
  "compaction",
  "fallback",
];
const cutOff = ["max_tokens", "model_context_window_exceeded", "refusal"];

/** Anthropic Messages. All results go back in one user message, each with `is_error`. */
export const anthropic = {
  name: "anthropic",

  unwrap(value) {
    const content = own(value, "content");
    const reason = own(value, "stop_reason");
    if (!Array.isArray(content) || (reason === undefined && own(value, "type") !== "message")) return undefined;
    return { items: content, isCutOff: isOneOf(cutOff, reason) };
  },

  passesOver(item) {
    const type = own(item, "type");
    return isOneOf(passedOver, type) || (typeof type === "string" && type.endsWith("_tool_result"));
  },

  readCall(item) {
    if (own(item, "type") !== "tool_use") return undefined;
    return { type: "function", id: own(item, "id"), name: own(item, "name"), arguments: own(item, "input") };
  },

  wireId(id) {
    return /^[A-Za-z0-9_-]+$/.test(id) ? id : `toolu_${shortId(id, 24)}`;
  },

  wireName(name) {
    return fitName(name, /[^A-Za-z0-9_-]/gu, 128);
  },

  writeCalls(calls) {
    const content = calls.map(({ id, name, arguments: input }) => ({ type: "tool_use" as const, id, name, input }));
    return { role: "assistant" as const, content };
  },

  writeResults(results) {
    const content = results.map(({ id, isError, content: text }) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: text,
      is_error: isError,
    }));
    return [{ role: "user" as const, content }];
  },
} as const satisfies Provider;
