import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { type ReferenceScope, resolveReference } from "../../src/core/reference.js";

const scope: ReferenceScope = {
  arguments: {
    town: "Riga",
    rows: [{ no: 3 }, [5, 6]],
    zero: 0,
    off: false,
    nil: null,
    word: "abc",
    "": "blank",
    "x.y": 1,
    "1": "one",
  },
  call: { id: "c-9", name: "reserve", arguments: { town: "Riga" } },
  tool_name: "reserve",
  tool_call_id: "c-9",
  ctx: {
    area: "north",
    "person.name": "Ada",
    person: { name: "Bo", tags: ["a"] },
    arguments: "hidden",
    call: "hidden",
    tool_name: "hidden",
    link: "arguments.town",
    link2: { at: "tool_name" },
    "": "empty",
    nil: null,
  },
};

describe("resolveReference", () => {
  test.each<[reference: JsonValue, expected: JsonValue]>([
    ["arguments", scope.arguments],
    ["arguments.town", "Riga"],
    ["arguments.rows.0.no", 3],
    ["arguments.rows.1.1", 6],
    ["arguments.1", "one"],
    ["arguments.zero", 0],
    ["arguments.off", false],
    ["arguments.nil", null],
    ["call", scope.call],
    ["call.id", "c-9"],
    ["call.arguments.town", "Riga"],
    ["tool_name", "reserve"],
    ["tool_call_id", "c-9"],
    ["ctx.area", "north"],
    ["ctx.person.tags.0", "a"],
    ["ctx.arguments", "hidden"],
    // The whole path must resolve.
    ["arguments.gone", null],
    ["arguments.gone.deep", null],
    ["arguments.rows.2", null],
    ["arguments.rows.-1", null],
    ["arguments.rows.00", null],
    ["arguments.rows.length", null],
    ["arguments.word.0", null],
    ["arguments.word.length", null],
    ["arguments.nil.deep", null],
    ["arguments.x.y", null],
    ["arguments.constructor", null],
    ["arguments.__proto__", null],
    ["ctx.person.name.first", null],
    ["ctx.gone", null],
    ["ctx.toString", null],
    // An empty segment selects nothing, not even an empty key.
    ["arguments.", null],
    ["arguments..town", null],
    ["call.", null],
    ["ctx.", null],
    ["ctx.person.", null],
    // Any other string: the context's own key, else the string.
    ["area", "north"],
    ["person.name", "Ada"],
    ["person", { name: "Bo", tags: ["a"] }],
    ["nil", null],
    ["", "empty"],
    ["ctx", "ctx"],
    ["person.tags", "person.tags"],
    ["Arguments.town", "Arguments.town"],
    [" arguments.town", " arguments.town"],
    [".arguments", ".arguments"],
    ["argumentsx", "argumentsx"],
    ["tool_name.x", "tool_name.x"],
    ["toString", "toString"],
    ["__proto__", "__proto__"],
    ["{{arguments.town}}", "{{arguments.town}}"],
    // What is selected is not read again.
    ["link", "arguments.town"],
    ["link2", { at: "tool_name" }],
    // Objects and arrays are mapped, other scalars stay.
    [
      { to: "arguments.town", as: ["area", { n: 1 }] },
      { to: "Riga", as: ["north", { n: 1 }] },
    ],
    [{ "arguments.town": "plain" }, { "arguments.town": "plain" }],
    [
      [0, true, false, null, ""],
      [0, true, false, null, "empty"],
    ],
    [[], []],
  ])("%j", (reference, expected) => {
    expect(resolveReference(reference, scope)).toStrictEqual(expected);
  });

  test("a context's own key named ctx is a key like any other", () => {
    expect(resolveReference("ctx", { ...scope, ctx: { ctx: 1 } })).toBe(1);
  });

  test.each<[reference: string, roots: Partial<ReferenceScope>, expected: JsonValue]>([
    ["arguments", { arguments: null }, null],
    ["arguments.town", { arguments: "Riga" }, null],
    ["arguments.0", { arguments: "Riga" }, null],
    ["arguments.0.no", { arguments: [{ no: 3 }] }, 3],
    ["call.id", { call: null }, null],
    ["tool_name", { tool_name: null }, null],
    ["ctx.area", { ctx: null }, null],
    ["area", { ctx: null }, "area"],
    ["area", { ctx: {} }, "area"],
  ])("%s with %j", (reference, roots, expected) => {
    expect(resolveReference(reference, { ...scope, ...roots })).toBe(expected);
  });

  test("an own key __proto__ is mapped and selected as a plain key", () => {
    const mapping: JsonValue = JSON.parse('{"__proto__": "arguments.__proto__"}');
    const args: JsonValue = JSON.parse('{"__proto__": 7}');
    expect(JSON.stringify(resolveReference(mapping, { ...scope, arguments: args }))).toBe('{"__proto__":7}');
  });

  test("what is selected is a copy", () => {
    const ctx: JsonObject = { person: { tags: ["a"] } };
    const copy = resolveReference({ a: "person", b: "ctx.person" }, { ...scope, ctx });
    expect(copy).toEqual({ a: ctx.person, b: ctx.person });
    Reflect.set((copy as { a: object }).a, "tags", "spoilt");
    expect(copy).toEqual({ a: { tags: "spoilt" }, b: { tags: ["a"] } });
    expect(ctx).toEqual({ person: { tags: ["a"] } });
  });

  test("nesting has a limit", () => {
    let deep: JsonValue = "area";
    for (let level = 0; level < 50_000; level++) deep = level % 2 === 0 ? [deep] : { deep };
    const tooLarge = expect.objectContaining({ code: "RESULT_TOO_LARGE" });
    expect(() => resolveReference(deep, scope)).toThrow(tooLarge);
    expect(() => resolveReference("arguments", { ...scope, arguments: deep })).toThrow(tooLarge);
  });
});
