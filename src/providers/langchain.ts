import type { JsonObject } from "../core/json.js";
import { hasOwn, isOneOf, own, ownList } from "./own-property.js";
import type { Provider } from "./provider.js";

const passedOver = ["text", "reasoning", "server_tool_call", "server_tool_call_result", "non_standard"];
const reasonKeys = ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"];
const cutOff = [
  "length",
  "content_filter",
  "max_tokens",
  "model_context_window_exceeded",
  "MAX_TOKENS",
  "model_length",
];

/**
 * LangChain: an `AIMessage`, alive or serialized, or its `tool_calls`. Calls that LangChain could not read are calls
 * too. The provider's reason to stop is in `response_metadata`.
 */
export const langchain = {
  name: "langchain",

  unwrap(value) {
    const serialized = hasOwn(value, "lc") ? own(value, "kwargs") : undefined;
    const message = serialized ?? value;
    const marks = ["response_metadata", "invalid_tool_calls"];
    if (serialized === undefined && !marks.some((key) => hasOwn(message, key))) return undefined;
    const calls = [...(ownList(message, "tool_calls") ?? []), ...(ownList(message, "invalid_tool_calls") ?? [])];
    const metadata = own(message, "response_metadata");
    const isCutOff = reasonKeys.some((key) => isOneOf(cutOff, own(metadata, key)));
    return { items: calls.length > 0 ? calls : (ownList(message, "content") ?? []), isCutOff };
  },

  passesOver(item) {
    return isOneOf(passedOver, own(item, "type"));
  },

  readCall(item) {
    if (!isOneOf(["tool_call", "invalid_tool_call"], own(item, "type")) && !isFlat(item)) return undefined;
    return { type: "function", id: own(item, "id"), name: own(item, "name"), arguments: own(item, "args") };
  },

  writeCalls(calls) {
    const toolCalls = calls.map(({ id, name, arguments: args }) => ({ type: "tool_call" as const, id, name, args }));
    return { role: "assistant" as const, content: "", tool_calls: toolCalls };
  },

  writeResults(results) {
    return results.map(({ id, name, isError, content }) => ({
      role: "tool" as const,
      tool_call_id: id,
      name,
      content,
      status: isError ? ("error" as const) : ("success" as const),
    }));
  },
} as const satisfies Provider;

/** `{ name, args }`: the type may be missing. */
function isFlat(item: JsonObject): boolean {
  return hasOwn(item, "name") && hasOwn(item, "args") && !hasOwn(item, "type");
}
