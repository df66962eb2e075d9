import { writeFunctionCall } from "./openai-chat.js";
import type { Provider } from "./provider.js";
import { shortId } from "./wire-id.js";

/** Mistral refuses every id that is not 9 letters and digits. */
function wireId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : shortId(id, 9);
}

/** The Mistral API. Its turns are read as those of openai-chat. */
export const mistral = {
  name: "mistral",

  wireId,

  writeCalls(calls) {
    return { role: "assistant" as const, content: "", tool_calls: calls.map(writeFunctionCall) };
  },

  writeResults(results) {
    return results.map(({ id, name, content }) => ({ role: "tool" as const, name, tool_call_id: id, content }));
  },
} as const satisfies Provider;

/** The same for Mistral's client for JavaScript, which wants camel case and drops what it does not know. */
export const mistralSdk = {
  name: "mistral-sdk",

  wireId,

  writeCalls(calls) {
    return { role: "assistant" as const, content: "", toolCalls: calls.map(writeFunctionCall) };
  },

  writeResults(results) {
    return results.map(({ id, name, content }) => ({ role: "tool" as const, name, toolCallId: id, content }));
  },
} as const satisfies Provider;
