import { isToolweaveError, ToolweaveError } from "../core/errors.js";
import {
  canonicalJson,
  defaultJsonLimits,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  normalizeJson,
} from "../core/json.js";
import type { NormalizedCall } from "../core/tool-call.js";
import { argumentsText, customArguments, type ReadArguments, readArguments } from "./arguments.js";
import { providers } from "./list.js";
import { errorOf, isNormalized, readAgain, readNormalized } from "./normalized.js";
import { hasOwn, own } from "./own-property.js";
import type { FoundCall, Turn } from "./provider.js";

/** A call settled but for its `id`, empty where the provider gave none, and its `index`, which is its place among all items. */
type Draft = NormalizedCall;

/**
 * The tool calls of a model's turn, in order: of a whole response, a message, its list of calls, or one call. Text,
 * reasoning and calls that the provider ran itself are passed over. Normalized calls come back as they are.
 *
 * A call that can't be run bears an `error`, and then its `arguments` are `null`. The same call twice is one call.
 *
 * @throws ToolweaveError `UNKNOWN_CALL_SHAPE` for anything else, `null` included; `DUPLICATE_CALL_ID` for one id on two
 *   different calls.
 */
export function normalizeToolCalls(raw: unknown): readonly NormalizedCall[] {
  try {
    return settle(draftCalls(findTurn(raw)));
  } catch (thrown) {
    if (isToolweaveError(thrown)) throw thrown;
    throw unknownShape("The tool calls can't be read", "reading them throws", "", thrown);
  }
}

function findTurn(raw: unknown): Turn {
  const turn = unwrap(raw);
  if (turn !== undefined) return turn;
  // What holds its fields elsewhere than in own properties may still show them by `toJSON`.
  const json = toJson(raw, "");
  return unwrap(json) ?? { items: [json] };
}

function unwrap(value: unknown): Turn | undefined {
  if (Array.isArray(value)) return { items: value };
  for (const provider of providers) {
    const turn = provider.unwrap?.(value);
    if (turn !== undefined) return turn;
  }
  return undefined;
}

function draftCalls({ items, isCutOff = false }: Turn): Draft[] {
  const drafts: Draft[] = [];
  items.forEach((item, position) => {
    if (providers.some((provider) => provider.passesOver?.(item))) return;
    const json = toJson(item, `/${position}`);
    const draft = isJsonObject(json) ? draftCall(json, position, isCutOff && position === items.length - 1) : undefined;
    if (draft === undefined) throw unknownShape(`Item ${position}`, shapeOf(json), `/${position}`);
    drafts.push(draft);
  });
  return drafts;
}

function draftCall(item: JsonObject, position: number, isLastOfCut: boolean): Draft | undefined {
  if (isNormalized(item)) {
    const found = readNormalized(item);
    const draft = draftFound(found, position, readAgain(item, found.type), own(item, "raw_call") ?? null);
    const error = errorOf(item);
    if (error === undefined) return draft;
    draft.arguments = null;
    draft.error = error;
    return draft;
  }
  for (const provider of providers) {
    const found = provider.readCall?.(item);
    if (found === undefined) continue;
    const isCutOff = isLastOfCut || found.isCutOff === true;
    return draftFound(found, position, isCutOff ? { problem: cutOff } : readFound(found), item);
  }
  return undefined;
}

function readFound(found: FoundCall): ReadArguments {
  return found.type === "custom" ? customArguments(argumentsText(found.arguments)) : readArguments(found.arguments);
}

const cutOff =
  "The call was cut off before its end, so its arguments are not complete. Send it again, whole, with shorter arguments.";
const nameless = "The call has no name. Send it again with the name of one of the tools.";

function draftFound(found: FoundCall, position: number, read: ReadArguments, raw: JsonValue): Draft {
  const { type } = found;
  const id = typeof found.id === "number" ? String(found.id) : typeof found.id === "string" ? found.id : "";
  const name = typeof found.name === "string" ? found.name : "";
  const draft: Draft = {
    id,
    index: position,
    type,
    name,
    arguments: null,
    raw_arguments: argumentsText(found.arguments),
    raw_call: raw,
  };
  if (name === "") draft.error = { code: "INVALID_CALL", message: nameless };
  else if ("problem" in read) draft.error = { code: "INVALID_ARGUMENTS", message: read.problem };
  else draft.arguments = read.arguments;
  return draft;
}

/** Gives ids to those that have none, and makes one of the same call sent twice. */
function settle(drafts: readonly Draft[]): readonly NormalizedCall[] {
  const taken = new Map<string, Draft>();
  for (const draft of drafts) {
    const first = taken.get(draft.id);
    if (draft.id === "" || first === undefined) taken.set(draft.id, draft);
    else if (!isSameCall(first, draft)) throw duplicateId(first.index, draft.index);
  }
  let minted = 0;
  const mint = () => {
    do minted++;
    while (taken.has(`call_${minted}`));
    return `call_${minted}`;
  };
  const kept = drafts.filter((draft) => draft.id === "" || taken.get(draft.id) === draft);
  kept.forEach((draft, index) => {
    if (draft.id === "") draft.id = mint();
    draft.index = index;
    Object.freeze(draft.error);
    Object.freeze(draft);
  });
  return Object.freeze(kept);
}

function isSameCall(one: Draft, other: Draft): boolean {
  if (one.name !== other.name || one.type !== other.type) return false;
  if (one.arguments !== null && other.arguments !== null) {
    return canonicalJson(one.arguments) === canonicalJson(other.arguments);
  }
  return one.arguments === other.arguments && one.raw_arguments === other.raw_arguments;
}

// A normalized call holds its raw call one level down, and its arguments up to three times.
const normalizedLimits = { maxBytes: 8 * defaultJsonLimits.maxBytes, maxDepth: defaultJsonLimits.maxDepth + 1 };

function toJson(value: unknown, pointer: string): JsonValue {
  try {
    return normalizeJson(value, hasOwn(value, "raw_call") ? normalizedLimits : defaultJsonLimits);
  } catch (thrown) {
    throw unknownShape("The tool calls", "what can't be kept as JSON (see the cause)", pointer, thrown);
  }
}

const maxKeys = 10;
const maxKeyLength = 40;

/** What a value looks like, without any of its values. */
function shapeOf(value: JsonValue): string {
  if (!isJsonObject(value)) return value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  const keys = Object.keys(value);
  const shown = keys.slice(0, maxKeys).map((key) => JSON.stringify(key.slice(0, maxKeyLength)));
  return keys.length === 0 ? "an object without keys" : `an object with the keys ${shown.join(", ")}`;
}

function unknownShape(subject: string, found: string, pointer: string, cause?: unknown): ToolweaveError {
  const expected = "a response, a message, a list of calls or a call of one of the providers in docs/providers.md";
  const text = `${subject}: expected ${expected}; found: ${found}. Pass the model's whole message; assemble a stream first.`;
  return new ToolweaveError("UNKNOWN_CALL_SHAPE", text, { pointer, cause });
}

function duplicateId(first: number, second: number): ToolweaveError {
  const text = `Items ${first} and ${second} have the same id but are different calls. Give each call an id of its own.`;
  return new ToolweaveError("DUPLICATE_CALL_ID", text, { pointer: `/${second}` });
}
