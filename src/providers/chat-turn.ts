import { hasOwn, isOneOf, own, ownList } from "./own-property.js";
import type { Turn } from "./provider.js";

// The APIs of this family spell their turns alike, and their clients for JavaScript some in camel case. Ollama's reason
// is `done_reason`; Mistral's reasons are `length`, `model_length` and `error`, Cohere's are in capitals.
const callsKeys = ["tool_calls", "toolCalls"];
const reasonKeys = ["finish_reason", "finishReason", "done_reason"];
const cutOff = ["length", "content_filter", "model_length", "error", "MAX_TOKENS", "ERROR", "ERROR_LIMIT", "TIMEOUT"];

/**
 * A turn of `{ choices: [{ message }] }`, of one choice or response `{ message }`, or of the message itself. Of several
 * choices the first is the turn. A message without calls is a turn without calls, if it is an assistant's.
 */
export function chatTurn(value: unknown): Turn | undefined {
  const choices = own(value, "choices");
  if (isEmptyList(choices)) return { items: [] };
  const choice = Array.isArray(choices) ? choices[0] : value;
  const message = own(choice, "message") ?? choice;
  const isCutOff = reasonKeys.some((key) => isOneOf(cutOff, own(choice, key)));
  const items = listOfCalls(message) ?? olderCall(message) ?? otherContent(message);
  return items && { items, isCutOff };
}

function listOfCalls(message: unknown): readonly unknown[] | undefined {
  for (const key of callsKeys) {
    const calls = ownList(message, key);
    if (calls !== undefined) return calls;
  }
  return undefined;
}

/** The older way to call one function. */
function olderCall(message: unknown): readonly unknown[] | undefined {
  const call = own(message, "function_call");
  return isAbsent(call) ? undefined : [{ function_call: call }];
}

/** What the message of an assistant holds beside calls; undefined for all else, a malformed list of calls included. */
function otherContent(message: unknown): readonly unknown[] | undefined {
  if (own(message, "role") !== "assistant" || !hasOwn(message, "content")) return undefined;
  const hasNoCalls = callsKeys.every((key) => isAbsent(own(message, key)) || isEmptyList(own(message, key)));
  const content = own(message, "content");
  if (!hasNoCalls) return undefined;
  if (Array.isArray(content)) return content;
  return typeof content === "string" || isAbsent(content) ? [] : undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
