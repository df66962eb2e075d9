import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { next } from "../../src/core/next.js";
import {
  cancelled,
  completed,
  decide,
  decided,
  entered,
  errorOf,
  failed,
  fold,
  intended,
  opened,
  type Run,
  retried,
  type Steps,
  type Told,
  taken,
  told,
  turnCall,
  wrote,
} from "./journal.js";

/** Journals, and all that a run decides on them until it waits for the world. */

const sub = defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "inner" }] });
const giving = defineWorkflow({
  ...{ name: "giving", steps: [{ id: "s", tool: "inner" }], output: "{{steps.s.result}}" },
});
const checked = defineWorkflow({
  name: "checked",
  input_schema: { type: "object", required: ["n"] },
  steps: [{ id: "s", tool: "inner" }],
});
const coded = defineWorkflow({
  name: "coded",
  input_schema: z.object({ n: z.number() }),
  steps: [{ id: "s", tool: "inner" }],
});
const undo = { tool: "u", inputs: { back: "{{steps.a.result}}" } };
const a: StepDocument = { id: "a", tool: "t", inputs: { x: 1 } };
const call: StepDocument = { id: "a", workflow: "sub", inputs: { n: 1 } };
const each: StepDocument = {
  id: "a",
  for_each: { items: "{{input.list}}", workflow: "sub", inputs: { i: "{{item}}", at: "{{index}}" }, max_concurrent: 2 },
};
const loop: StepDocument = { id: "a", repeat: { workflow: "sub", state: 0, max_iterations: 3 } };
const sides: StepDocument = {
  id: "a",
  parallel: [
    { ...a, id: "p" },
    { id: "q", tool: "t" },
  ],
};
const serve: StepDocument = {
  id: "a",
  tool_dispatch: {
    ...{ source_key: "turn", max_concurrent: 2 },
    tools: { f: { flow: "sub", input: { n: "arguments.n" } }, t: { tool: "t" } },
  },
};
const list = { input: { list: ["x", "y", "z"] }, workflows: [sub] };
const missing = { v: "{{input.none}}" };

type Row = [name: string, steps: Steps, journal: readonly Told[], decisions: string[], run?: Run];

function holds(rows: Row[]): void {
  it.each(rows)("%s", (_name, steps, journal, decisions, run = {}) => {
    expect(decided(steps, journal, { workflows: [sub], ...run })).toEqual(decisions);
  });
}

describe("a step that runs no others", () => {
  holds([
    ["calls its tool", [a], [], ['call_tool t #1 {"x":1}']],
    ["calls its function", [{ id: "a", run: () => 1 }], [], ["run_code a #1"]],
    ["begins its sleep", [{ id: "a", sleep_ms: 5 }], [], ["commit sleep_started a"]],
    ["asks", [{ id: "a", ask: { prompt: "?" } }], [], ["commit question_asked input a?1"]],
    [
      "is skipped",
      [
        { ...a, when: "{{input.go ?? false}}" },
        { ...a, id: "b" },
      ],
      [],
      ["skipped a", 'call_tool t #1 {"x":1}'],
    ],
    ["is not skipped", [{ ...a, when: { equals: [1, 1] } }], [], ['call_tool t #1 {"x":1}']],
    ["begins its time", [{ ...a, timeout_ms: 9 }], [], ["commit begun a"]],
    [
      "goes on once its time has begun",
      [{ ...a, timeout_ms: 9 }],
      [{ kind: "begun", path: "a" }],
      ['call_tool t #1 {"x":1}'],
    ],
    [
      "begins its time once",
      [{ ...a, timeout_ms: 9 }],
      [
        { kind: "begun", path: "a" },
        { kind: "begun", path: "a" },
      ],
      ['call_tool t #1 {"x":1}'],
    ],
    [
      "fails by a condition that does not resolve",
      [{ ...a, when: "{{input.go}}" }],
      [],
      ["failed a not_applied UNRESOLVED_REFERENCE", "run_ended failed"],
    ],
    [
      "fails by inputs that do not resolve",
      [{ ...a, inputs: missing }],
      [],
      ["failed a not_applied UNRESOLVED_REFERENCE", "run_ended failed"],
    ],
    [
      "fails by a prompt that does not resolve",
      [{ id: "a", ask: { prompt: "{{input.x}}" } }],
      [],
      ["failed a not_applied UNRESOLVED_REFERENCE", "run_ended failed"],
    ],
    [
      "goes on to the next one",
      [a, { ...a, id: "b", tool: "next" }],
      [completed("a", 1)],
      ['call_tool next #1 {"x":1}'],
    ],
    ["waits for its next attempt", [{ ...a, retries: 1 }], [retried("a")], []],
    ["is called anew after a restart", [a], [taken], ['call_tool t #1 {"x":1}']],
  ]);
});

describe("a run", () => {
  const output = { name: "w", steps: [a], output: { got: "{{steps.a.result.v}}", more: "{{input.none}}" } };
  holds([
    ["ends with its last step's result", [a], [completed("a", 1)], ["run_ended completed"]],
    [
      "ends with its output, without what leads nowhere",
      output,
      [completed("a", { v: 2 })],
      ['run_ended completed {"got":2}'],
    ],
    [
      "ends with a whole output",
      { ...output, output: "{{steps.a.result}}" },
      [completed("a", 3)],
      ["run_ended completed 3"],
    ],
    ["fails with its step", [a], [failed("a")], ["run_ended failed"]],
    ["is cancelled", [a], [{ kind: "cancel_requested" }], ["cancel_begun", "run_ended cancelled"]],
    ["is not cancelled twice", [a], cancelled, ["run_ended cancelled"]],
    ["decides nothing once it has ended", [a], [completed("a"), { kind: "run_ended", status: "completed" }], []],
    [
      "starts nothing beyond its limit of records",
      [a],
      [],
      ["failed a not_applied LIMIT_REACHED", "run_ended failed"],
      { settings: { maxRecords: 1 } },
    ],
    [
      "opens nothing beyond its limit",
      [call],
      [],
      ["failed a not_applied LIMIT_REACHED", "run_ended failed"],
      { settings: { maxRecords: 1 } },
    ],
    [
      "enters nothing beyond its limit",
      [call],
      [opened("a", 1)],
      ["failed a/ not_applied LIMIT_REACHED", "failed a not_applied LIMIT_REACHED", "run_ended failed"],
      { settings: { maxRecords: 2 } },
    ],
    [
      "undoes beyond its limit",
      [
        { ...a, compensate: undo },
        { ...a, id: "b" },
      ],
      [...wrote("a"), failed("b")],
      ['call_tool u #1 {"y":1}'],
      { settings: { maxRecords: 1 } },
    ],
    [
      "settles doubt beyond its limit",
      [a],
      [intended("a", { idempotent: true }), taken],
      ['call_tool t #2 {"x":1}'],
      { settings: { maxRecords: 1 } },
    ],
  ]);

  test("that undoes is not cancelled", () => {
    const state = fold(
      [
        { ...a, compensate: undo },
        { ...a, id: "b" },
      ],
      [...wrote("a"), failed("b"), { kind: "cancel_requested" }],
    );
    expect(told(decide(state))).toEqual(['call_tool u #1 {"y":1}']);
  });

  test("says of its output what it lacks", () => {
    const state = fold(output, [completed("a", { v: 2 })]);
    expect(next(state)).toMatchObject({ warnings: [{ code: "UNRESOLVED_REFERENCE", pointer: "/output/more" }] });
  });

  test("does not hide a fault of its own", () => {
    const fault = new TypeError("a fault");
    const reads = fold([{ ...a, inputs: { v: "{{input.x}}" } }]);
    Object.defineProperty(reads.root, "input", {
      get() {
        throw fault;
      },
    });
    expect(() => decide(reads)).toThrow(fault);
  });
});

describe("a step that runs another workflow", () => {
  holds([
    [
      "opens, enters it, and starts its first step",
      [call],
      [],
      ["opened a 1", 'entered a/ {"n":1}', "call_tool inner #1 {}"],
    ],
    [
      "ends with it",
      [call],
      [opened("a", 1), entered("a/"), completed("a/s", 1)],
      ["completed a/", "completed a", "run_ended completed"],
    ],
    [
      "fails with it",
      [call],
      [opened("a", 1), entered("a/"), failed("a/s")],
      ["failed a not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "is tried again",
      [{ ...call, retries: 1 }],
      [opened("a", 1), entered("a/"), failed("a/s")],
      ["retried a #2 1000 not_applied TOOL_FAILED"],
    ],
    [
      "waits between attempts",
      [{ ...call, retries: 1 }],
      [opened("a", 1), entered("a/"), failed("a/s"), retried("a")],
      [],
    ],
    [
      "checks its input",
      [{ ...call, workflow: "checked", inputs: {} }],
      [],
      ["opened a 1", "failed a/ not_applied INVALID_INPUT", "failed a not_applied INVALID_INPUT", "run_ended failed"],
      { workflows: [checked] },
    ],
    [
      "takes an input that fits",
      [{ ...call, workflow: "checked" }],
      [],
      ["opened a 1", 'entered a/ {"n":1}', "call_tool inner #1 {}"],
      { workflows: [checked] },
    ],
    [
      "has code check its input",
      [{ ...call, workflow: "coded" }],
      [],
      ["opened a 1", 'check_input a/ {"n":1}'],
      { workflows: [coded] },
    ],
    [
      "fails by inputs that do not resolve",
      [{ ...call, inputs: missing }],
      [],
      [
        "opened a 1",
        "failed a/ not_applied UNRESOLVED_REFERENCE",
        "failed a not_applied UNRESOLVED_REFERENCE",
        "run_ended failed",
      ],
    ],
    [
      "gives the output that it declares",
      [{ ...call, workflow: "giving" }],
      [opened("a", 1), entered("a/"), completed("a/s", 7)],
      ["completed a/ 7", "completed a", "run_ended completed"],
      { workflows: [giving] },
    ],
  ]);
});

describe("a for_each", () => {
  const ends = [entered("a[0]/"), completed("a[0]/s", 1), completed("a[0]/")];
  const ignoring: StepDocument = {
    ...each,
    for_each: { ...each.for_each, items: ["x", "y"], workflow: "sub", on_error: "ignore" },
  };
  holds([
    [
      "opens with as many as may run at once",
      [each],
      [],
      [
        "opened a 3",
        'entered a[0]/ {"i":"x","at":0}',
        'entered a[1]/ {"i":"y","at":1}',
        "call_tool inner #1 {}",
        "call_tool inner #1 {}",
      ],
      list,
    ],
    [
      "starts the next one when one ends",
      [each],
      [opened("a", 3), ...ends],
      [
        'entered a[1]/ {"i":"y","at":1}',
        'entered a[2]/ {"i":"z","at":2}',
        "call_tool inner #1 {}",
        "call_tool inner #1 {}",
      ],
      list,
    ],
    [
      "ends at once without items",
      [each],
      [],
      ["opened a 0", "completed a", "run_ended completed"],
      { ...list, input: { list: [] } },
    ],
    [
      "gives an item that is null as it is",
      [each],
      [],
      ["opened a 1", 'entered a[0]/ {"i":null,"at":0}', "call_tool inner #1 {}"],
      { ...list, input: { list: [null] } },
    ],
    [
      "fails by items that are no list",
      [each],
      [],
      ["failed a not_applied INVALID_ITEMS", "run_ended failed"],
      { ...list, input: { list: "x" } },
    ],
    [
      "stops with the first failure",
      [each],
      [opened("a", 3), entered("a[0]/"), entered("a[1]/"), failed("a[0]/s")],
      ["failed a not_applied TOOL_FAILED", "run_ended failed"],
      list,
    ],
    [
      "records a failure and goes on",
      [ignoring],
      [opened("a", 2), entered("a[0]/"), completed("a[0]/s"), completed("a[0]/"), entered("a[1]/"), failed("a[1]/s")],
      ["failed a[1]/ not_applied TOOL_FAILED", "completed a", "run_ended completed"],
    ],
    [
      "records no failure at the limit",
      [ignoring],
      [opened("a", 2), failed("a[0]/", { error: errorOf("LIMIT_REACHED") })],
      ["failed a not_applied LIMIT_REACHED", "run_ended failed"],
    ],
  ]);
});

describe("a repeat", () => {
  const turn = (index: number, result: object) => [
    entered(`a[${index}]/`),
    completed(`a[${index}]/s`, { ...result }),
    completed(`a[${index}]/`),
  ];
  const until: StepDocument = {
    ...loop,
    repeat: { workflow: "sub", state: 0, max_iterations: 3, until: { equals: ["{{result.n}}", 1] } },
  };
  const slow: StepDocument = { ...loop, repeat: { workflow: "sub", state: 0, max_iterations: 3, delay_ms: 50 } };
  const inputs: StepDocument = {
    ...loop,
    repeat: { workflow: "sub", state: "{{input.n}}", inputs: { k: 1 }, max_iterations: 3 },
  };
  holds([
    [
      "begins with its state",
      [inputs],
      [],
      ["opened a 3", 'entered a[0]/ {"state":4,"iteration":1,"k":1}', "call_tool inner #1 {}"],
      { input: { n: 4 } },
    ],
    [
      "hands the state on",
      [loop],
      [opened("a", 3), ...turn(0, { done: false, state: 5 })],
      ["turned a 1", 'entered a[1]/ {"state":5,"iteration":2}', "call_tool inner #1 {}"],
    ],
    [
      "ends when it is done",
      [loop],
      [opened("a", 3), ...turn(0, { done: true })],
      ["completed a", "run_ended completed"],
    ],
    ["ends by its condition", [until], [opened("a", 3), ...turn(0, { n: 1 })], ["completed a", "run_ended completed"]],
    [
      "goes on by its condition",
      [until],
      [opened("a", 3), ...turn(0, { n: 2, state: 1 })],
      ["turned a 1", 'entered a[1]/ {"state":1,"iteration":2}', "call_tool inner #1 {}"],
    ],
    [
      "fails without a next state",
      [loop],
      [opened("a", 3), ...turn(0, { done: false })],
      ["attempt_failed a INVALID_TURN", "failed a not_applied INVALID_TURN", "run_ended failed"],
    ],
    [
      "fails without a word of the end",
      [loop],
      [opened("a", 3), ...turn(0, { state: 1 })],
      ["attempt_failed a INVALID_TURN", "failed a not_applied INVALID_TURN", "run_ended failed"],
    ],
    [
      "fails when its turns run out",
      [loop],
      [
        opened("a", 3),
        ...turn(0, { done: false, state: 1 }),
        { kind: "turned", path: "a", index: 1 },
        ...turn(1, { done: false, state: 2 }),
        { kind: "turned", path: "a", index: 2 },
        ...turn(2, { done: false, state: 3 }),
      ],
      ["attempt_failed a ITERATIONS_EXHAUSTED", "failed a not_applied ITERATIONS_EXHAUSTED", "run_ended failed"],
    ],
    ["waits before the next turn", [slow], [opened("a", 3), ...turn(0, { done: false, state: 5 })], ["turned a 1"]],
  ]);
});

describe("a parallel", () => {
  holds([
    ["starts all", [sides], [], ["opened a 2", 'call_tool t #1 {"x":1}', "call_tool t #1 {}"]],
    [
      "ends with all of them",
      [sides],
      [opened("a", 2), completed("a/q", 1), completed("a/p", 2)],
      ["completed a", "run_ended completed"],
    ],
    [
      "ends when all are skipped",
      [{ id: "a", parallel: [{ ...a, id: "p", when: { any: [] } }] }],
      [],
      ["opened a 1", "skipped a/p", "completed a", "run_ended completed"],
    ],
    [
      "fails with the first",
      [sides],
      [opened("a", 2), failed("a/p")],
      ["failed a not_applied TOOL_FAILED", "run_ended failed"],
    ],
    ["waits for a write that is in flight", [sides], [opened("a", 2), intended("a/q"), failed("a/p")], []],
    [
      "runs containers within",
      [{ id: "a", parallel: [{ ...call, id: "p" }] }],
      [opened("a", 1)],
      ["opened a/p 1", 'entered a/p/ {"n":1}', "call_tool inner #1 {}"],
    ],
  ]);
});

describe("a tool_dispatch", () => {
  const calls = [turnCall(0, "f"), turnCall(1, "t"), turnCall(2, "t")];
  const bad = turnCall(0, "x", { error: { code: "UNKNOWN_TOOL", message: "no such" } });
  const ignoring: StepDocument = {
    ...serve,
    tool_dispatch: { ...serve.tool_dispatch, tools: { t: { tool: "t" } }, on_error: "ignore" },
  };
  holds([
    ["reads its calls", [serve], [], ["read_calls a 5"], { input: { turn: 5 } }],
    ["reads null, which is none", [serve], [], ["read_calls a null"], { input: { turn: null } }],
    [
      "fails where nothing says where they are",
      [{ id: "a", tool_dispatch: { tools: {} } }],
      [],
      ["failed a not_applied UNRESOLVED_REFERENCE", "run_ended failed"],
    ],
    ["fails where they are not", [serve], [], ["failed a not_applied UNRESOLVED_REFERENCE", "run_ended failed"]],
    [
      "starts as many as may run at once",
      [serve],
      [opened("a", 3, { calls })],
      [
        'entered a[0]/ {"n":0,"tool_call":{"id":"c0","index":0,"type":"function","name":"f","arguments":{"n":0},"raw_arguments":"{}","raw_call":{}},"tool_name":"f","tool_arguments":{"n":0},"tool_call_id":"c0","tool_call_index":0}',
        'call_tool t #1 {"n":1}',
        "call_tool inner #1 {}",
      ],
    ],
    [
      "ends with the last",
      [serve],
      [opened("a", 1, { calls: [turnCall(0, "t")] }), completed("a[0]", 1)],
      ["completed a", "run_ended completed"],
    ],
    [
      "runs none when one is bad",
      [serve],
      [opened("a", 2, { calls: [bad, turnCall(1, "t")] })],
      ["failed a not_applied DISPATCH_FAILED", "run_ended failed"],
    ],
    [
      "passes over a bad one",
      [ignoring],
      [opened("a", 2, { calls: [bad, turnCall(1, "t")] })],
      ['call_tool t #1 {"n":1}'],
    ],
    [
      "awaits those in flight when one failed",
      [serve],
      [opened("a", 3, { calls }), entered("a[0]/"), failed("a[1]")],
      ["call_tool inner #1 {}"],
    ],
    [
      "fails then",
      [serve],
      [opened("a", 3, { calls }), entered("a[0]/"), failed("a[1]"), completed("a[0]/s"), completed("a[0]/")],
      ["failed a not_applied DISPATCH_FAILED", "run_ended failed"],
    ],
    [
      "fails with a child workflow",
      [serve],
      [opened("a", 1, { calls: [turnCall(0, "f")] }), entered("a[0]/"), failed("a[0]/s")],
      ["failed a not_applied DISPATCH_FAILED", "run_ended failed"],
    ],
    [
      "goes on when one failed",
      [ignoring],
      [opened("a", 2, { calls: [turnCall(0, "t"), turnCall(1, "t")] }), failed("a[0]")],
      ['call_tool t #1 {"n":1}'],
    ],
  ]);
});

test("what is dead or stopped decides nothing", () => {
  const state = fold([sides], [opened("a", 2), failed("a/p")]);
  expect(told(decide(state))).toEqual(["failed a not_applied TOOL_FAILED", "run_ended failed"]);
  expect(next(state)).toBeUndefined();
});
