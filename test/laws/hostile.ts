import fc from "fast-check";
import { expect } from "vitest";
import { type ErrorCode, errorCodes, isToolweaveError } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import { isThorough } from "./thorough.js";

/** Hostile data for the laws of fuzzing: what no one would write, and what is nearly right. */

/** How often a law is tried: a sample, or thirty times as often. */
export const tries = (sample: number) => ({ numRuns: isThorough ? 30 * sample : sample });

const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype];
const namesOf = () => prototypes.map((prototype) => Reflect.ownKeys(prototype));
const untouched = namesOf();

/** What an action gives, or the code of the error that it throws. Any other error is a fault, as is a changed prototype. */
export function settle<T>(action: () => T): T | ErrorCode {
  try {
    return action();
  } catch (error) {
    return codeOf(error);
  } finally {
    expect(namesOf()).toEqual(untouched);
  }
}

export async function settleLate<T>(action: () => Promise<T>): Promise<T | ErrorCode> {
  try {
    return await action();
  } catch (error) {
    return codeOf(error);
  } finally {
    expect(namesOf()).toEqual(untouched);
  }
}

function codeOf(error: unknown): ErrorCode {
  if (!isToolweaveError(error)) throw error;
  expect(errorCodes).toContain(error.code);
  expect(error.message).not.toBe("");
  return error.code;
}

/** Keys and texts that mean something somewhere, or should not. */
export const oddText = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "length",
    "0",
    "-1",
    "1e3",
    "",
    " ",
    ".",
    "#",
    "/",
  ),
  fc.constantFrom("\u0000", "\ud800", "\udc00a", "\u2028", "{{", "}}", "{{input}}", "\\{{", "~0", "%2F", "%", "$&"),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const scalar = fc.oneof(
  oddText,
  fc.constantFrom<JsonValue>(null, true, false, 0, -1, 0.5, 2 ** 53, -(2 ** 53), 1e308, 5e-324),
);

/** Any JSON, its keys odd. */
export const oddJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(oddText, tie("value")), { maxLength: 4 }).map(objectOf),
  ),
})).value;

/** An object with these properties as own ones, `__proto__` included. */
function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonValue {
  return JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`);
}

/** Makes what is no JSON at all, or throws when it is looked at; a function, since fast-check looks at what it draws. */
export const foreign: fc.Arbitrary<() => unknown> = fc.oneof(
  fc
    .anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true })
    .map((value) => () => value),
  fc.constantFrom<() => unknown>(
    () => new Proxy({}, { get: refuse, ownKeys: refuse, has: refuse, getPrototypeOf: refuse }),
    () => new Proxy([], { get: refuse }),
    () => Object.defineProperty({}, "name", { get: refuse, enumerable: true }),
    () => ({ toJSON: refuse }),
    () => ({ toString: refuse, valueOf: refuse }),
    () => Symbol("odd"),
    () => refuse,
    () => Object.create(null),
    () => new Date(Number.NaN),
    circle,
  ),
);

function refuse(): never {
  throw new TypeError("Nobody may look.");
}

function circle(): unknown {
  const self: unknown[] = [];
  self.push({ self });
  return self;
}

const many = isThorough ? 100_000 : 10_000;

/** Values so large that what is not careful runs out of stack or time. */
export const extremes: readonly (readonly [string, () => JsonValue])[] = [
  ["lists in each other", () => JSON.parse("[".repeat(many) + "]".repeat(many))],
  ["objects in each other", () => JSON.parse(`${'{"a":'.repeat(many)}1${"}".repeat(many)}`)],
  ["many keys", () => Object.fromEntries(Array.from({ length: many }, (_, n) => [`k${n}`, n]))],
  ["many elements", () => Array.from({ length: many }, (_, n) => n)],
  ["a long key", () => ({ ["k".repeat(10 * many)]: 1 })],
  ["a long text", () => "x".repeat(10 * many)],
  ["a long text of lone surrogates", () => "\ud800".repeat(10 * many)],
];

/** One thing that is done to a value, at the place that the route leads to. */
interface Edit {
  readonly route: readonly number[];
  readonly how: "replace" | "remove" | "rename" | "double" | "wrap";
  readonly other: JsonValue;
  readonly name: string;
}

const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({
    route: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
    how: fc.constantFrom("replace", "remove", "rename", "double", "wrap"),
    other: oddJson,
    name: oddText,
  }),
  { minLength: 1, maxLength: 3 },
);

/** What is nearly one of these values: one to three things are changed in it. */
export function mutated(values: readonly JsonValue[], vocabulary: readonly string[] = []): fc.Arbitrary<JsonValue> {
  const given = fc.constantFrom(...values);
  const renamed = vocabulary.length === 0 ? fc.constant(undefined) : fc.option(fc.constantFrom(...vocabulary));
  return fc
    .tuple(given, edits, renamed)
    .map(([value, list, name]) => list.reduce((one, edit) => changed(one, name ? { ...edit, name } : edit, 0), value));
}

function changed(value: JsonValue, edit: Edit, depth: number): JsonValue {
  const turn = edit.route[depth];
  if (turn === undefined || typeof value !== "object" || value === null) return edit.other;
  const entries = Object.entries<JsonValue>(value);
  const at = turn % (entries.length + 1);
  const parts = entries.flatMap(([key, part], index): (readonly [string, JsonValue])[] => {
    if (index !== at) return [[key, part]];
    if (depth < edit.route.length - 1) return [[key, changed(part, edit, depth + 1)]];
    switch (edit.how) {
      case "replace":
        return [[key, edit.other]];
      case "remove":
        return [];
      case "rename":
        return [[edit.name, part]];
      case "double":
        return [
          [key, part],
          [edit.name, part],
        ];
      default:
        return [[key, [part]]];
    }
  });
  return Array.isArray(value) ? parts.map(([, part]) => part) : objectOf(parts);
}

/** The value as text, to see that it stays as it is. */
export function unchanged<T>(value: JsonValue, action: () => T): T {
  const before = JSON.stringify(value);
  const result = action();
  expect(JSON.stringify(value)).toBe(before);
  return result;
}
