import { isJsonObject } from "../core/json.js";
import { hasOwn, isOneOf, own } from "./own-property.js";
import type { Provider, WireJson, WireObject } from "./provider.js";
import { shortId } from "./wire-id.js";

/** A block of content is known by its one key. */
const passedOver = [
  "text",
  "reasoningContent",
  "citationsContent",
  "searchResult",
  "image",
  "document",
  "video",
  "audio",
  "guardContent",
  "cachePoint",
  "toolResult",
];
const cutOff = [
  "max_tokens",
  "model_context_window_exceeded",
  "malformed_tool_use",
  "malformed_model_output",
  "guardrail_intervened",
  "content_filtered",
];

/** Amazon Bedrock Converse. All results go back in one user message, each with a `status`. */
export const bedrock = {
  name: "bedrock",

  unwrap(value) {
    const content = own(own(own(value, "output"), "message"), "content");
    if (!Array.isArray(content)) return undefined;
    return { items: content, isCutOff: isOneOf(cutOff, own(value, "stopReason")) };
  },

  passesOver(item) {
    const toolUse = own(item, "toolUse");
    if (toolUse !== undefined) return own(toolUse, "type") === "server_tool_use";
    return !hasOwn(item, "type") && passedOver.some((key) => hasOwn(item, key));
  },

  readCall(item) {
    const use = own(item, "toolUse") ?? (hasOwn(item, "toolUseId") ? item : undefined);
    if (!isJsonObject(use)) return undefined;
    return { type: "function", id: own(use, "toolUseId"), name: own(use, "name"), arguments: own(use, "input") };
  },

  wireId(id) {
    return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : `tooluse_${shortId(id, 24)}`;
  },

  writeCalls(calls) {
    const content = calls.map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } }));
    return { role: "assistant" as const, content };
  },

  writeResults(results) {
    const content = results.map(({ id, isError, content: text, value }) => ({
      toolResult: {
        toolUseId: id,
        content: [resultBlock(text, value)],
        status: isError ? ("error" as const) : ("success" as const),
      },
    }));
    return [{ role: "user" as const, content }];
  },
} as const satisfies Provider;

/** Converse takes no `json` but an object, and no blank `text`. */
function resultBlock(text: string, value: WireJson): { json: WireObject } | { text: string } {
  if (isJsonObject(value)) return { json: value };
  return text.trim() === "" ? { json: { result: value } } : { text };
}
