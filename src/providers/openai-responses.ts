import { isOneOf, own } from "./own-property.js";
import type { Provider } from "./provider.js";
import { shortId } from "./wire-id.js";

/** What the provider ran itself, and what is no call. Results of our own calls are not among it. */
const passedOver = [
  "reasoning",
  "compaction",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "program",
  "program_output",
  "shell_call_output",
  "additional_tools",
];
const searches = ["tool_search_call", "tool_search_output"];
const contentParts = ["output_text", "refusal", "audio", "image"];

/** OpenAI Responses. A call is answered by its `call_id`; its `id` names the item. */
export const openaiResponses = {
  name: "openai-responses",

  unwrap(value) {
    const output = own(value, "output");
    return Array.isArray(output) ? { items: output, isCutOff: own(value, "status") === "incomplete" } : undefined;
  },

  passesOver(item) {
    const type = own(item, "type");
    if (isOneOf(searches, type)) return own(item, "execution") !== "client";
    if (type === "shell_call") return own(own(item, "environment"), "type") === "container_reference";
    if (type !== "message") return isOneOf(passedOver, type) || isOneOf(contentParts, type);
    // A whole message of another shape bears the same type, and may hold calls.
    const content = own(item, "content");
    return Array.isArray(content) && content.every((part) => isOneOf(contentParts, own(part, "type")));
  },

  readCall(item) {
    const type = own(item, "type");
    const isCutOff = isOneOf(["incomplete", "in_progress"], own(item, "status"));
    const common = { id: own(item, "call_id"), name: own(item, "name"), isCutOff };
    if (type === "function_call") return { type: "function", ...common, arguments: own(item, "arguments") };
    if (type === "custom_tool_call") return { type: "custom", ...common, arguments: own(item, "input") };
    return undefined;
  },

  wireId(id) {
    return id.length <= 64 ? id : `call_${shortId(id, 24)}`;
  },

  writeCalls(calls) {
    // Without the item's id: one that is sent back must be preceded by the reasoning item it came with.
    return calls.map(({ id, type, name, text, arguments: args }) =>
      type === "custom"
        ? { type: "custom_tool_call" as const, call_id: id, name, input: text }
        : { type: "function_call" as const, call_id: id, name, arguments: JSON.stringify(args) },
    );
  },

  writeResults(results) {
    return results.map(({ id, type, content }) =>
      type === "custom"
        ? { type: "custom_tool_call_output" as const, call_id: id, output: content }
        : { type: "function_call_output" as const, call_id: id, output: content },
    );
  },
} as const satisfies Provider;
