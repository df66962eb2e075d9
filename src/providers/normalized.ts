import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../core/json.js";
import type { NormalizedCall } from "../core/tool-call.js";
import { customArguments, type ReadArguments, readArguments } from "./arguments.js";
import { hasOwn, own } from "./own-property.js";
import type { FoundCall } from "./provider.js";

/** A call that looks normalized already. Anyone can have written it, so all that it says is checked again. */
export type NormalizedLookalike = JsonObject & { readonly raw_arguments: string };

export function isNormalized(item: JsonObject): item is NormalizedLookalike {
  return typeof own(item, "raw_arguments") === "string" && hasOwn(item, "raw_call");
}

export function readNormalized(item: NormalizedLookalike): FoundCall {
  const type = own(item, "type") === "custom" ? "custom" : "function";
  return { type, id: own(item, "id"), name: own(item, "name"), arguments: item.raw_arguments };
}

/**
 * The arguments of a normalized call: `raw_arguments` is read again, and `arguments`, if there, must say the same.
 * Arguments that came parsed are taken as they are, for their text was never the provider's.
 */
export function readAgain(item: NormalizedLookalike, type: FoundCall["type"]): ReadArguments {
  const { raw_arguments: text } = item;
  const given = own(item, "arguments") ?? null;
  if (type === "function" && isSame(given, parseOwnText(text)) && isJsonObject(given)) return { arguments: given };
  const read = type === "custom" ? customArguments(text) : readArguments(text);
  if ("problem" in read || given === null || isSame(given, read.arguments)) return read;
  return { problem: differs };
}

const differs =
  "The arguments are not those of raw_arguments. To change a call, give it as id, name and arguments alone.";

/** What `argumentsText` wrote of a parsed value; undefined for any text of a provider's own making. */
function parseOwnText(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

// A store may hand objects back with their keys in another order.
function isSame(one: JsonValue, other: JsonValue | undefined): boolean {
  return other !== undefined && canonicalJson(one) === canonicalJson(other);
}

/** The error that a normalized call bears, where it is one of ours. */
export function errorOf(item: NormalizedLookalike): NormalizedCall["error"] {
  const error = own(item, "error");
  const code = own(error, "code");
  const message = own(error, "message");
  if ((code !== "INVALID_ARGUMENTS" && code !== "INVALID_CALL") || typeof message !== "string") return undefined;
  return { code, message };
}
