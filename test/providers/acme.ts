import { isJsonObject } from "../../src/core/json.js";
import { isOneOf, own } from "../../src/providers/own-property.js";
import type { Provider } from "../../src/providers/provider.js";

/** Acme chat: `{ reply: [{ say } | { invoke: { ref, tool, with } }], ended: "done" | "limit" }`. */
export const acme = {
  name: "acme",

  unwrap(value) {
    const reply = own(value, "reply");
    return Array.isArray(reply) ? { items: reply, isCutOff: isOneOf(["limit"], own(value, "ended")) } : undefined;
  },

  passesOver(item) {
    return own(item, "say") !== undefined;
  },

  readCall(item) {
    const invoke = own(item, "invoke");
    if (!isJsonObject(invoke)) return undefined;
    return { type: "function", id: own(invoke, "ref"), name: own(invoke, "tool"), arguments: own(invoke, "with") };
  },

  wireId(id) {
    return id.slice(0, 40);
  },

  writeCalls(calls) {
    return {
      by: "model" as const,
      reply: calls.map((call) => ({ invoke: { ref: call.id, tool: call.name, with: call.arguments } })),
    };
  },

  writeResults(results) {
    return results.map(({ id, isError, content }) => ({
      by: "tool" as const,
      ref: id,
      text: content,
      failed: isError,
    }));
  },
} as const satisfies Provider;
