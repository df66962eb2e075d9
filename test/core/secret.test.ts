import { describe, expect, it } from "vitest";
import type { JsonArray, JsonObject, JsonValue } from "../../src/core/json.js";
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
  [
    "a schema that is reached twice",
    { $defs: { s: { items: secret } }, allOf: [{ $ref: "#/$defs/s" }, { $ref: "#/$defs/s" }] },
    [1],
    ["/0"],
  ],
  [
    "an own __proto__",
    { properties: JSON.parse('{"__proto__":{"writeOnly":true}}') },
    JSON.parse('{"__proto__":1}'),
    ["/__proto__"],
  ],
  ["what else may stand there", { unevaluatedProperties: secret }, { a: 1 }, ["/a"]],
  ["elements that else may stand there", { unevaluatedItems: secret }, [1], ["/0"]],
  ["nothing where anything may stand", { properties: { a: true, b: false } }, { a: 1, b: 2 }, []],
  ["properties by a pattern of code points", { patternProperties: { "^.$": secret } }, { "😀": 1 }, ["/😀"]],
  ["nothing, by true", true, { a: 1 }, []],
])("%s", (_, schema, value, expected) => {
  expect(secretPointers(schema, value)).toEqual(expected);
});

/** The value, and how often something within was read. */
function counted(value: JsonValue): { value: JsonValue; reads: () => number } {
  let reads = 0;
  const watch = (part: JsonValue): JsonValue => {
    if (typeof part !== "object" || part === null) return part;
    const copy = Array.isArray(part)
      ? part.map(watch)
      : Object.fromEntries(Object.entries(part).map(([key, child]) => [key, watch(child)]));
    const get = (target: JsonArray | JsonObject, key: string | symbol) => {
      reads++;
      return Reflect.get(target, key);
    };
    return new Proxy<JsonArray | JsonObject>(copy, { get });
  };
  return { value: watch(value), reads: () => reads };
}

describe("the work of a search", { timeout: 20_000 }, () => {
  it("grows with the value, not with its square", () => {
    const reads = [200, 400].map((count) => {
      const entries = Array.from({ length: count }, (_, index) => [`k${index}`, index] as const);
      const schema = { properties: Object.fromEntries(entries.map(([key]) => [key, secret])) };
      const search = counted(Object.fromEntries(entries));
      expect(secretPointers(schema, search.value)).toHaveLength(count);
      return search.reads();
    });
    expect(reads[1]).toBe(2 * Number(reads[0]));
  });

  it("holds no schema twice against one place, however many ways lead there", () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const branches = Array.from({ length: 12 }, (_, level) => [`d${level}`, twice(`d${level + 1}`)] as const);
    const schema = { $defs: { ...Object.fromEntries(branches), d12: { properties: { a: secret } } }, ...twice("d0") };
    const search = counted({ a: 1 });
    expect(secretPointers(schema, search.value)).toEqual(["/a"]);
    expect(search.reads()).toBe(1);
  });

  it("has an end, and then nothing may be shown", () => {
    const key = "k".repeat(1_000_000);
    const schema = { properties: { [key]: { items: secret } } };
    const list = (length: number) => ({ [key]: Array.from({ length }, () => 1) });
    expect(secretPointers(schema, list(20))).toHaveLength(20);
    expect(secretPointers(schema, list(60))).toEqual([""]);
    const within = { $defs: { list: schema }, allOf: [{ $ref: "#/$defs/list" }], properties: { a: secret } };
    expect(secretPointers(within, list(60))).toEqual([""]);
  });
});
