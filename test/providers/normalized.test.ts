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

describe("normalizing twice", () => {
  const wild = { n: 12345678901234567000, "2": 0, "1": 0 };

  it.each([
    ["text", [chatCall('{ "b" : 1, "a" : 2 }')]],
    ["parsed arguments, even beyond 2^53", [chatCall(wild)]],
    ["absent and null arguments", [chatCall(undefined, "a"), chatCall(null, "b")]],
    ["text encoded twice", [chatCall('"{\\"a\\":1}"')]],
    ["custom calls", [{ id: "c", type: "custom", custom: { name: "sql", input: '{"a":' } }]],
    ["minted ids", [{ functionCall: { name: "a" } }, chatCall("{}", "call_1")]],
    ["failing calls", [chatCall("{", "a"), chatCall("[1]", "b"), chatCall([1], "c"), { id: "d", function: {} }]],
    ["a call cut off", { message: { tool_calls: [chatCall("{}")] }, finish_reason: "length" }],
    ["the older call", { role: "assistant", content: null, function_call: { name: "a", arguments: "{}" } }],
    ["a number as id", [{ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "a" } }]],
    ["deep arguments", [chatCall(JSON.parse(`${'{"a":'.repeat(198)}1${"}".repeat(198)}`))]],
  ])("changes nothing: %s", (_kind, raw) => {
    const once = normalizeToolCalls(raw);
    expect(normalizeToolCalls(once)).toEqual(once);
    expect(normalizeToolCalls(JSON.parse(JSON.stringify(once)))).toEqual(once);
  });

  it("takes keys in another order", () => {
    const [call] = normalizeToolCalls([chatCall('{"a":1,"b":2}')]);
    expect(one([{ ...call, arguments: { b: 2, a: 1 } }])).toMatchObject({ arguments: { a: 1, b: 2 } });
  });

  it("takes one call by itself", () => {
    const [call] = normalizeToolCalls([chatCall("{}")]);
    expect(one(call)).toEqual(call);
  });

  it.each([
    ["broken text, its error taken away", { arguments: null, raw_arguments: "{" }, "ends after"],
    ["broken text, arguments put in", { arguments: {}, raw_arguments: "{" }, "ends after"],
    ["no arguments, broken text", { raw_arguments: "[1]" }, "an array"],
    ["other arguments than its text", { arguments: { a: 2 }, raw_arguments: '{"a":1}' }, "not those of raw_arguments"],
    ["arguments for none", { arguments: { a: 2 }, raw_arguments: "" }, "not those of raw_arguments"],
    ["arguments that are no object", { arguments: [1], raw_arguments: '{"a":1}' }, "not those of raw_arguments"],
    ["a list that is its text", { arguments: [1], raw_arguments: "[1]" }, "an array"],
    ["a rounded integer", { arguments: { n: 2 ** 53 }, raw_arguments: '{"n":9007199254740993}' }, "beyond 2^53"],
    ["an error of no kind", { arguments: {}, raw_arguments: "{", error: { code: "OK", message: "" } }, "ends after"],
    ["an error without words", { arguments: {}, raw_arguments: "{", error: { code: "INVALID_CALL" } }, "ends after"],
    [
      "custom text changed",
      { type: "custom", arguments: { input: "drop" }, raw_arguments: "select" },
      "not those of raw_arguments",
    ],
  ])("believes nothing unchecked: %s", (_kind, fields, text) => {
    const call = one([{ id: "x", index: 0, type: "function", name: "pay", raw_call: {}, ...fields }]);
    expect(call).toMatchObject({ arguments: null, error: { code: "INVALID_ARGUMENTS" } });
    expect(call?.error?.message).toContain(text);
  });

  it("an error stands, whatever arguments are put beside it", () => {
    const error = { code: "INVALID_ARGUMENTS", message: "The call was cut off." };
    const call = one([{ id: "x", name: "pay", arguments: { a: 1 }, raw_arguments: '{"a":1}', raw_call: null, error }]);
    expect(call).toMatchObject({ arguments: null, error });
  });

  it("an error of a call without arguments stands, though they could be read", () => {
    const error = { code: "INVALID_CALL", message: "No." };
    expect(one([{ id: "a", name: "b", arguments: {}, raw_arguments: "{}", raw_call: null, error }])).toMatchObject({
      arguments: null,
      error,
    });
  });

  it("without name, id or kind, a lookalike is a call like any other", () => {
    expect(one([{ raw_arguments: "", raw_call: 5 }])).toMatchObject({
      id: "call_1",
      type: "function",
      arguments: null,
      error: { code: "INVALID_CALL" },
    });
  });

  it("without raw_call or with another raw_arguments it is no normalized call", () => {
    expect(one([{ id: "x", name: "pay", arguments: "{", raw_arguments: 5 }])?.error?.code).toBe("INVALID_ARGUMENTS");
    expect(one([{ id: "x", name: "pay", arguments: "[]", raw_arguments: "{}" }])?.error?.code).toBe(
      "INVALID_ARGUMENTS",
    );
  });
});
