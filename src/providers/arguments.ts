import { defaultJsonLimits, isJsonObject, type JsonObject, type JsonValue, normalizeJson } from "../core/json.js";
import { parseExactly, type TextFault } from "./json-text.js";

/** The arguments of a call, or why they can't be used, in words for its model. */
export type ReadArguments = { readonly arguments: JsonObject } | { readonly problem: string };

/**
 * Absent, empty or `null` (also as text) is `{}`; an object is taken as it is (it was normalized with its call); text must be the JSON of an object, or of
 * a string that holds one. Nothing else is guessed at or repaired.
 */
export function readArguments(value: JsonValue | undefined): ReadArguments {
  if (value === undefined || value === null) return { arguments: none };
  if (typeof value !== "string") return asObject(value);
  const text = value.trim();
  if (text === "" || text === "null") return { arguments: none };
  const read = parseExactly(value);
  if ("fault" in read) return { problem: describe(read.fault, value.length) };
  return typeof read.value === "string" ? unwrap(read.value) : keep(read.value);
}

/** The free text of a custom call as arguments. */
export function customArguments(text: string): ReadArguments {
  return { arguments: Object.freeze({ input: text }) };
}

/** The arguments as the provider sent them, as text. */
export function argumentsText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const none: JsonObject = Object.freeze({});

/** Some models encode the object twice. */
function unwrap(text: string): ReadArguments {
  if (!text.trimStart().startsWith("{")) return { problem: notAnObject("a string") };
  const read = parseExactly(text);
  return "fault" in read ? { problem: describe(read.fault, text.length) } : keep(read.value);
}

function keep(parsed: JsonValue): ReadArguments {
  try {
    return asObject(normalizeJson(parsed, defaultJsonLimits));
  } catch {
    return { problem: "The arguments are nested too deeply or are too large. Send less." };
  }
}

function asObject(value: JsonValue): ReadArguments {
  if (isJsonObject(value)) return { arguments: value };
  return { problem: notAnObject(Array.isArray(value) ? "an array" : `a ${typeof value}`) };
}

function notAnObject(kind: string): string {
  return `The arguments are ${kind}, but must be one JSON object. Send the call again with an object.`;
}

const maxPointerLength = 200;

function describe({ kind, at, pointer }: TextFault, length: number): string {
  const place = pointer === "" ? "" : ` at ${pointer.slice(0, maxPointerLength)}`;
  switch (kind) {
    case "unfinished":
      return `The arguments are not valid JSON: the text ends after ${length} characters before it is complete. Send the call again with one complete JSON object.`;
    case "trailing":
      return `The arguments hold several JSON values, or text behind the first one, from character ${at} on. Send exactly one JSON object.`;
    case "integer":
      return `The arguments hold an integer beyond 2^53${place}, which can't be kept exactly. Send it as a string, if the tool takes one.`;
    case "number":
      return `The arguments hold a number${place} that is too large to be kept. Send a smaller one.`;
    case "syntax":
      return `The arguments are not valid JSON: character ${at} of ${length} is not allowed there. Send the call again with one JSON object.`;
  }
}
