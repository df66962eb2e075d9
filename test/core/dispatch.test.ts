import { describe, expect, it } from "vitest";
import {
  callJson,
  contentOf,
  dispatchError,
  entriesOf,
  type HandlerOutcome,
  handlerInput,
  sixKeys,
  tooManyCalls,
  unknownTool,
} from "../../src/core/dispatch.js";
import type { ErrorData } from "../../src/core/errors.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import type { HandlerPlan } from "../../src/core/plan.js";
import type { NormalizedCall } from "../../src/core/tool-call.js";

function call(id: string, name: string, given: JsonObject | null = {}): NormalizedCall {
  const raw = JSON.stringify(given);
  return { id, index: 0, type: "function", name, arguments: given, raw_arguments: raw, raw_call: { id, name } };
}

const handlers = new Map<string, HandlerPlan>([
  ["flow", { kind: "flow", workflow: "handler", input: { all: "arguments", raw: "call.raw_call.id", n: 1 } }],
  ["tool", { kind: "tool", tool: "search" }],
  ["mapped", { kind: "tool", tool: "search", input: { q: "arguments.text" } }],
]);

function entryOf(name: string, outcome: HandlerOutcome | undefined) {
  return entriesOf({ handlers }, [call("c", name)], [outcome])[0];
}

const failure = (message: string, more: Partial<ErrorData> = {}): ErrorData => ({
  code: "TOOL_FAILED",
  message,
  ...more,
});

describe("an entry", () => {
  it.each<[string, string, HandlerOutcome | undefined, object]>([
    ["success", "flow", { result: { n: 1 } }, { success: true, flow: "handler", result: { n: 1 }, content: '{"n":1}' }],
    ["success without a result", "tool", {}, { success: true, flow: "search", result: null, content: "null" }],
    ["no handler", "gone", { error: failure("x") }, { success: false, flow: null, error: "x" }],
    ["nothing that ran", "tool", undefined, { success: false, error: expect.stringContaining("NOT_RUN") }],
    [
      "a step's reason",
      "flow",
      { error: failure("down", { stepId: "pay" }) },
      { error: "pay: down", result: { error: "pay: down" } },
    ],
    [
      "the tool instead of the step",
      "tool",
      { error: failure("down", { stepId: "dispatch" }) },
      { error: "search: down" },
    ],
    [
      "a context beside the reason",
      "flow",
      { result: "so far", error: failure("down") },
      { result: "so far", content: "so far", error: "down" },
    ],
    ["doubt", "flow", { error: failure("cut", { code: "TOOL_IN_DOUBT" }) }, { error: "cut (it may have been done)" }],
    ["no reason", "flow", { error: failure(" "), undoErrors: [failure("")] }, { error: "The call failed." }],
    [
      "five reasons",
      "flow",
      { error: failure("0"), undoErrors: [1, 2, 3, 4].map((n) => failure(`${n}`)) },
      { error: "0; 1; 2; 3; 4" },
    ],
    [
      "six reasons",
      "flow",
      { error: failure("0"), undoErrors: [1, 2, 3, 4, 5].map((n) => failure(`${n}`)) },
      { error: "0; 1; 2; 3; 4; and 1 more" },
    ],
  ])("tells of %s", (_name, name, outcome, expected) => {
    expect(entryOf(name, outcome)).toMatchObject(expected);
  });

  it("tells why a call could not be run, where it says so itself", () => {
    const bad = { ...call("c", "flow", null), error: { code: "INVALID_ARGUMENTS", message: "no JSON" } as const };
    expect(entriesOf({ handlers }, [bad], [])).toMatchObject([{ arguments: null, error: "no JSON" }]);
  });

  it.each([1_999, 2_000, 2_001, 5_000])(
    "cuts a reason of %i characters to 2,000, never within a character",
    (length) => {
      const error = entryOf("flow", { error: failure("🙂".repeat(length).slice(0, length)) })?.error ?? "";
      expect(error.length).toBeLessThanOrEqual(2_000);
      expect(error.endsWith("…")).toBe(length > 2_000);
      expect(error).not.toMatch(/\p{Surrogate}/u);
    },
  );
});

describe("content", () => {
  it.each<[JsonValue, string]>([
    ["as it is", "as it is"],
    ["", ""],
    ["half \udc00", "half \ufffd"],
    [{ a: [1, null] }, '{"a":[1,null]}'],
    [12, "12"],
    [null, "null"],
    [false, "false"],
  ])("of %j is %j", (result, expected) => {
    expect(contentOf(result)).toBe(expected);
  });
});

describe("the input of a handler", () => {
  it("is what its mapping selects, or the arguments", () => {
    expect(handlerInput({ handlers }, call("c", "flow", { a: 1 }), {})).toEqual({ all: { a: 1 }, raw: "c", n: 1 });
    expect(handlerInput({ handlers }, call("c", "mapped", { text: "t" }), {})).toEqual({ q: "t" });
    expect(handlerInput({ handlers }, call("c", "tool", { a: 1 }), {})).toEqual({ a: 1 });
    expect(handlerInput({ handlers }, call("c", "tool", null), {})).toEqual({});
  });

  it("is a copy that nobody can change", () => {
    const given = { list: [1] };
    const input = handlerInput({ handlers }, call("c", "flow", given), {});
    expect(Object.isFrozen(input.all)).toBe(true);
    expect(input.all).not.toBe(given);
  });
});

describe("a call as data", () => {
  it("has its error where it has one", () => {
    expect(callJson(call("c", "flow"))).not.toHaveProperty("error");
    const error = { code: "INVALID_CALL", message: "no name" } as const;
    expect(callJson({ ...call("c", ""), error })).toMatchObject({ id: "c", error });
  });
});

describe("the six keys", () => {
  it("stand under any name, and keep any id as data", () => {
    const calls = [call("__proto__", "tool"), call("b", "tool")];
    const keys = sixKeys("__proto__", entriesOf({ handlers }, calls, [{ result: 1 }, { error: failure("no") }]));
    expect(Object.keys(keys)).toEqual(
      ["", "_count", "_errors", "_all_succeeded", "_messages", "_by_id"].map((key) => `__proto__${key}`),
    );
    expect(Object.keys(Object(keys.__proto___by_id))).toEqual(["__proto__", "b"]);
    expect(keys).toMatchObject({ __proto___count: 2, __proto___errors: 1, __proto___all_succeeded: false });
  });
});

describe("the error of a dispatch", () => {
  const calls = [call("a", "tool"), call("b", "tool"), call("c", "tool")];
  const told = (outcomes: (HandlerOutcome | undefined)[]) =>
    dispatchError(entriesOf({ handlers }, calls, outcomes), outcomes);

  it("has the text of the first bad call that was not merely not run, and its error as the cause", () => {
    const error = told([
      { error: { code: "NOT_RUN", message: "NOT_RUN" } },
      { error: failure("first") },
      { error: failure("second") },
    ]);
    expect(error).toMatchObject({ name: "ToolDispatchError", code: "DISPATCH_FAILED", message: "first" });
    expect(error.entries).toHaveLength(3);
    expect(error.toJSON()).toMatchObject({
      cause: { code: "TOOL_FAILED", message: "first" },
      details: { entries: [{ id: "a" }, { id: "b" }, { id: "c" }] },
    });
  });

  it("says that much where no call says why", () => {
    expect(told([]).message).toBe("The call failed.");
  });
});

describe("an unknown tool", () => {
  it.each<[string, string[], string]>([
    ["x", [], 'There is no tool named "x". No tools can be called.'],
    ["x", ["a", "b"], 'There is no tool named "x". Call one of "a", "b".'],
  ])("%j of %j", (name, known, expected) => {
    expect(unknownTool(name, known).message).toBe(expected);
  });

  it("names neither all of many, nor all of a long name", () => {
    const { message } = unknownTool(
      "n".repeat(5_000),
      Array.from({ length: 50 }, (_, n) => `tool${n}`),
    );
    expect(message.length).toBeLessThan(600);
    expect(message).toContain('"tool19", ….');
  });
});

it("tells a model that it called too many tools at once", () => {
  const message = "3 tools were called in one turn, and 2 are allowed, so none was run. Call fewer at once.";
  expect(tooManyCalls(3, 2)).toEqual({ code: "TOO_MANY_CALLS", message });
});
