import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import { compileJsonSchema } from "../../src/core/json-validator.js";

type Named = Record<string, JsonValue>;

/** Schemas `d0` to `d<count>`, each made of a reference to the next, but for the last. */
function definitions(count: number, each: (next: Named) => Named, last: Named = { type: "string" }): Named {
  const named = Array.from({ length: count }, (_, n) => [`d${n}`, each({ $ref: `#/$defs/d${n + 1}` })] as const);
  return { ...Object.fromEntries(named), [`d${count}`]: last };
}

const nested = (levels: number, wrap: (inner: Named, level: number) => Named): Named =>
  Array.from({ length: levels }).reduce<Named>((inner, _, level) => wrap(inner, level), { type: "string" });

describe("a schema is refused that", () => {
  it.each<[string, Named, string, string]>([
    ["leads back to itself", { $ref: "#" }, "", "leads back to itself"],
    ["leads back to itself in a branch", { anyOf: [{ type: "string" }, { not: { $ref: "#" } }] }, "", "leads back"],
    [
      "leads back to itself where nobody refers to it",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { if: { $ref: "#/$defs/a" } } } },
      "/$defs/b",
      "leads back",
    ],
    [
      "is a chain too long",
      { $defs: definitions(200, (next) => next), $ref: "#/$defs/d0" },
      "",
      "more than 200 schemas",
    ],
    [
      "is a chain too long, to which nothing refers",
      { $defs: definitions(250, (next) => next) },
      "/$defs/d50",
      "more than 200 schemas",
    ],
    [
      "doubles with each reference",
      { $defs: definitions(30, (next) => ({ allOf: [next, next] })), $ref: "#/$defs/d0" },
      "",
      "more than 100000 schemas",
    ],
    [
      "doubles with each reference, in other words",
      { $defs: definitions(30, (next) => ({ if: next, dependentSchemas: { a: next } })) },
      "/$defs/d15",
      "more than 100000 schemas",
    ],
    [
      "has addresses within addresses",
      nested(5, (not, level) => ({ $id: `s${level}`, not })),
      "/not/not/not/not",
      "at more than 4 levels",
    ],
    [
      "has addresses within addresses of a list",
      nested(5, (inner, level) => ({ $id: `s${level}`, allOf: [inner] })),
      "/allOf/0/allOf/0/allOf/0/allOf/0",
      "at more than 4 levels",
    ],
    [
      "has addresses of an old draft",
      nested(30, (not, level) => ({ id: `s${level}`, not })),
      "/not/not/not/not",
      "at more than 4 levels",
    ],
    [
      "has long keys above many",
      {
        $defs: {
          ["k".repeat(100_000)]: { properties: Object.fromEntries(Array.from({ length: 400 }, (_, n) => [n, {}])) },
        },
      },
      "",
      "keys are too long",
    ],
    [
      "has many patterns for keys",
      { patternProperties: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`^k${n}`, true])) },
      "/patternProperties",
      "more than 100 patterns",
    ],
  ])("%s", (_, schema, pointer, message) => {
    const refused = expect.objectContaining({
      code: "INVALID_SCHEMA",
      pointer,
      message: expect.stringContaining(message),
    });
    expect(() => compileJsonSchema(schema)).toThrow(refused);
  });
});

describe("a schema is taken that", () => {
  it.each<[string, Named, JsonValue, JsonValue]>([
    ["is a long chain", { $defs: definitions(198, (next) => next), $ref: "#/$defs/d0" }, "a", 1],
    [
      "doubles a few times",
      { $defs: definitions(10, (next) => ({ allOf: [next, next] })), $ref: "#/$defs/d0" },
      "a",
      1,
    ],
    [
      "refers to itself for what is within",
      { type: "object", additionalProperties: { $ref: "#" } },
      { a: { a: {} } },
      { a: 1 },
    ],
    ["has an address in another", nested(4, (inner, level) => ({ $id: `s${level}`, allOf: [inner] })), "a", 1],
    [
      "has a property named id",
      nested(9, (a) => ({ properties: { id: { type: "null" }, a } })),
      { id: null },
      { id: 1 },
    ],
    [
      "has addresses in a note",
      { type: "string", default: nested(9, (a, level) => ({ $id: `s${level}`, a })), note: null },
      "a",
      1,
    ],
    [
      "has some patterns for keys",
      { patternProperties: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`^k${n}$`, { type: "null" }])) },
      { k99: null },
      { k99: 1 },
    ],
  ])("%s", (_, schema, fitting, other) => {
    const { check } = compileJsonSchema(schema);
    expect(check(fitting)).toEqual([]);
    expect(check(other)).not.toEqual([]);
  });
});

describe("a check that would double with each level of the value", { timeout: 20_000 }, () => {
  const twice = { anyOf: [{ properties: { next: { $ref: "#" } } }, { properties: { next: { $ref: "#" } } }] };
  const chain = (levels: number, last: JsonValue): JsonValue =>
    Array.from({ length: levels }).reduce<JsonValue>((next) => ({ next }), last);

  /** How often the innermost object was looked into, and what was found. */
  function countedCheck(levels: number, schema: Named) {
    let looks = 0;
    const ownKeys = () => {
      looks++;
      return [];
    };
    const { check } = compileJsonSchema(schema);
    const issues = check(chain(levels, new Proxy({}, { ownKeys })));
    return { looks, issues, check };
  }

  it("has an end", () => {
    const few = countedCheck(6, twice);
    expect(few.issues).toEqual([]);
    expect(few.looks).toBeGreaterThanOrEqual(2 ** 6);
    const many = countedCheck(24, twice);
    expect(many.issues).toEqual([{ pointer: "", message: expect.stringContaining("takes too much work") }]);
    expect(many.looks).toBeLessThan(100_000);
    // Each check has a measure of its own.
    expect(many.check(chain(6, 1))).toEqual([]);
  });

  it("is made where the first property of each alternative tells them apart", () => {
    const kind = (name: string) => ({ properties: { kind: { const: name }, next: { $ref: "#" } }, required: ["kind"] });
    const { check } = compileJsonSchema({ oneOf: [kind("a"), kind("b"), kind("c")] });
    const list = (last: JsonValue) =>
      Array.from({ length: 14 }).reduce<JsonValue>(
        (next, _, index) => ({ kind: index % 2 === 0 ? "b" : "c", next }),
        last,
      );
    expect(check(list({ kind: "a" }))).toEqual([]);
    // The first fault is told where to look for every one would take too much.
    expect(check(list({ kind: "d" }))).toEqual([{ pointer: "", message: expect.stringContaining("exactly one") }]);
  });

  it("grants more to a larger value", () => {
    const { check } = compileJsonSchema({ items: { anyOf: Array.from({ length: 60 }, (_, n) => ({ const: n })) } });
    expect(check(Array.from({ length: 1_500 }, (_, n) => n % 60))).toEqual([]);
  });
});
