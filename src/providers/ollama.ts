import { readChatCall } from "./openai-chat.js";
import type { Provider } from "./provider.js";

/** Ollama `/api/chat`. Its turns are read as those of openai-chat. Ids go back only where the server sent them. */
export const ollama = {
  name: "ollama",

  readCall: readChatCall,

  wireName: (name) => name,

  writeCalls(calls) {
    const toolCalls = calls.map(({ sentId, name, arguments: args }) => {
      const call = { function: { name, arguments: args } };
      return sentId === undefined ? call : { id: sentId, ...call };
    });
    return { role: "assistant" as const, content: "", tool_calls: toolCalls };
  },

  writeResults(results) {
    return results.map(({ sentId, name, content }) => {
      const message = { role: "tool" as const, tool_name: name, content };
      return sentId === undefined ? message : { ...message, tool_call_id: sentId };
    });
  },
} as const satisfies Provider;
