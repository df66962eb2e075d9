import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../src/core/freeze.js";
import { defaultJsonLimits, type JsonObject, type JsonValue, normalizeJson } from "../../src/core/json.js";
import { compileJsonSchema } from "../../src/core/json-validator.js";
import { boundPattern } from "../../src/core/pattern.js";
import { secretPointers } from "../../src/core/secret.js";
import { extremes, foreign, mutated, oddJson, oddText, settle, tries, unchanged } from "./hostile.js";

/** Law: whatever is given as a schema is one, or refused; whatever value is held against it fits, or has faults. */

const schemas: readonly JsonObject[] = [
  {
    type: "object",
    properties: { name: { type: "string", minLength: 1, pattern: "^[a-z]+$" }, age: { type: "integer", minimum: 0 } },
    required: ["name"],
    additionalProperties: false,
  },
  {
    type: "array",
    items: { $ref: "#/$defs/n" },
    uniqueItems: true,
    $defs: { n: { type: ["number", "null"], multipleOf: 0.1 } },
  },
  {
    oneOf: [
      { properties: { kind: { const: "a" }, next: { $ref: "#" } }, required: ["kind"] },
      { properties: { kind: { enum: ["b", null] }, list: { prefixItems: [true, { format: "date" }], items: false } } },
    ],
    unevaluatedProperties: { type: "string" },
  },
  {
    if: { required: ["a"] },
    ...JSON.parse('{"then":{"properties":{"a":{"contains":{"type":"number"},"minContains":2}}}}'),
    else: { not: { type: "object" } },
    dependentSchemas: { b: { maxProperties: 3 } },
    dependentRequired: { c: ["d"] },
    patternProperties: { "^s_": { writeOnly: true } },
    propertyNames: { maxLength: 9 },
  },
  {
    $id: "https://example.com/a",
    $anchor: "here",
    allOf: [{ $ref: "#there" }],
    $defs: { t: { $anchor: "there", format: "email" } },
  },
];
const keywords = [
  ...new Set(
    schemas.flatMap((schema) => [...JSON.stringify(schema).matchAll(/"([$a-zA-Z]+)":/g)].map(([, key = ""]) => key)),
  ),
];

const values = fc.oneof(
  oddJson,
  mutated([
    { name: "ada", age: 36 },
    [1, 2, 0.3, null],
    { kind: "a", next: { kind: "b", list: [1, "2031-05-06"] } },
    { a: [1, 2], s_x: 1, c: 1, d: 2 },
  ]),
);

function checkAgainst(schema: unknown, value: JsonValue): void {
  const validator = settle(() => compileJsonSchema(schema));
  if (typeof validator === "string") {
    expect(validator).toBe("INVALID_SCHEMA");
    return;
  }
  const issues = unchanged(value, () => validator.check(value));
  expect(issues.length).toBeLessThanOrEqual(100);
  for (const { pointer, message } of issues) {
    expect(pointer === "" || pointer.startsWith("/")).toBe(true);
    expect(message).not.toBe("");
  }
  // Held against the same value again, it says the same.
  expect(validator.check(value)).toEqual(issues);
  unchanged(value, () => secretPointers(validator.schema, value));
}

describe("a schema", { timeout: 60_000 }, () => {
  it("that is nearly one is one, or is refused", () => {
    fc.assert(fc.property(mutated(schemas, keywords), values, checkAgainst), tries(300));
  });

  it("of any JSON is one, or is refused", () => {
    fc.assert(fc.property(oddJson, values, checkAgainst), tries(100));
  });

  it("of anything else is refused", () => {
    fc.assert(
      fc.property(foreign, values, (make, value) => checkAgainst(make(), value)),
      tries(100),
    );
  });

  it("stays as it is", () => {
    fc.assert(
      fc.property(mutated(schemas, keywords), (schema) => {
        unchanged(schema, () => settle(() => compileJsonSchema(schema)));
      }),
      tries(50),
    );
  });

  it.each(extremes)("is read, or refused, that is %s", (_, make) => {
    const value = make();
    checkAgainst(value, 1);
    for (const keyword of ["properties", "allOf", "enum", "required", "$ref", "pattern", "const"]) {
      settle(() => compileJsonSchema({ [keyword]: value }));
    }
  });

  it.each(extremes)("is held against %s", (_, make) => {
    const value = make();
    for (const schema of [
      ...schemas,
      { items: { $ref: "#" }, properties: { a: { $ref: "#" } } },
      { const: 1 },
      { minLength: 3 },
    ]) {
      const { check } = compileJsonSchema(schema);
      expect(check(value).length).toBeLessThanOrEqual(100);
    }
  });
});

describe("a pattern", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    ".",
    "\\d",
    "[a-z]",
    "(a|b)",
    "(?:",
    ")",
    "*",
    "+",
    "?",
    "{2,}",
    "|",
    "^",
    "$",
    "(?=",
    "\\1",
    "[",
    "]",
    "\\u{1F600}",
  );

  it("is bounded or refused, and one that is bounded is a regular expression", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
          oddText,
        ),
        (pattern) => {
          const { refused, maxLength } = boundPattern(pattern);
          if (refused !== undefined) return;
          const text = "ab".repeat(Math.min(50, maxLength ?? 50));
          expect(typeof new RegExp(pattern, "u").test(text)).toBe("boolean");
        },
      ),
      tries(500),
    );
  });

  it.each([
    ["deep groups", "(".repeat(2_000) + ")".repeat(2_000)],
    ["deep alternatives", "(?:a|".repeat(800) + ")".repeat(800)],
    ["open classes", "[".repeat(4_000)],
    ["many alternatives", "a|".repeat(2_000)],
    [
      "alternatives that differ",
      `^(?:${Array.from({ length: 1_300 }, (_, n) => String.fromCharCode(0x4e00 + n)).join("|")})*$`,
    ],
    ["many optional parts", "a?".repeat(2_000)],
    ["deep looks ahead", "(?=".repeat(1_000) + ")".repeat(1_000)],
  ])("of any kind is read: %s", (_, pattern) => {
    expect(boundPattern(pattern)).toBeTypeOf("object");
  });
});

describe("a value", { timeout: 20_000 }, () => {
  it("of any kind is JSON, or refused at a place in it", () => {
    fc.assert(
      fc.property(foreign, (make) => {
        const normal = settle(() => normalizeJson(make(), defaultJsonLimits));
        expect(JSON.stringify(normal)).toBeTypeOf("string");
      }),
      tries(300),
    );
  });

  it.each(extremes)("that is %s is JSON, or too large", (_, make) => {
    const value = make();
    const normal = settle(() => normalizeJson(value, defaultJsonLimits));
    expect(normal === "RESULT_TOO_LARGE" || JSON.stringify(normal) === JSON.stringify(value)).toBe(true);
    if (normal !== "RESULT_TOO_LARGE") deepFreeze(normal);
  });
});
