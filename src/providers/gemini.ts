import { isJsonObject, type JsonObject } from "../core/json.js";
import { hasOwn, isOneOf, own, ownList } from "./own-property.js";
import type { FoundCall, Provider, Turn, WireCall } from "./provider.js";
import { fitName } from "./wire-id.js";

/** A part is known by the key of its data. `toolCall` and `toolResponse` are what the provider ran itself. */
const passedOver = [
  "text",
  "inlineData",
  "fileData",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
  "audioTranscription",
  "thought",
  "thoughtSignature",
];
const cutOff = [
  "MAX_TOKENS",
  "MALFORMED_FUNCTION_CALL",
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "OTHER",
  "CONTINUATION",
];

/**
 * Gemini `generateContent`, of the Developer API and of Vertex AI. An id goes back only where Gemini itself sent it: the
 * one API allows it, the other refuses it. The thought signature of a call goes back on its part.
 */
export const gemini = {
  name: "gemini",

  unwrap(value) {
    if (Array.isArray(own(value, "candidates"))) return partsOf(ownList(value, "candidates")?.[0]) ?? { items: [] };
    return partsOf(value);
  },

  passesOver(item) {
    return !hasOwn(item, "functionCall") && !hasOwn(item, "type") && passedOver.some((key) => hasOwn(item, key));
  },

  readCall(item): FoundCall | undefined {
    const call = callOf(item);
    if (call === undefined) return undefined;
    // Vertex AI can stream the arguments of one call in pieces.
    const isCutOff = own(call, "willContinue") === true || hasOwn(call, "partialArgs");
    return { type: "function", id: own(call, "id"), name: own(call, "name"), arguments: own(call, "args"), isCutOff };
  },

  wireName(name) {
    return fitName(/^[A-Za-z_]/.test(name) ? name : `_${name}`, /[^A-Za-z0-9_.:-]/gu, 128);
  },

  writeCalls(calls) {
    const parts = calls.map((call) => {
      const part = { functionCall: { ...idOf(call), name: call.name, args: call.arguments } };
      const signature = own(call.raw, "thoughtSignature");
      return typeof signature === "string" ? { ...part, thoughtSignature: signature } : part;
    });
    return { role: "model" as const, parts };
  },

  writeResults(results) {
    const parts = results.map((result) => {
      const response = result.isError ? { error: result.content } : { output: result.value };
      return { functionResponse: { ...idOf(result), name: result.name, response } };
    });
    return [{ role: "user" as const, parts }];
  },
} as const satisfies Provider;

/** The turn of a candidate, or of its content by itself. */
function partsOf(candidate: unknown): Turn | undefined {
  const content = own(candidate, "content") ?? candidate;
  const parts = own(content, "parts");
  if (!Array.isArray(parts) || own(content, "role") === "user") return undefined;
  return { items: parts, isCutOff: isOneOf(cutOff, own(candidate, "finishReason")) };
}

/** The part's `functionCall`, or one by itself: `{ name, args? , id? }`. */
function callOf(item: JsonObject): JsonObject | undefined {
  const call = own(item, "functionCall");
  if (call !== undefined) return isJsonObject(call) ? call : undefined;
  const isCall = hasOwn(item, "name") && Object.keys(item).every((key) => ["id", "name", "args"].includes(key));
  return isCall ? item : undefined;
}

function idOf({ sentId }: WireCall): { id?: string } {
  return typeof sentId === "string" ? { id: sentId } : {};
}
