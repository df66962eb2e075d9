import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import {
  normalizeToolCalls,
  type ProviderName,
  toAssistantMessage,
  toToolMessages,
} from "../../src/providers/index.js";
import { providers } from "../../src/providers/list.js";
import { extremes, foreign, mutated, oddJson, settle, tries, unchanged } from "./hostile.js";

/** Law: whatever a model's turn is said to be, its calls are read, or it is refused; and what was read can be answered. */

const few: readonly ProviderName[] = ["gemini"];
const names = providers.map(({ name }) => name);
const args = { city: "Oslo", nested: [{ n: 1 }] };
const text = JSON.stringify(args);
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: text } };
const assistant = { role: "assistant", content: null };

/** A turn of each of the shapes, as their providers send them. */
const turns: readonly JsonValue[] = [
  {
    choices: [
      {
        index: 0,
        message: { ...assistant, tool_calls: [call, { ...call, id: "call_2" }] },
        finish_reason: "tool_calls",
      },
    ],
  },
  { ...assistant, tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "select 1" } }] },
  { ...assistant, function_call: call.function },
  {
    status: "completed",
    output: [
      { type: "reasoning", id: "r" },
      { type: "function_call", id: "f", call_id: "c", name: "weather", arguments: text },
    ],
  },
  { output: [{ type: "custom_tool_call", id: "f", call_id: "c", name: "sql", input: "select 1" }] },
  {
    type: "message",
    role: "assistant",
    content: [
      { type: "text", text: "" },
      { type: "tool_use", id: "t", name: "weather", input: args },
    ],
    stop_reason: "tool_use",
  },
  {
    candidates: [
      {
        content: { role: "model", parts: [{ functionCall: { name: "weather", args }, thoughtSignature: "c2ln" }] },
        finishReason: "STOP",
      },
    ],
  },
  { finish_reason: "TOOL_CALL", message: { role: "assistant", tool_plan: "I will.", tool_calls: [call] } },
  {
    model: "m",
    message: {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { index: 0, name: "weather", arguments: args } }],
    },
    done: true,
  },
  {
    output: {
      message: {
        role: "assistant",
        content: [{ text: "" }, { toolUse: { toolUseId: "t", name: "weather", input: args } }],
      },
    },
    stopReason: "tool_use",
  },
  {
    steps: [
      {
        content: [{ type: "tool-call", toolCallId: "c", toolName: "weather", input: args }],
        finishReason: "tool-calls",
      },
    ],
  },
  {
    content: "",
    tool_calls: [{ type: "tool_call", id: "c", name: "weather", args }],
    invalid_tool_calls: [],
    response_metadata: {},
  },
  [{ type: "function_call", callId: "c", name: "weather", arguments: text, status: "completed" }],
  [{ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "weather", arguments: args } }],
  JSON.parse(
    JSON.stringify(normalizeToolCalls([call, { ...call, id: "bad", function: { name: "weather", arguments: "{" } }])),
  ),
];
const vocabulary = [
  ...new Set(turns.flatMap((one) => [...JSON.stringify(one).matchAll(/"([A-Za-z_]+)":/g)].map(([, key = ""]) => key))),
];

function readAndAnswer(raw: unknown, answeredBy: readonly ProviderName[] = names): void {
  const calls = settle(() => normalizeToolCalls(raw));
  if (typeof calls === "string") {
    expect(["UNKNOWN_CALL_SHAPE", "DUPLICATE_CALL_ID"]).toContain(calls);
    return;
  }
  for (const { arguments: read, error } of calls) expect(read === null).toBe(error !== undefined);
  expect(JSON.stringify(normalizeToolCalls(JSON.parse(JSON.stringify(calls))))).toBe(JSON.stringify(calls));
  const entries = calls.map(({ id, name }) => {
    return { success: true, id, name, arguments: null, flow: null, result: { id }, content: name };
  });
  for (const name of answeredBy) {
    const messages = toToolMessages(name, calls, entries);
    if (calls.length > 0)
      expect(JSON.stringify([messages, toAssistantMessage(name, calls)])).not.toMatch(/\p{Surrogate}/u);
  }
}

describe("a turn", { timeout: 60_000 }, () => {
  it("of each shape has calls", () => {
    for (const turn of turns) expect(normalizeToolCalls(turn).length).toBeGreaterThan(0);
  });

  it("that is nearly one is read and answered, or refused", () => {
    fc.assert(
      fc.property(mutated(turns, vocabulary), fc.constantFrom(...names), (turn, name) => {
        unchanged(turn, () => readAndAnswer(turn, [name]));
      }),
      tries(200),
    );
  });

  it("of any JSON is read and answered, or refused", () => {
    fc.assert(
      fc.property(oddJson, (value) => {
        for (const raw of [value, [value], { tool_calls: value }, { choices: [{ message: value }] }])
          readAndAnswer(raw);
        readAndAnswer([{ ...call, function: { name: value, arguments: value } }]);
      }),
      tries(100),
    );
  });

  it("that is no JSON is read, or refused", () => {
    fc.assert(
      fc.property(foreign, (make) => {
        for (const raw of [make(), [make()], { content: make(), stop_reason: "x" }]) readAndAnswer(raw);
        readAndAnswer([{ id: make(), type: "function", function: { name: "a", arguments: make() } }]);
      }),
      tries(100),
    );
  });

  it.each(extremes)("that holds %s is read, or refused", (_, make) => {
    const value = make();
    for (const raw of [value, [value], { output: value }, { role: "assistant", content: value }])
      readAndAnswer(raw, few);
    readAndAnswer([{ ...call, function: { name: "a", arguments: value } }], few);
    readAndAnswer([{ ...call, id: value }], few);
  });

  it.each([
    ["nested", "[".repeat(100_000)],
    ["nested and whole", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["escaped", `{"a":"${"\\u0000".repeat(20_000)}"}`],
    ["a number", `{"a":${"9".repeat(100_000)}}`],
    ["encoded again and again", JSON.stringify(JSON.stringify(JSON.stringify({ a: "\\".repeat(10_000) })))],
    ["keys again and again", `{${'"a":1,'.repeat(50_000)}"a":2}`],
  ])("whose arguments are a long text is read: %s", (_, long) => {
    readAndAnswer([{ ...call, function: { name: "a", arguments: long } }], few);
  });
});

describe("the results of a turn", { timeout: 20_000 }, () => {
  const calls = normalizeToolCalls([call]);

  it("are written, or refused, whatever is given as them", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          oddJson.map((value) => () => value),
          foreign,
        ),
        fc.constantFrom(...names),
        (make, name) => {
          const entry = { success: false, id: "call_1", name: make(), result: make(), content: make(), error: make() };
          const given: unknown[] = [make(), [make()], { entries: make() }, [entry], { entries: [entry] }];
          for (const output of given) settle(() => Reflect.apply(toToolMessages, undefined, [name, calls, output]));
          for (const read of [make(), [make()]]) {
            settle(() => Reflect.apply(toToolMessages, undefined, [name, read, []]));
            settle(() => Reflect.apply(toAssistantMessage, undefined, [name, read]));
          }
          settle(() => Reflect.apply(toAssistantMessage, undefined, [make(), calls]));
        },
      ),
      tries(100),
    );
  });
});
