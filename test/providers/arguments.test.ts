import { describe, expect, it } from "vitest";
import { normalizeToolCalls } from "../../src/providers/index.js";

function chatCall(args: unknown, id: unknown = "call_k") {
  return { id, type: "function", function: { name: "book_room", arguments: args } };
}

function one(raw: unknown) {
  const calls = normalizeToolCalls(raw);
  expect(calls).toHaveLength(1);
  return calls[0];
}

describe("arguments", () => {
  it.each([
    ["absent", undefined, "", {}],
    ["null", null, "null", {}],
    ["empty", "", "", {}],
    ["blank", " \n ", " \n ", {}],
    ["the text null", " null ", " null ", {}],
    ["an object", { floor: 3 }, '{"floor":3}', { floor: 3 }],
    ["the text of an object", '{"floor":3}', '{"floor":3}', { floor: 3 }],
    ["text encoded twice", '"{\\"floor\\": 3}"', '"{\\"floor\\": 3}"', { floor: 3 }],
    ["text encoded twice, with blanks before it", '"  {\\"floor\\": 3}"', '"  {\\"floor\\": 3}"', { floor: 3 }],
    ["null within", '{"floor":null}', '{"floor":null}', { floor: null }],
    ["a long integer as text", '{"n":"9007199254740993"}', '{"n":"9007199254740993"}', { n: "9007199254740993" }],
    ["2^53 itself", '{"n":9007199254740992}', '{"n":9007199254740992}', { n: 2 ** 53 }],
    ["a large float", '{"n":1e300}', '{"n":1e300}', { n: 1e300 }],
  ])("%s", (_kind, sent, text, expected) => {
    const call = one([chatCall(sent)]);
    expect(call).toMatchObject({ arguments: expected, raw_arguments: text });
    expect(call).not.toHaveProperty("error");
  });

  it.each([
    ["broken", '{"card":"5500-0000', "ends after 18 characters"],
    ["fenced", '```json\n{"card":1}\n```', "character 0"],
    ["single quotes", "{'card':1}", "character 1"],
    ["trailing text", '{"card":1} done', "several JSON values, or text behind"],
    ["two objects", '{"card":1}{"card":2}', "several JSON values"],
    ["an empty object first", '{}{"card":1}', "several JSON values"],
    ["a list", '["card"]', "an array"],
    ["a parsed list", ["card"], "an array"],
    ["a number", "17", "a number"],
    ["a parsed number", 17, "a number"],
    ["a boolean", "true", "a boolean"],
    ["a text", '"card"', "a string"],
    ["a text that holds no object", '"[1]"', "a string"],
    ["a text that holds a broken object", '"{\\"card\\":"', "ends after"],
    ["a text that holds a list", '"{} []"', "several JSON values"],
    ["thrice encoded", JSON.stringify(JSON.stringify('{"card":1}')), "a string"],
    ["a long integer", '{"card":{"no":9007199254740993}}', "beyond 2^53 at /card/no"],
    ["a long integer at the top", "9007199254740993", "beyond 2^53,"],
    ["a number without bounds", '{"card":1e999}', "number at /card that is too large"],
    ["a byte order mark", '\uFEFF{"card":1}', "character 0"],
    ["nested without end", `{"a":${"[".repeat(300)}${"]".repeat(300)}}`, "nested too deeply"],
  ])("%s makes the call fail", (_kind, sent, text) => {
    const call = one([chatCall(sent)]);
    expect(call).toMatchObject({ arguments: null, error: { code: "INVALID_ARGUMENTS" } });
    expect(call?.raw_arguments).toBe(typeof sent === "string" ? sent : JSON.stringify(sent));
    expect(call?.error?.message).toContain(text);
    expect(call?.error?.message).not.toMatch(/5500|done|json|Error|at JSON/);
  });

  it("keep keys like __proto__ as data", () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const call = one([chatCall(text)]);
    expect(JSON.stringify(call?.arguments)).toBe(text);
    expect(Object.getPrototypeOf(call?.arguments)).toBe(Object.prototype);
    expect({}).not.toHaveProperty("polluted");
  });

  it("name the place by its keys at most 200 characters long", () => {
    const call = one([chatCall(`{"${"k".repeat(5_000)}":1e999}`)]);
    expect(call?.error?.message.length).toBeLessThan(400);
  });

  it("of a custom call are its text", () => {
    const custom = (input: unknown) => [{ id: "call_c", type: "custom", custom: { name: "sql", input } }];
    expect(one(custom("select {"))).toMatchObject({ type: "custom", arguments: { input: "select {" } });
    expect(one(custom(undefined))).toMatchObject({ arguments: { input: "" }, raw_arguments: "" });
    expect(one(custom("null"))).toMatchObject({ arguments: { input: "null" } });
  });
});
