import { isOneOf, own } from "./own-property.js";
import type { Provider } from "./provider.js";

/** The protocol of the OpenAI Agents SDK for JavaScript; its turns are lists under `output`, as of Responses. */
export const openaiAgents = {
  name: "openai-agents",

  passesOver(item) {
    return own(item, "type") === "hosted_tool_call";
  },

  readCall(item) {
    const id = own(item, "callId");
    if (own(item, "type") !== "function_call" || id === undefined) return undefined;
    const isCutOff = isOneOf(["incomplete", "in_progress"], own(item, "status"));
    return { type: "function", id, name: own(item, "name"), arguments: own(item, "arguments"), isCutOff };
  },

  writeCalls(calls) {
    return calls.map(({ id, name, arguments: args }) => ({
      type: "function_call" as const,
      callId: id,
      name,
      status: "completed" as const,
      arguments: JSON.stringify(args),
    }));
  },

  writeResults(results) {
    return results.map(({ id, name, content }) => ({
      type: "function_call_result" as const,
      callId: id,
      name,
      status: "completed" as const,
      output: { type: "text" as const, text: content },
    }));
  },
} as const satisfies Provider;
