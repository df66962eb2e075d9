import { describe, expect, it } from "vitest";
import { isToolweaveError, type ToolweaveError } from "../../src/core/errors.js";
import { normalizeToolCalls } from "../../src/providers/index.js";

function chatCall(args: unknown, id: unknown = "call_k") {
  return { id, type: "function", function: { name: "book_room", arguments: args } };
}

function one(raw: unknown) {
  const calls = normalizeToolCalls(raw);
  expect(calls).toHaveLength(1);
  return calls[0];
}

function thrown(run: () => unknown): ToolweaveError {
  try {
    run();
  } catch (error) {
    if (isToolweaveError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
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

describe("names", () => {
  it.each([undefined, null, "", 5, {}])("%j is none, and the call fails", (name) => {
    const call = one([{ id: "call_n", type: "function", function: { name, arguments: "{}" } }]);
    expect(call).toMatchObject({ id: "call_n", name: "", arguments: null, error: { code: "INVALID_CALL" } });
  });

  it("are taken as they are", () => {
    expect(one([{ name: "constructor", arguments: "{}" }])?.name).toBe("constructor");
  });
});

describe("ids", () => {
  const ids = (sent: unknown[]) =>
    normalizeToolCalls(sent.map((id, at) => ({ id, function: { name: "a", arguments: { at } } }))).map(({ id }) => id);

  it.each([
    [["a", "b"], ["a", "b"]],
    [[undefined, null, "", {}], ["call_1", "call_2", "call_3", "call_4"]],
    [[undefined, "call_1", undefined, "call_3"], ["call_2", "call_1", "call_4", "call_3"]],
    [[7, 0.5], ["7", "0.5"]],
    [["__proto__", "constructor"], ["__proto__", "constructor"]],
  ])("%j become %j", (sent, expected) => {
    expect(ids(sent)).toEqual(expected);
  });

  it("are not made of names: equal calls without ids are two", () => {
    const calls = normalizeToolCalls([{ functionCall: { name: "tick" } }, { functionCall: { name: "tick" } }]);
    expect(calls.map((call) => [call.id, call.index])).toEqual([
      ["call_1", 0],
      ["call_2", 1],
    ]);
  });

  it("the same call twice is one call", () => {
    const calls = normalizeToolCalls([chatCall('{"a":1,"b":2}', "x"), chatCall("{}", "y"), chatCall({ b: 2, a: 1 }, "x")]);
    expect(calls.map((call) => [call.id, call.index])).toEqual([
      ["x", 0],
      ["y", 1],
    ]);
  });

  it("the same failing call twice is one call", () => {
    expect(one([chatCall("{"), chatCall("{")])).toMatchObject({ arguments: null, raw_arguments: "{" });
  });

  it.each([
    ["other arguments", chatCall("{}", "x"), chatCall('{"a":1}', "x")],
    ["another name", chatCall("{}", "x"), { id: "x", name: "other", arguments: "{}" }],
    ["another kind", { id: "x", name: "q", arguments: '{"input":""}' }, { id: "x", custom: { name: "q", input: "" } }],
    ["another failure", chatCall("{", "x"), chatCall("[", "x")],
    ["a failure", chatCall("{", "x"), chatCall("{}", "x")],
    ["other text that fails alike", chatCall("{'a':1}", "x"), chatCall("{'b':1}", "x")],
    ["a number and its text", chatCall("{}", 3), chatCall('{"a":1}', "3")],
  ])("one id on two calls with %s is refused", (_kind, first, second) => {
    const error = thrown(() => normalizeToolCalls([first, chatCall("{}", "between"), second]));
    expect(error).toMatchObject({ code: "DUPLICATE_CALL_ID", pointer: "/2" });
    expect(error.message).toContain("Items 0 and 2");
  });
});

describe("what is no call", () => {
  it.each([
    ["null", null, "null"],
    ["nothing", undefined, "null"],
    ["a number", 5, "a number"],
    ["a text", "call me", "a string"],
    ["a list of numbers", [5], "a number"],
    ["a list of lists", [[]], "an array"],
    ["a list with null", [null], "null"],
    ["an empty object", {}, "an object without keys"],
    ["another object", { color: "secret red", size: 1 }, 'the keys "color", "size"'],
    ["a call among calls of no shape", [chatCall("{}"), { shape: "unheard of" }], 'the keys "shape"'],
    ["a call to a computer", { output: [{ type: "computer_call", call_id: "c", action: {} }] }, '"call_id"'],
    ["a list of messages", [{ role: "assistant", content: "", tool_calls: [chatCall("{}")] }], '"tool_calls"'],
    ["a whole message among items", [{ type: "message", content: [{ type: "tool_use", id: "t", name: "a" }] }], '"content"'],
    ["calls under no list", { role: "assistant", content: "", tool_calls: chatCall("{}") }, '"tool_calls"'],
    ["a person's message", { role: "user", content: "hello" }, '"role"'],
    ["a message with parts of an interface", { role: "assistant", parts: [{ type: "tool-book", toolCallId: "c" }] }, '"toolCallId"'],
    ["a piece of a stream", { choices: [{ delta: { tool_calls: [] } }] }, '"choices"'],
    ["pieces of one call", [chatCall(""), { index: 0, function: { arguments: '{"a"' } }], '"index"'],
    ["a function that is none", [{ id: "x", function: "book" }], '"function"'],
    ["a tool use that is none", [{ toolUse: "book" }], '"toolUse"'],
    ["a Gemini call that is none", [{ functionCall: "book" }], '"functionCall"'],
  ])("%s is refused", (_kind, raw, found) => {
    const error = thrown(() => normalizeToolCalls(raw));
    expect(error.code).toBe("UNKNOWN_CALL_SHAPE");
    expect(error.message).toContain(found);
    expect(error.message).not.toMatch(/secret|unheard|hello|call me/);
  });

  it("is told by at most ten keys, each at most 40 characters", () => {
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${"k".repeat(90)}`, at]));
    const { message } = thrown(() => normalizeToolCalls(wide));
    expect(message.length).toBeLessThan(800);
  });

  it.each([
    ["an empty list", []],
    ["a text alone", { choices: [{ message: { role: "assistant", content: "Done." }, finish_reason: "stop" }] }],
    ["no choice", { choices: [] }],
    ["a message without content", { role: "assistant", content: null, tool_calls: null }],
    ["an empty list of calls", { message: { role: "assistant", content: "Done.", toolCalls: [] } }],
    ["parts of text", { role: "assistant", content: [{ type: "text", text: "Done." }, { type: "refusal", refusal: "No." }] }],
  ])("%s holds no calls", (_kind, raw) => {
    expect(normalizeToolCalls(raw)).toEqual([]);
  });
});

describe("values that are not plain", () => {
  it("are read by their own properties", () => {
    class Reply {
      readonly choices = [{ message: { role: "assistant", tool_calls: [chatCall('{"a":1}')] } }];
      close = () => undefined;
    }
    expect(one(new Reply())).toMatchObject({ arguments: { a: 1 } });
  });

  it("are read by toJSON where that shows what they hold", () => {
    class Reply {
      readonly #calls = [chatCall('{"a":1}')];
      toJSON() {
        return this.#calls;
      }
    }
    expect(one(new Reply())).toMatchObject({ arguments: { a: 1 } });
    expect(one({ toJSON: () => ({ message: { tool_calls: [chatCall('{"a":1}')] } }) })).toMatchObject({ id: "call_k" });
  });

  it("may hold what is no JSON beside the calls", () => {
    const content = [
      { reasoningContent: { redactedContent: new Uint8Array(3) } },
      { toolUse: { toolUseId: "t1", name: "book", input: {} } },
    ];
    expect(one({ output: { message: { role: "assistant", content } }, stopReason: "tool_use" })?.id).toBe("t1");
  });

  it("are refused where a call is no JSON", () => {
    const error = thrown(() => normalizeToolCalls([chatCall({ n: 1n })]));
    expect(error).toMatchObject({ code: "UNKNOWN_CALL_SHAPE", pointer: "/0/function/arguments/n" });
    expect(error.cause).toMatchObject({ code: "RESULT_NOT_JSON" });
  });

  it("are refused where reading them throws", () => {
    const hostile = Object.defineProperty({}, "choices", {
      get: () => {
        throw new Error("no");
      },
    });
    expect(thrown(() => normalizeToolCalls(hostile)).code).toBe("UNKNOWN_CALL_SHAPE");
  });

  it("keep nothing of what the caller can change", () => {
    const raw = chatCall({ rooms: ["a"] });
    const call = one([raw]);
    raw.function.name = "other";
    expect(call).toMatchObject({ name: "book_room", raw_call: { function: { name: "book_room" } } });
    expect(Object.isFrozen(call?.arguments?.rooms)).toBe(true);
  });

  it("inherited properties say nothing", () => {
    const heir: unknown = Object.create({ tool_calls: [chatCall("{}")], role: "assistant", content: "" });
    expect(thrown(() => normalizeToolCalls(heir)).code).toBe("UNKNOWN_CALL_SHAPE");
  });
});

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
    expect(one([{ id: "x", name: "pay", arguments: "[]", raw_arguments: "{}" }])?.error?.code).toBe("INVALID_ARGUMENTS");
  });
});
