import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  copyJson,
  defaultJsonLimits,
  type JsonValue,
  normalizeJson,
  setOwn,
} from "../../src/core/json.js";
import { parsePointer, pointerTo, walk } from "../../src/core/path.js";

const key = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("__proto__", "constructor", "toString", "0", "a.b"),
);

/** JSON as JSON.parse makes it, own keys `__proto__` included. */
const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map(objectOf),
  ),
})).value;

function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonValue {
  const object: Record<string, JsonValue> = {};
  for (const [name, value] of entries) setOwn(object, name, value);
  return object;
}

function reordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== "object" || value === null) return value;
  return objectOf(
    Object.entries(value)
      .reverse()
      .map(([name, child]) => [name, reordered(child)]),
  );
}

function isDeeplyFrozen(value: unknown): boolean {
  return (
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))
  );
}

const normalize = (value: unknown) => normalizeJson(value, defaultJsonLimits);

describe("normalizeJson", () => {
  /** What JSON.stringify takes and `normalizeJson` does not refuse. */
  const foreign = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(
        json,
        fc.double(),
        fc.constant(undefined),
        fc.date(),
        fc.constantFrom(Object("boxed"), Object(1.5), /re/),
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
      json.map((value) => ({ toJSON: () => value })),
    ),
  })).value;

  test("sees what JSON.stringify sees", () => {
    fc.assert(
      fc.property(foreign, (value) => {
        const text = JSON.stringify(value) ?? "null";
        expect(JSON.stringify(normalize(value))).toBe(text);
        expect(isDeepStrictEqual(normalize(value), JSON.parse(text))).toBe(true);
      }),
    );
  });

  test("counts the bytes of the JSON text", () => {
    fc.assert(
      fc.property(json, (value) => {
        const maxBytes = Buffer.byteLength(JSON.stringify(value));
        normalizeJson(value, { maxBytes, maxDepth: 50 });
        expect(() => normalizeJson(value, { maxBytes: maxBytes - 1, maxDepth: 50 })).toThrow("too large");
      }),
    );
  });

  test("isolates, freezes, and changes nothing the second time", () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value);
        const normal = normalize(value);
        expect(isDeeplyFrozen(normal)).toBe(true);
        expect(JSON.stringify(normalize(normal))).toBe(before);
        expect(JSON.stringify(value)).toBe(before);
        expect(JSON.stringify(copyJson(normal))).toBe(before);
      }),
    );
  });
});

describe("canonicalJson", () => {
  test("is the same for every order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("is read back as the value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(isDeepStrictEqual(JSON.parse(canonicalJson(value)), value)).toBe(true);
      }),
    );
  });
});

describe("paths", () => {
  /** A value, and the path to each place in it. */
  function places(value: JsonValue, path: readonly string[] = []): { path: readonly string[]; value: JsonValue }[] {
    const below = typeof value === "object" && value !== null ? Object.entries<JsonValue>(value) : [];
    return [{ path, value }, ...below.flatMap(([name, child]) => places(child, [...path, name]))];
  }

  test("lead to every place, and each has a pointer that is read back", () => {
    fc.assert(
      fc.property(json, (value) => {
        for (const place of places(value)) {
          expect(walk(value, place.path)).toEqual({ value: place.value, reached: place.path.length, at: place.value });
          expect(parsePointer(pointerTo(place.path))).toEqual(place.path);
        }
      }),
    );
  });

  test("never lead to what JSON does not write", () => {
    fc.assert(
      fc.property(json, fc.array(key, { maxLength: 3 }), (value, path) => {
        const known = places(value).some(
          (place) => place.path.join("\n") === path.join("\n") && place.path.length === path.length,
        );
        expect(walk(value, path).value !== undefined).toBe(known);
      }),
    );
  });
});
