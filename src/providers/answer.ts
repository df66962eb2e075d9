import { contentOf, type DispatchEntry } from "../core/dispatch.js";
import { isToolweaveError, ToolweaveError } from "../core/errors.js";
import {
  deepestNesting,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  normalizeJson,
  setOwn,
} from "../core/json.js";
import type { NormalizedCall } from "../core/tool-call.js";
import { type KnownProvider, type ProviderName, providers } from "./list.js";
import { normalizeToolCalls } from "./normalize.js";
import { own } from "./own-property.js";
import type { Provider, WireCall, WireJson, WireObject, WireResult } from "./provider.js";
import { fitName } from "./wire-id.js";

type ProviderOf<Name extends ProviderName> = Extract<KnownProvider, { name: Name }>;

/** The messages that answer a turn, in one provider's shape. */
export type ToolMessages<Name extends ProviderName> = ReturnType<ProviderOf<Name>["writeResults"]>;

/** The turn that the results answer, in one provider's shape: one message, or a list where the provider has items. */
export type AssistantMessage<Name extends ProviderName> = ReturnType<ProviderOf<Name>["writeCalls"]>;

/**
 * The results of a turn's calls as the provider wants them: exactly one for each call, in call order, with its error
 * flag where it has one. A call without an entry is answered as not run; an entry of no call is left out.
 *
 * @param calls as normalized, whatever provider they came from.
 * @param output the entries of a dispatch, or what `toolDispatch` resolves to.
 * @throws ToolweaveError `INVALID_OPTIONS` for an unknown provider, or calls or entries that are none.
 */
export function toToolMessages<Name extends ProviderName>(
  provider: Name,
  calls: readonly NormalizedCall[],
  output: readonly DispatchEntry[] | { readonly entries: readonly DispatchEntry[] },
): ToolMessages<Name>;
export function toToolMessages(
  name: string,
  calls: readonly NormalizedCall[],
  output: readonly DispatchEntry[] | { readonly entries: readonly DispatchEntry[] },
): readonly object[] {
  const provider = providerOf(name);
  const entries = attemptEntries(output);
  const results = normalizeToolCalls(calls).map((call) => wireResult(provider, call, entries.get(call.id)));
  return results.length === 0 ? [] : provider.writeResults(results);
}

/**
 * The assistant's turn that bears the calls, for a history that is built anew: with valid JSON arguments (`{}` where they
 * could not be read) and the ids of `toToolMessages`. Where the provider's own message is at hand and sound, send that
 * one: it also holds the text and the reasoning.
 *
 * @throws ToolweaveError `INVALID_OPTIONS` for an unknown provider, and where there are no calls.
 */
export function toAssistantMessage<Name extends ProviderName>(
  provider: Name,
  calls: readonly NormalizedCall[],
): AssistantMessage<Name>;
export function toAssistantMessage(name: string, calls: readonly NormalizedCall[]): object {
  const provider = providerOf(name);
  const normalized = normalizeToolCalls(calls);
  if (normalized.length === 0) {
    throw new ToolweaveError(
      "INVALID_OPTIONS",
      "There are no calls, so no turn bears them. Send the model's own message.",
    );
  }
  return provider.writeCalls(normalized.map((call) => wireCall(provider, call)));
}

function providerOf(name: string): Provider {
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider !== undefined) return provider;
  const known = providers.map((candidate) => candidate.name).join(", ");
  throw new ToolweaveError("INVALID_OPTIONS", `The provider must be one of ${known}.`);
}

function attemptEntries(output: unknown): ReadonlyMap<string, Entry> {
  try {
    return entriesById(output);
  } catch (thrown) {
    // What throws when it is read comes from no dispatch.
    throw isToolweaveError(thrown) ? thrown : notEntries("The output", thrown);
  }
}

function entriesById(output: unknown): ReadonlyMap<string, Entry> {
  const list = Array.isArray(output) ? output : own(output, "entries");
  if (!Array.isArray(list)) throw notEntries("The output");
  const entries = new Map<string, Entry>();
  list.forEach((entry: unknown, index) => {
    const id = own(entry, "id");
    const success = own(entry, "success");
    if (typeof id !== "string" || typeof success !== "boolean") throw notEntries(`Entry ${index}`);
    if (!entries.has(id)) entries.set(id, readEntry(entry, success));
  });
  return entries;
}

function notEntries(subject: string, cause?: unknown): ToolweaveError {
  const expected = "the entries of a dispatch ({ success, id, name, arguments, flow, result, content, error? })";
  return new ToolweaveError("INVALID_OPTIONS", `${subject} must be ${expected}. Pass what toolDispatch resolves to.`, {
    cause,
  });
}

type Entry = Pick<WireResult, "isError" | "content" | "value">;

// A result has passed the limits of its run already.
const limits = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: deepestNesting };

function readEntry(entry: unknown, success: boolean): Entry {
  const value = wellFormedJson(normalizeJson(own(entry, "result"), limits));
  const content = own(entry, "content");
  const error = own(entry, "error");
  const text = typeof content === "string" ? content : contentOf(value);
  // A failure says something, whatever its handler left behind.
  const shown =
    text === "" && !success ? (typeof error === "string" && error !== "" ? error : "The call failed.") : text;
  return { isError: !success, content: shown.toWellFormed(), value };
}

const notRunText = "NOT_RUN: this call was not run, and nothing was done for it. Send it again if it is still wanted.";
const notRun: Entry = { isError: true, content: contentOf({ error: notRunText }), value: { error: notRunText } };

function wireResult(provider: Provider, call: NormalizedCall, entry = notRun): WireResult {
  return { ...wireCall(provider, call), ...entry };
}

function wireCall(provider: Provider, call: NormalizedCall): WireCall {
  const { id, type, name, raw_arguments, raw_call: raw } = call;
  const sentId = sentIdOf(provider, call);
  return {
    type,
    id: sentId === undefined ? (provider.wireId?.(id) ?? id) : id,
    name: wireName(provider, name),
    arguments: wellFormedJson(call.arguments ?? {}),
    text: raw_arguments.toWellFormed(),
    raw,
    sentId,
  };
}

function wireName(provider: Provider, name: string): string {
  // No provider takes a call back that has no name.
  if (name === "") return "unnamed_tool";
  return provider.wireName?.(name) ?? fitName(name, /[^A-Za-z0-9_-]/gu, 64);
}

function sentIdOf(provider: Provider, { id, raw_call: raw }: NormalizedCall): string | number | undefined {
  const sent = isJsonObject(raw) ? provider.readCall?.(raw)?.id : undefined;
  return (typeof sent === "string" || typeof sent === "number") && String(sent) === id ? sent : undefined;
}

/** A fresh, mutable copy whose texts and keys are well-formed: providers refuse lone surrogates. */
function wellFormedJson(value: JsonObject): WireObject;
function wellFormedJson(value: JsonValue): WireJson;
function wellFormedJson(value: JsonValue): WireJson {
  if (typeof value === "string") return value.toWellFormed();
  if (isJsonArray(value)) return value.map((element) => wellFormedJson(element));
  if (!isJsonObject(value)) return value;
  const copy: WireObject = {};
  for (const [key, element] of Object.entries(value)) setOwn(copy, key.toWellFormed(), wellFormedJson(element));
  return copy;
}
