import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import { parseFragment, parsePointer, pointerTo, step, walk } from "../../src/core/path.js";

const json = (text: string): JsonValue => JSON.parse(text);

describe("step", () => {
  test.each<[name: string, value: JsonValue | undefined, segment: string, expected: JsonValue | undefined]>([
    ["an own key", { city: "Bergen" }, "city", "Bergen"],
    ["a key that holds null", { city: null }, "city", null],
    ["the empty key", { "": 4 }, "", 4],
    ["a numeric key of an object", { "01": "x" }, "01", "x"],
    ["an own key named __proto__", json('{"__proto__": 5}'), "__proto__", 5],
    ["an own key named length", { length: 8 }, "length", 8],
    ["an inherited name", { city: "Bergen" }, "toString", undefined],
    ["the prototype", { city: "Bergen" }, "__proto__", undefined],
    ["the first element", ["a", "b"], "0", "a"],
    ["an element with two digits", Array.from("abcdefghijkl"), "11", "l"],
    ["an index out of range", ["a"], "1", undefined],
    ["an index with a leading zero", ["a", "b"], "01", undefined],
    ["a negative index", ["a", "b"], "-1", undefined],
    ["an index with a fraction", ["a", "b"], "1.0", undefined],
    ["an index in scientific notation", ["a", "b"], "1e0", undefined],
    ["an index beyond all arrays", ["a"], "99999999999999999999", undefined],
    ["no index", ["a"], "", undefined],
    ["the length of an array", ["a"], "length", undefined],
    ["a method of arrays", ["a"], "map", undefined],
    ["a character of a string", "abc", "0", undefined],
    ["the length of a string", "abc", "length", undefined],
    ["a number", 12, "toFixed", undefined],
    ["null", null, "a", undefined],
    ["nothing", undefined, "a", undefined],
  ])("%s", (_name, value, segment, expected) => {
    expect(step(value, segment)).toEqual(expected);
  });
});

describe("walk", () => {
  const order = { lines: [{ sku: "A-1", gift: null }] };

  test.each([
    ["no segments", [], { value: order, reached: 0, at: order }],
    ["to the end", ["lines", "0", "sku"], { value: "A-1", reached: 3, at: "A-1" }],
    ["to null", ["lines", "0", "gift"], { value: null, reached: 3, at: null }],
    ["through null", ["lines", "0", "gift", "wrap"], { value: undefined, reached: 3, at: null }],
    ["past the end of a list", ["lines", "1", "sku"], { value: undefined, reached: 1, at: order.lines }],
    ["a missing key at once", ["total"], { value: undefined, reached: 0, at: order }],
  ])("%s", (_name, segments, expected) => {
    expect(walk(order, segments)).toEqual(expected);
  });

  test("from nowhere", () => {
    expect(walk(undefined, ["a"])).toEqual({ value: undefined, reached: 0, at: undefined });
  });
});

describe("pointers", () => {
  test.each<[text: string, segments: string[] | undefined]>([
    ["", []],
    ["/", [""]],
    ["/a/0", ["a", "0"]],
    ["/a.b/c d", ["a.b", "c d"]],
    ["/m~0n/a~1b", ["m~n", "a/b"]],
    ["/~01", ["~1"]],
    ["/%20", ["%20"]],
    ["a/b", undefined],
    ["/a~", undefined],
    ["/a~2", undefined],
  ])("parsePointer(%j)", (text, segments) => {
    expect(parsePointer(text)).toEqual(segments);
  });

  test.each<[text: string, segments: string[] | undefined]>([
    ["", []],
    ["/c%25d/k%22l/%20", ["c%d", 'k"l', " "]],
    ["/gr%C3%BC%C3%9Fe", ["grüße"]],
    ["/a%2Fb", ["a", "b"]],
    ["/a%7E1b", ["a/b"]],
    ["/100%", undefined],
    ["/%C3%28", undefined],
    ["/a%7E", undefined],
    ["a", undefined],
  ])("parseFragment(%j)", (text, segments) => {
    expect(parseFragment(text)).toEqual(segments);
  });

  test("pointerTo writes what parsePointer reads", () => {
    const segments = ["steps", 1, "a/b", "m~n", ""];
    expect(pointerTo(segments)).toBe("/steps/1/a~1b/m~0n/");
    expect(parsePointer(pointerTo(segments))).toEqual(segments.map(String));
    expect(pointerTo([])).toBe("");
  });
});
