import { isJsonObject, type JsonObject } from "../core/json.js";
import { chatTurn } from "./chat-turn.js";
import { hasOwn, isOneOf, own } from "./own-property.js";
import type { FoundCall, Provider, WireCall } from "./provider.js";
import { shortId } from "./wire-id.js";

/**
 * OpenAI chat completions, which most gateways and local servers speak too; with the older `function_call`.
 * It takes any assistant's message, also one without calls, so it stands last in the list.
 */
export const openaiChat = {
  name: "openai-chat",

  unwrap: chatTurn,

  passesOver(item) {
    return isOneOf(["text", "refusal"], own(item, "type"));
  },

  readCall: readChatCall,

  wireId(id) {
    return id.length <= 40 ? id : `call_${shortId(id, 24)}`;
  },

  writeCalls(calls) {
    const older = olderCall(calls);
    return older === undefined
      ? { role: "assistant" as const, content: null, tool_calls: calls.map(writeChatCall) }
      : { role: "assistant" as const, content: null, function_call: writeFunction(older) };
  },

  writeResults(results) {
    const older = olderCall(results);
    return older === undefined
      ? results.map(({ id, content }) => ({ role: "tool" as const, tool_call_id: id, content }))
      : [{ role: "function" as const, name: older.name, content: older.content }];
  },
} as const satisfies Provider;

/** A call as the APIs of the chat family list it. */
export function readChatCall(item: JsonObject): FoundCall | undefined {
  const id = own(item, "id");
  const custom = own(item, "custom");
  if (isJsonObject(custom)) return { type: "custom", id, name: own(custom, "name"), arguments: own(custom, "input") };
  const called = own(item, "function") ?? own(item, "function_call") ?? (isFlat(item) ? item : undefined);
  if (!isJsonObject(called) || isStreamPiece(item, called)) return undefined;
  return { type: "function", id, name: own(called, "name"), arguments: own(called, "arguments") };
}

/** `{ name, arguments }`: the older call by itself, and what some gateways list. */
function isFlat(item: JsonObject): boolean {
  return hasOwn(item, "name") && hasOwn(item, "arguments") && !hasOwn(item, "type");
}

// The later pieces of a streamed call bear its index alone. The first one looks whole, with empty arguments: a list that
// holds a later piece is refused altogether.
function isStreamPiece(item: JsonObject, called: JsonObject): boolean {
  return typeof own(item, "index") === "number" && !hasOwn(item, "id") && !hasOwn(called, "name");
}

function writeChatCall(call: WireCall) {
  const { id, type, name, text, raw } = call;
  if (type === "custom") return { id, type: "custom" as const, custom: { name, input: text } };
  // Where Gemini speaks this shape, its thought signature comes here and must go back.
  const extra = own(raw, "extra_content");
  return extra === undefined ? writeFunctionCall(call) : { ...writeFunctionCall(call), extra_content: extra };
}

/** A call as an API of the chat family wants it that knows no custom calls: their text goes as `{ input: text }`. */
export function writeFunctionCall(call: WireCall) {
  return { id: call.id, type: "function" as const, function: writeFunction(call) };
}

function writeFunction({ name, arguments: args }: WireCall) {
  return { name, arguments: JSON.stringify(args) };
}

/** The one call of a turn that used `function_call`: it has no id, and its result goes back by name. */
function olderCall<Call extends WireCall>(calls: readonly Call[]): Call | undefined {
  const [call] = calls;
  return calls.length === 1 && isJsonObject(own(call?.raw, "function_call")) ? call : undefined;
}
