import { isOneOf, own, ownList } from "./own-property.js";
import type { Provider, WireJson } from "./provider.js";

const results = ["tool-result", "tool-error"];
const passedOver = ["text", "reasoning", "source", "file", "reasoning-file", "tool-approval-request", ...results];
const cutOff = ["length", "content-filter", "error"];

/**
 * AI SDK 4 to 7: a result, its last step, a message, or what a model provider gives. Calls that the SDK has answered in
 * the same content, by the tool's own `execute`, are passed over as the provider's own.
 */
export const aiSdk = {
  name: "ai-sdk",

  unwrap(value) {
    const step = ownList(value, "steps")?.at(-1) ?? value;
    const reason = own(step, "finishReason");
    const content = own(step, "content");
    if (reason === undefined || !Array.isArray(content)) return undefined;
    const answered = new Set(
      content.filter((part) => isOneOf(results, own(part, "type"))).map((part) => own(part, "toolCallId")),
    );
    // A model provider gives its own reason beside the one that all share.
    const isCutOff = isOneOf(cutOff, own(reason, "unified") ?? reason);
    return { items: content.filter((part) => !answered.has(own(part, "toolCallId"))), isCutOff };
  },

  passesOver(item) {
    const type = own(item, "type");
    return isOneOf(passedOver, type) || (type === "tool-call" && own(item, "providerExecuted") === true);
  },

  readCall(item) {
    if (own(item, "type") !== "tool-call") return undefined;
    const input = own(item, "input") ?? own(item, "args");
    return { type: "function", id: own(item, "toolCallId"), name: own(item, "toolName"), arguments: input };
  },

  writeCalls(calls) {
    const content = calls.map(({ id, name, arguments: input }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input,
    }));
    return { role: "assistant" as const, content };
  },

  writeResults(toWrite) {
    const content = toWrite.map(({ id, name, isError, content: text, value }) => ({
      type: "tool-result" as const,
      toolCallId: id,
      toolName: name,
      output: isError ? { type: "error-text" as const, value: text } : outputOf(value),
    }));
    return [{ role: "tool" as const, content }];
  },
} as const satisfies Provider;

function outputOf(value: WireJson) {
  return typeof value === "string" ? { type: "text" as const, value } : { type: "json" as const, value };
}
