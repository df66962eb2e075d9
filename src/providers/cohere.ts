import type { JsonObject } from "../core/json.js";
import { writeFunctionCall } from "./openai-chat.js";
import { hasOwn, own } from "./own-property.js";
import type { FoundCall, Provider } from "./provider.js";

/** The Cohere API, version 2. Its turns are read as those of openai-chat; calls of version 1 are read too. */
export const cohere = {
  name: "cohere",

  readCall(item: JsonObject): FoundCall | undefined {
    if (!hasOwn(item, "name") || !hasOwn(item, "parameters") || hasOwn(item, "type")) return undefined;
    return { type: "function", id: own(item, "id"), name: own(item, "name"), arguments: own(item, "parameters") };
  },

  writeCalls(calls) {
    return { role: "assistant" as const, tool_calls: calls.map(writeFunctionCall) };
  },

  writeResults(results) {
    return results.map(({ id, content }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: writeDocument(content),
    }));
  },
} as const satisfies Provider;

/** The same for Cohere's client for JavaScript, which wants camel case. */
export const cohereSdk = {
  name: "cohere-sdk",

  writeCalls(calls) {
    return { role: "assistant" as const, toolCalls: calls.map(writeFunctionCall) };
  },

  writeResults(results) {
    return results.map(({ id, content }) => ({
      role: "tool" as const,
      toolCallId: id,
      content: writeDocument(content),
    }));
  },
} as const satisfies Provider;

function writeDocument(content: string) {
  return [{ type: "document" as const, document: { data: content } }];
}
