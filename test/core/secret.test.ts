import { expect, it } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import { type JsonSchema, secretPointers } from "../../src/core/schema.js";

const secret = { writeOnly: true } as const;

it.each<[string, JsonSchema, JsonValue, string[]]>([
  ["a property", { properties: { a: secret, b: { type: "string" } } }, { a: 1, b: 2 }, ["/a"]],
  ["a password", { properties: { a: { format: "password" } } }, { a: "x" }, ["/a"]],
  ["what is not marked, or marked as none", { properties: { a: { writeOnly: false, format: "date" } } }, { a: 1 }, []],
  ["nothing that is not there", { properties: { a: secret, constructor: secret } }, {}, []],
  [
    "nothing of a list or a scalar",
    { properties: { 0: secret }, patternProperties: { "^0": secret }, additionalProperties: secret },
    [1],
    [],
  ],
  ["nothing of a scalar", { properties: { a: secret }, items: secret }, "a", []],
  ["the whole", secret, { a: 1 }, [""]],
  [
    "elements",
    { properties: { a: { items: { properties: { b: secret } } } } },
    { a: [{ b: 1 }, {}, { b: 2 }] },
    ["/a/0/b", "/a/2/b"],
  ],
  ["some elements", { prefixItems: [{}, secret, secret] }, [1, 2], ["/1"]],
  ["some elements, of older drafts", { items: [secret], additionalItems: secret }, [1, 2], ["/0", "/1"]],
  ["elements of an object", { items: secret, prefixItems: [secret], unevaluatedItems: secret }, { 0: 1 }, []],
  ["other properties", { properties: { a: {} }, additionalProperties: secret }, { a: 1, "b/c": 2 }, ["/b~1c"]],
  ["any property", { additionalProperties: secret }, { a: 1 }, ["/a"]],
  ["properties by pattern", { patternProperties: { "^s_": secret } }, { s_a: 1, b: 2 }, ["/s_a"]],
  [
    "any branch",
    { anyOf: [{ properties: { a: secret } }, { properties: { b: secret } }], not: { properties: { c: secret } } },
    { a: 1, b: 2, c: 3 },
    ["/a", "/b"],
  ],
  ["a reference", { $defs: { s: secret }, properties: { a: { $ref: "#/$defs/s" } } }, { a: 1 }, ["/a"]],
  [
    "as deep as a value goes",
    { properties: { key: secret, next: { $ref: "#" } } },
    { key: 1, next: { key: 2, next: { key: 3 } } },
    ["/key", "/next/key", "/next/next/key"],
  ],
  ["a schema that refers to itself", { $ref: "#", properties: { a: secret } }, { a: 1 }, ["/a"]],
  [
    "an own __proto__",
    { properties: JSON.parse('{"__proto__":{"writeOnly":true}}') },
    JSON.parse('{"__proto__":1}'),
    ["/__proto__"],
  ],
  ["nothing, by true", true, { a: 1 }, []],
])("%s", (_, schema, value, expected) => {
  expect(secretPointers(schema, value)).toEqual(expected);
});
