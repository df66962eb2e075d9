import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { holdsMask, mask, maskAt, maskedBy } from "../../src/core/mask.js";
import type { JsonSchema } from "../../src/core/schema.js";

const login: JsonSchema = {
  type: "object",
  properties: {
    user: { type: "string" },
    password: { type: "string", format: "password" },
    keys: { type: "array", items: { properties: { pin: { writeOnly: true } } } },
  },
};

describe("maskedBy", () => {
  it.each<[string, JsonSchema | undefined, JsonValue, readonly string[] | undefined]>([
    ["no schema", undefined, { password: "p" }, undefined],
    ["a schema that is true", true, { password: "p" }, undefined],
    [
      "a schema that speaks of marks in its data alone",
      { const: { format: "password" } },
      { format: "password" },
      undefined,
    ],
    ["a schema that keeps nothing back", { properties: { password: {} } }, { password: "p" }, undefined],
    ["a marked property", login, { user: "u", password: "p" }, ["/password"]],
    ["a marked property that is not there", login, { user: "u" }, undefined],
    ["marked elements", login, { keys: [{ pin: 1 }, {}, { pin: 2 }] }, ["/keys/0/pin", "/keys/2/pin"]],
    ["a value that is marked as a whole", { writeOnly: true }, "p", [""]],
  ])("%s", (_name, schema, value, masked) => {
    expect(maskedBy(schema, value)).toEqual(masked === undefined ? {} : { masked });
  });
});

describe("maskAt", () => {
  it.each<[string, JsonValue, readonly string[], JsonValue]>([
    ["a property", { a: 1, b: "s" }, ["/b"], { a: 1, b: mask }],
    ["an element", { a: [1, [2, 3]] }, ["/a/1/0"], { a: [1, [mask, 3]] }],
    ["a property whose name is escaped", { "a/b~": "s" }, ["/a~1b~0"], { "a/b~": mask }],
    ["an object within", { card: { number: "1" } }, ["/card"], { card: mask }],
    ["a whole text", "s", [""], mask],
    ["a whole list", [1], [""], mask],
    ["a whole object, whose keys are shown", { a: 1, b: { c: 2 } }, [""], { a: mask, b: mask }],
    ["what is not there", { a: 1 }, ["/b/c"], { a: 1 }],
    ["null", null, [""], mask],
  ])("masks %s", (_name, value, masked, shown) => {
    expect(maskAt(value, masked)).toEqual(shown);
  });

  it("gives the very value where nothing is kept from people", () => {
    const value: JsonObject = { a: 1 };
    expect(maskAt(value, undefined)).toBe(value);
  });

  it("leaves the value itself as it is", () => {
    const value: JsonObject = { a: { b: "s" } };
    maskAt(value, ["/a/b"]);
    expect(value).toEqual({ a: { b: "s" } });
  });

  it("keeps an own key named __proto__ as data", () => {
    const value = JSON.parse('{"__proto__":{"a":"s"},"b":1}') as JsonObject;
    expect(JSON.stringify(maskAt(value, ["/__proto__/a"]))).toBe(`{"__proto__":{"a":"${mask}"},"b":1}`);
  });
});

describe("holdsMask", () => {
  it.each<[JsonValue, boolean]>([
    [mask, true],
    [{ a: [{ b: mask }] }, true],
    [`${mask} and more`, false],
    [{ [mask]: 1 }, false],
    [[null, 1, true, "x", {}], false],
  ])("%j: %s", (value, expected) => {
    expect(holdsMask(value)).toBe(expected);
  });
});
