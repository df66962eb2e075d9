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
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [
      [undefined, null, "", {}],
      ["call_1", "call_2", "call_3", "call_4"],
    ],
    [
      [undefined, "call_1", undefined, "call_3"],
      ["call_2", "call_1", "call_4", "call_3"],
    ],
    [
      [7, 0.5],
      ["7", "0.5"],
    ],
    [
      ["__proto__", "constructor"],
      ["__proto__", "constructor"],
    ],
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
    const calls = normalizeToolCalls([
      chatCall('{"a":1,"b":2}', "x"),
      chatCall("{}", "y"),
      chatCall({ b: 2, a: 1 }, "x"),
    ]);
    expect(calls.map((call) => [call.id, call.index])).toEqual([
      ["x", 0],
      ["y", 1],
    ]);
  });

  it("a whole call and one cut off are two, though their text is the same", () => {
    const turn = { tool_calls: [chatCall("{}"), chatCall("{}")], finish_reason: "length" };
    expect(thrown(() => normalizeToolCalls(turn)).code).toBe("DUPLICATE_CALL_ID");
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
    [
      "a whole message among items",
      [{ type: "message", content: [{ type: "tool_use", id: "t", name: "a" }] }],
      '"content"',
    ],
    ["calls under no list", { role: "assistant", content: "", tool_calls: chatCall("{}") }, '"tool_calls"'],
    ["a message whose content is none", { role: "assistant", content: 5 }, '"content"'],
    ["a person's message", { role: "user", content: "hello" }, '"role"'],
    [
      "a message with parts of an interface",
      { role: "assistant", parts: [{ type: "tool-book", toolCallId: "c" }] },
      '"toolCallId"',
    ],
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

  it.each<[string, unknown, string, string]>([
    ["an item", [chatCall("{}"), 5], "/1", "Item 1: expected a response, a message"],
    [
      "what can't be kept",
      [{ id: "a", function: { name: "a", arguments: 1n } }],
      "/0",
      "The tool calls: expected a response",
    ],
    ["what can't be kept, not in a list", { big: 1n }, "", "what can't be kept as JSON (see the cause)"],
    ["what throws", new Proxy([], { get: () => JSON.parse("no JSON") }), "", "can't be read: expected a response"],
    ["what throws, and why", new Proxy([], { get: () => JSON.parse("no JSON") }), "", "found: reading them throws."],
    [
      "a flat call with a type",
      [{ type: "x", name: "a", arguments: "{}" }],
      "/0",
      'the keys "type", "name", "arguments"',
    ],
    ["a name alone", [{ name: "a", type: "x" }], "/0", 'the keys "name", "type"'],
    ["arguments alone", [{ arguments: "{}" }], "/0", 'the keys "arguments"'],
  ])("is told with its place: %s", (_kind, raw, pointer, text) => {
    const error = thrown(() => normalizeToolCalls(raw));
    expect(error).toMatchObject({ code: "UNKNOWN_CALL_SHAPE", pointer });
    expect(error.message).toContain(text);
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
    [
      "parts of text",
      {
        role: "assistant",
        content: [
          { type: "text", text: "Done." },
          { type: "refusal", refusal: "No." },
        ],
      },
    ],
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
    expect(error).toMatchObject({ code: "UNKNOWN_CALL_SHAPE", pointer: "/0" });
    expect(error.cause).toMatchObject({ code: "RESULT_NOT_JSON", pointer: "/function/arguments/n" });
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
