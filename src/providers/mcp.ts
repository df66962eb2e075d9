import { isJsonObject } from "../core/json.js";
import { own } from "./own-property.js";
import type { Provider, WireCall } from "./provider.js";

/** MCP `tools/call`: JSON-RPC requests, one a call. The id goes back in its own type, number or text. */
export const mcp = {
  name: "mcp",

  readCall(item) {
    if (own(item, "method") !== "tools/call") return undefined;
    const params = own(item, "params");
    return { type: "function", id: own(item, "id"), name: own(params, "name"), arguments: own(params, "arguments") };
  },

  wireName: (name) => name,

  writeCalls(calls) {
    return calls.map((call) => ({
      jsonrpc: "2.0" as const,
      id: idOf(call),
      method: "tools/call" as const,
      params: { name: call.name, arguments: call.arguments },
    }));
  },

  writeResults(results) {
    return results.map((result) => {
      const { isError, value } = result;
      const content = [{ type: "text" as const, text: result.content }];
      const structured = !isError && isJsonObject(value) ? { structuredContent: value } : {};
      return { jsonrpc: "2.0" as const, id: idOf(result), result: { content, ...structured, isError } };
    });
  },
} as const satisfies Provider;

function idOf({ sentId, id }: WireCall): string | number {
  return sentId ?? id;
}
