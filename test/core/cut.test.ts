import { describe, expect, it } from "vitest";
import { cut, jsonBytes } from "../../src/core/cut.js";
import type { JsonValue } from "../../src/core/json.js";

describe("cut", () => {
  it.each<[string, JsonValue, number, JsonValue]>([
    ["a text to its beginning", "abcdefgh", 4, "abcd…"],
    ["a text at a character, not within", "äöü", 5, "äö…"],
    ["a text outside the first plane, whole or not at all", "😀😀", 7, "😀…"],
    ["a text for which nothing is left", "abc", 0, "…"],
    ["a list to its first elements", [1, 2, 3, 4], 6, [1, 2]],
    ["an element itself", ["a", "bcdefghijk"], 12, ["a", "bcdefg…"]],
    ["an object to its first properties", { a: true, b: null, c: 1 }, 14, { a: true }],
    ["a property itself", { a: "bcdefghijk", z: 1 }, 12, { a: "bcdef…" }],
    ["nothing that fits", { a: [1, "x"] }, 100, { a: [1, "x"] }],
    ["all of a list", [1], 0, []],
  ])("%s", (_name, value, maxBytes, expected) => {
    expect(cut(value, maxBytes)).toEqual(expected);
  });

  it("keeps an own key named __proto__ as data", () => {
    expect(JSON.stringify(cut(JSON.parse('{"__proto__":"abcdefgh"}'), 20))).toBe('{"__proto__":"abcde…"}');
  });
});

describe("jsonBytes", () => {
  it("counts the JSON text in UTF-8", () => {
    expect(jsonBytes({ ä: '"' })).toBe('{"ä":"\\""}'.length + 1);
  });
});
