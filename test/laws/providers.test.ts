import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isToolweaveError } from "../../src/core/errors.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import {
  type NormalizedCall,
  normalizeToolCalls,
  type ProviderName,
  toAssistantMessage,
  toToolMessages,
} from "../../src/providers/index.js";
import { findFault } from "../../src/providers/json-text.js";
import { providers } from "../../src/providers/list.js";

const names = providers.map(({ name }) => name);
// These put their own ids, or none, in the place of another provider's.
const changesIds: readonly ProviderName[] = ["mistral", "mistral-sdk", "gemini"];

/** Numbers whose text is an integer literal beyond 2^53 are refused in text; there is a law of its own for that. */
function withKeptNumbers(text: string): JsonValue {
  return JSON.parse(text, (_key, part: unknown) => (typeof part === "number" && Math.abs(part) > 2 ** 53 ? 0.5 : part));
}

/** An object with these fields as own ones, `__proto__` included. */
function objectOf(fields: readonly (readonly [string, JsonValue])[]): JsonObject {
  return JSON.parse(`{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`);
}

const key = fc.oneof(
  fc.string(),
  fc.constantFrom("__proto__", "constructor", "id", "arguments", "raw_call", "tool_calls"),
);
const objects = fc.array(fc.tuple(key, fc.json({ maxDepth: 3 }).map(withKeptNumbers)), { maxLength: 5 }).map(objectOf);
const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
const toolNames = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,12}$/),
  fc.constantFrom("constructor", "__proto__", "toString"),
);

const calls = fc
  .uniqueArray(fc.record({ id: ids, name: toolNames, args: objects }), {
    minLength: 1,
    maxLength: 6,
    selector: ({ id }) => id,
  })
  .map((list) =>
    normalizeToolCalls(
      list.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } })),
    ),
  );

const answers = (list: readonly NormalizedCall[]) =>
  list.map(({ id, name, index }) => {
    const base = { success: index % 2 === 0, id, name, arguments: null, flow: null };
    return { ...base, result: { index }, content: `{"index":${index}}` };
  });

function countResults(messages: readonly object[]): number {
  const parts = messages.map((message) => Reflect.get(message, "parts") ?? Reflect.get(message, "content"));
  // One message may hold many results, a text or a document only its own.
  return parts
    .map((list) => (Array.isArray(list) && list.every((part) => part.type !== "document") ? list.length : 1))
    .reduce((sum, count) => sum + count, 0);
}

describe.each(names)("%s", (provider) => {
  it("written and read again, a turn has the same calls in the same order", () => {
    fc.assert(
      fc.property(calls, (before) => {
        const after = normalizeToolCalls(toAssistantMessage(provider, before));
        expect(after.map(({ name, arguments: args }) => [name, JSON.stringify(args)])).toEqual(
          before.map(({ name, arguments: args }) => [name, JSON.stringify(args)]),
        );
        if (!changesIds.includes(provider)) expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      }),
      { numRuns: 50 },
    );
  });

  it("the results answer the written turn: one for each call, under its ids", () => {
    fc.assert(
      fc.property(calls, (before) => {
        const messages = toToolMessages(provider, before, answers(before));
        const after = normalizeToolCalls(toAssistantMessage(provider, before));
        expect(countResults(messages)).toBe(before.length);
        expect(toToolMessages(provider, after, answers(after))).toEqual(messages);
      }),
      { numRuns: 50 },
    );
  });
});

const vocabulary = [
  ...["choices", "message", "tool_calls", "toolCalls", "function_call", "function", "custom", "output", "content"],
  ...[
    "candidates",
    "parts",
    "functionCall",
    "toolUse",
    "toolUseId",
    "steps",
    "finishReason",
    "stop_reason",
    "kwargs",
    "lc",
  ],
  ...[
    "response_metadata",
    "invalid_tool_calls",
    "role",
    "type",
    "id",
    "call_id",
    "callId",
    "toolCallId",
    "name",
    "toolName",
  ],
  ...["arguments", "args", "input", "parameters", "params", "method", "index", "raw_arguments", "raw_call", "error"],
  ...["code", "status", "__proto__", "constructor"],
];

/** Values that come near to calls and turns, of which some are some. */
const nearly = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      fc.constantFrom<JsonValue>(
        null,
        "",
        "a",
        "function_call",
        "tool_use",
        "tool-call",
        "assistant",
        "message",
        "custom",
      ),
      fc.constantFrom<JsonValue>("{}", '{"a":1}', "{", "[1]", '{"n":9007199254740993}', "length", 4, 0.5, true),
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...vocabulary), tie("value")), { maxLength: 6 }).map(objectOf),
  ),
})).value;
/** A turn of a provider in which one value, found along `route`, is another. */
function altered(value: JsonValue, route: readonly number[], other: JsonValue): JsonValue {
  const [turn, ...rest] = route;
  if (turn === undefined || typeof value !== "object" || value === null) return other;
  const keys = Object.keys(value);
  const chosen = keys[turn % (keys.length + 1)];
  const parts = Object.entries(value).map(([name, part]): readonly [string, JsonValue] => [
    name,
    name === chosen ? altered(part, rest, other) : part,
  ]);
  return Array.isArray(value) ? parts.map(([, part]) => part) : objectOf(parts);
}

const damaged = fc
  .tuple(fc.constantFrom(...names), calls, fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), nearly)
  .map(([provider, list, route, other]) => {
    const turn: JsonValue = JSON.parse(JSON.stringify(toAssistantMessage(provider, list)));
    return altered(turn, route, other);
  });

function check(raw: unknown, provider: ProviderName): void {
  let read: readonly NormalizedCall[];
  try {
    read = normalizeToolCalls(raw);
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    expect(["UNKNOWN_CALL_SHAPE", "DUPLICATE_CALL_ID"]).toContain(error.code);
    return;
  }
  expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
  for (const call of read) expect(call.arguments === null).toBe(call.error !== undefined);
  const again = normalizeToolCalls(JSON.parse(JSON.stringify(read)));
  expect(JSON.stringify(again)).toBe(JSON.stringify(read));
  toToolMessages(provider, read, []);
  if (read.length > 0) toAssistantMessage(provider, read);
}

const prototypeKeys = Object.getOwnPropertyNames(Object.prototype);

describe("any JSON", () => {
  it.each([
    ["whatever it is", fc.jsonValue(), 300],
    ["near to a turn", nearly, 500],
    ["a turn with one thing changed", damaged, 100],
    [
      "as arguments",
      fc.oneof(nearly, fc.string(), fc.json()).map((args) => [{ id: "a", function: { name: "b", arguments: args } }]),
      300,
    ],
  ])(
    "is read or refused; read again it is the same; it can be answered; nothing else changes: %s",
    (_kind, values, numRuns) => {
      fc.assert(fc.property<[unknown, ProviderName]>(values, fc.constantFrom(...names), check), { numRuns });
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototypeKeys);
    },
  );
});

describe("the text of arguments", () => {
  const readText = (text: string) => normalizeToolCalls([{ name: "a", arguments: text }])[0];

  it("is what JSON.parse says it is, however it is laid out", () => {
    fc.assert(
      fc.property(objects, fc.constantFrom("", " ", "\t", "    "), (args, space) => {
        const text = JSON.stringify(args, null, space);
        expect(JSON.stringify(readText(text)?.arguments)).toBe(JSON.stringify(args));
      }),
    );
  });

  it("cut anywhere is never run", () => {
    fc.assert(
      fc.property(objects, fc.nat(), (args, cut) => {
        const text = JSON.stringify(args);
        expect(readText(text.slice(0, 1 + (cut % (text.length - 1))))).toMatchObject({ arguments: null });
      }),
    );
  });

  it("is refused where JSON.parse refuses it, and only there", () => {
    const edits = fc.tuple(fc.json(), fc.nat(), fc.nat(2), fc.constantFrom(...'{}[]",:0123456789.eE+-\\u tfn\n'));
    fc.assert(
      fc.property(fc.array(edits, { minLength: 1, maxLength: 3 }), (list) => {
        const [start] = list;
        const text = list.reduce((edited, [, at, removed, added]) => {
          const place = at % (edited.length + 1);
          return edited.slice(0, place) + added + edited.slice(place + removed);
        }, start?.[0] ?? "");
        const fault = findFault(text);
        // The first fault is told: behind a number that can't be kept there may be another.
        if (fault?.kind !== "integer" && fault?.kind !== "number") expect(parses(text)).toBe(fault === undefined);
      }),
      { numRuns: 1_000 },
    );
  });

  const nearLimit = fc
    .tuple(fc.constantFrom(1n, -1n), fc.bigInt({ min: -3n, max: 3n }))
    .map(([sign, off]) => sign * (2n ** 53n + off));

  it("with an integer literal beyond 2^53 is refused", () => {
    fc.assert(
      fc.property(fc.oneof(nearLimit, fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })), (integer) => {
        const isBeyond = integer > 2n ** 53n || integer < -(2n ** 53n);
        expect(readText(`{"a":[${integer}]}`)?.arguments === null).toBe(isBeyond);
      }),
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
