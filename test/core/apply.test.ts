import { describe, expect, it, test } from "vitest";
import { apply } from "../../src/core/apply.js";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import type { JsonValue } from "../../src/core/json.js";
import type { Fact } from "../../src/core/record.js";
import { resultOf } from "../../src/core/result.js";
import type { RunState } from "../../src/core/state.js";
import { projectionOf } from "../laws/projection.js";
import {
  answered,
  approvalAsked,
  cancelled,
  completed,
  doubtAsked,
  doubted,
  entered,
  errorOf,
  eventsOf,
  expired,
  failed,
  fold,
  inputAsked,
  intended,
  opened,
  type Run,
  retried,
  type Steps,
  type Told,
  taken,
  tell,
  timedOut,
  turnCall,
  wrote,
} from "./journal.js";

/** Journals, and the run that they fold to: its events, its writes, its result. */

const sub = defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "inner" }] });
const a: StepDocument = { id: "a", tool: "t", inputs: { x: 1 } };
const b: StepDocument = { id: "b", tool: "b" };
const undoable: StepDocument = { ...a, compensate: { tool: "u", inputs: { back: "{{steps.a.result}}" } } };
const box: StepDocument = { id: "box", workflow: "sub" };
const two: StepDocument = { id: "two", parallel: [{ ...undoable }, b] };

type Row = [name: string, steps: Steps, journal: readonly Told[], events: string[], run?: Run];

describe("the events of a journal", () => {
  it.each<Row>([
    ["of a read", [a], [completed("a", 1)], ["completed a#1"]],
    ["of a write", [a], [intended("a"), completed("a", 1)], ["started a#1", "completed a#1"]],
    ["of a skipped step", [a], [{ kind: "skipped", path: "a" }], ["skipped a#1"]],
    [
      "of a sleep",
      [{ id: "a", sleep_ms: 1 }],
      [{ kind: "sleep_started", path: "a", ms: 1 }, completed("a")],
      ["started a#1", "completed a#1"],
    ],
    ["of a question", [a], [approvalAsked("a"), answered("a", { decision: "approve" })], ["question approval"]],
    [
      "of retries",
      [{ ...a, retries: 1 }],
      [retried("a"), intended("a", { attempt: 2 })],
      ["retrying a#1", "started a#2"],
    ],
    [
      "of a container",
      [box],
      [opened("box", 1), entered("box/"), completed("box/s"), completed("box/"), completed("box")],
      ["started box#1", "completed box/s#1", "completed box#1"],
    ],
    [
      "of a container's next attempt",
      [{ ...box, retries: 1 }],
      [opened("box", 1), entered("box/"), failed("box/s"), retried("box"), opened("box", 1, { attempt: 2 })],
      ["started box#1", "failed box/s#1", "retrying box#1", "started box#2"],
    ],
    [
      "of an undo",
      [undoable, b],
      [...wrote("a"), failed("b"), intended("a~undo"), completed("a~undo")],
      ["started a#1", "completed a#1", "failed b#1", "undoing a~undo#1", "undone a~undo#1"],
    ],
    [
      "of an undo that failed",
      [undoable, b],
      [...wrote("a"), failed("b"), intended("a~undo"), failed("a~undo")],
      ["started a#1", "completed a#1", "failed b#1", "undoing a~undo#1", "undo_failed a~undo#1"],
    ],
    [
      "of an undo that did not resolve",
      [undoable, b],
      [intended("a"), completed("a", 1, { undo: { error: errorOf() } }), failed("b")],
      ["started a#1", "completed a#1", "failed b#1", "undo_failed a~undo#1"],
    ],
    [
      "of a fallback",
      [{ ...a, fallback: { tool: "f" } }],
      [failed("a"), completed("a~fallback", 1)],
      ["failed a#1", "completed a~fallback#1"],
    ],
    [
      "of what is stopped",
      [{ id: "two", parallel: [a, b, { id: "z", sleep_ms: 9 }, { ...a, id: "w", retries: 1 }] }],
      [opened("two", 4), { kind: "sleep_started", path: "two/z", ms: 9 }, retried("two/w"), failed("two/a")],
      ["started two#1", "started two/z#1", "retrying two/w#1", "failed two/a#1", "stopped two/z#1", "stopped two/w#2"],
    ],
    ["are none where nobody wants them", [a], [intended("a"), approvalAsked("a")], [], { settings: { emits: false } }],
  ])("%s", (_name, steps, journal, events, run = {}) => {
    expect(eventsOf(fold(steps, journal, { workflows: [sub], ...run }))).toEqual(events);
  });

  test("what was announced is said to be stopped", () => {
    const state = fold([two], [opened("two", 2)]);
    const reading = state.nodes.get("two/b");
    if (reading?.kind === "step" && reading.call !== undefined) reading.call.announced = true;
    tell(state, failed("two/a"));
    expect(eventsOf(state)).toEqual(["started two#1", "failed two/a#1", "stopped two/b#1"]);
  });
});

describe("a record that finds nothing to speak of changes nothing", () => {
  const facts: Fact[] = [
    entered("a"),
    { kind: "begun", path: "" },
    { kind: "skipped", path: "" },
    opened("", 1),
    { kind: "turned", path: "", index: 1 },
    completed(""),
    retried(""),
    { kind: "attempt_failed", path: "", error: errorOf() },
    failed(""),
    { kind: "withheld", path: "" },
    answered("a", { value: 1 }),
    expired("a"),
    { kind: "reported", path: "gone", attempt: 1, outcome: { result: 1 } },
  ];
  it.each(facts.map((fact) => [JSON.stringify(fact), fact] as const))("%s", (_name, fact) => {
    const state = fold([a], [fact]);
    state.seq = 1;
    expect(projectionOf(state, 0)).toEqual(projectionOf(fold([a]), 0));
  });

  test.each([
    [completed("gone")],
    [opened("gone", 1)],
    [intended("a~undo")],
    [opened("box", 1), opened("box", 1)],
    [opened("box", 1, { attempt: 2 })],
  ])("%o does not follow from what is before it", (...facts) => {
    expect(() => fold([a, box], facts, { workflows: [sub] })).toThrow(
      expect.objectContaining({ code: "INVALID_JOURNAL" }),
    );
  });

  test("a run starts once", () => {
    const state = fold([a]);
    const record = {
      kind: "run_started",
      version: 1,
      runId: "r",
      documents: [],
      input: {},
      identity: "",
      driver: "",
    } as const;
    expect(() => apply(state, { ...record, at: 0 })).toThrowError(expect.objectContaining({ code: "INVALID_JOURNAL" }));
  });

  test("time never goes back", () => {
    const state = fold(
      [a, b],
      [
        { ...completed("a"), at: 50 },
        { ...completed("b"), at: 20 },
      ],
    );
    expect(state.updatedAt).toBe(50);
  });
});

function writesOf(state: RunState) {
  return state.writes.map(
    ({ path, state: how, reason }) => `${path} ${how}${reason === undefined ? "" : ` ${reason}`}`,
  );
}

describe("what a journal says of its writes", () => {
  const undone = [...wrote("a"), failed("b")];
  it.each<[name: string, steps: Steps, journal: readonly Told[], writes: string[]]>([
    ["in flight", [a], [intended("a")], ["a in_doubt"]],
    ["done", [a], wrote("a"), ["a done"]],
    ["failed", [a], [intended("a"), failed("a")], ["a failed"]],
    ["refused", [a], [intended("a"), failed("a", { outcome: "refused" })], ["a failed"]],
    ["in doubt", [a], [intended("a"), failed("a", { outcome: "in_doubt" })], ["a in_doubt"]],
    [
      "made, with a result that can't be kept",
      [a],
      [intended("a"), failed("a", { outcome: "applied" })],
      ["a done no_compensation"],
    ],
    [
      "rejected",
      [a],
      [failed("a", { outcome: "refused", rejected: { tool: "t", inputs: {}, decision: { by: "ada", at: "" } } })],
      ["a rejected"],
    ],
    ["retried", [{ ...a, retries: 1 }], [intended("a"), retried("a")], ["a failed"]],
    [
      "retried in doubt",
      [{ ...a, retries: 1 }],
      [intended("a", { idempotent: true }), retried("a", { outcome: "in_doubt" })],
      ["a in_doubt"],
    ],
    [
      "retried in doubt, and not applied",
      [{ ...a, retries: 2 }],
      [
        intended("a", { idempotent: true }),
        retried("a", { outcome: "in_doubt" }),
        intended("a", { attempt: 2, idempotent: true }),
        retried("a", { attempt: 3, outcome: "in_doubt" }),
      ],
      ["a in_doubt"],
    ],
    ["withheld", [a], [intended("a"), { kind: "withheld", path: "a" }], ["a failed"]],
    [
      "in doubt, and a further attempt withheld",
      [a],
      [
        intended("a", { idempotent: true }),
        retried("a", { outcome: "in_doubt" }),
        intended("a", { attempt: 2, idempotent: true }),
        { kind: "withheld", path: "a" },
      ],
      ["a in_doubt"],
    ],
    ["without a compensation", [a, b], undone, ["a done no_compensation"]],
    ["about to be undone", [undoable, b], undone, ["a done"]],
    ["being undone", [undoable, b], [...undone, intended("a~undo")], ["a undo_in_doubt"]],
    ["undone", [undoable, b], [...undone, intended("a~undo"), completed("a~undo")], ["a undone"]],
    ["not undone", [undoable, b], [...undone, intended("a~undo"), failed("a~undo")], ["a undo_failed failed"]],
    [
      "not undone, since somebody said no",
      [undoable, b],
      [...undone, failed("a~undo", { outcome: "refused" })],
      ["a undo_failed rejected"],
    ],
    [
      "not undone, since nobody answered",
      [undoable, b],
      [...undone, failed("a~undo", { outcome: "refused", error: errorOf("QUESTION_EXPIRED") })],
      ["a undo_failed failed"],
    ],
    [
      "perhaps undone",
      [undoable, b],
      [...undone, intended("a~undo"), failed("a~undo", { outcome: "in_doubt" })],
      ["a undo_in_doubt in_doubt"],
    ],
    [
      "not to be undone",
      [undoable, b],
      [intended("a"), completed("a", 1, { undo: { error: errorOf() } }), failed("b")],
      ["a undo_failed unresolved"],
    ],
    [
      "whose undo was withheld",
      [undoable, b],
      [...undone, intended("a~undo"), { kind: "withheld", path: "a~undo" }],
      ["a done"],
    ],
    [
      "whose undo is in doubt, and then withheld",
      [undoable, b],
      [...undone, intended("a~undo"), taken, intended("a~undo", { attempt: 2 }), { kind: "withheld", path: "a~undo" }],
      ["a undo_in_doubt"],
    ],
    ["whose undo is tried again", [undoable, b], [...undone, intended("a~undo"), retried("a~undo")], ["a done"]],
    [
      "whose undo is tried again in doubt",
      [undoable, b],
      [...undone, intended("a~undo", { idempotent: true }), retried("a~undo", { outcome: "in_doubt" })],
      ["a undo_in_doubt"],
    ],
    [
      "of a container that undoes them all",
      [{ ...box, compensate: { tool: "u" } }, b],
      [
        opened("box", 1),
        entered("box/"),
        ...wrote("box/s"),
        completed("box/"),
        completed("box", undefined, { undo: { inputs: {} } }),
        failed("b"),
        intended("box~undo"),
        completed("box~undo"),
      ],
      ["box/s undone"],
    ],
  ])("%s", (_name, steps, journal, writes) => {
    expect(writesOf(fold(steps, journal, { workflows: [sub] }))).toEqual(writes);
  });

  test("shows what was sent, masked, and who decided last", () => {
    const decision = { by: "ada", at: "later" };
    const state = fold(
      [{ ...a, retries: 1 }],
      [intended("a", { masked: ["/x"] }), retried("a"), intended("a", { attempt: 2, decision })],
    );
    expect(state.writes).toMatchObject([{ tool: "t", fields: { x: 1 }, decidedBy: "ada", decidedAt: "later" }]);
    tell(state, retried("a", { attempt: 3 }));
    tell(state, intended("a", { attempt: 3, masked: ["/x"], decision: { at: "last" } }));
    expect(state.writes).toStrictEqual([
      { stepId: "a", path: "a", tool: "t", fields: { x: "[masked]" }, decidedAt: "last", state: "in_doubt" },
    ]);
  });

  test("shows so many, and counts all", () => {
    const state = fold([a, b], [...wrote("a"), intended("b")], { settings: { maxWrites: 1 } });
    expect([state.writes.length, state.writesTotal]).toEqual([1, 2]);
  });
});

describe("the result of a run", () => {
  it("is of one that waits, with what is open and when it goes on", () => {
    const state = fold(
      [{ id: "two", parallel: [a, { id: "z", sleep_ms: 9 }] }],
      [opened("two", 2), approvalAsked("two/a", { masked: ["/x"] }), { kind: "sleep_started", path: "two/z", ms: 9 }],
    );
    expect(resultOf(state)).toEqual({
      ...{ runId: "r", status: "waiting", wakeAt: "1970-01-01T00:00:00.009Z", writes: [], writesTotal: 0 },
      questions: [expect.objectContaining({ kind: "approval", fields: { x: "[masked]" } })],
    });
  });

  it("is of one that waits while it undoes", () => {
    const state = fold([undoable, b], [...wrote("a"), failed("b"), approvalAsked("a~undo")]);
    expect(resultOf(state)).toMatchObject({ status: "waiting", phase: "undoing", questions: [{ path: "a~undo" }] });
  });

  it("is of one that completed", () => {
    const warnings = [{ code: "UNRESOLVED_REFERENCE", message: "m" } as const];
    const end = { kind: "run_ended", status: "completed" } as const;
    expect(resultOf(fold([a], [completed("a", 1), end]))).toMatchObject({ status: "completed", output: 1 });
    expect(resultOf(fold([a], [completed("a"), end])).output).toBeNull();
    expect(resultOf(fold([a], [{ kind: "skipped", path: "a" }, end])).output).toBeNull();
    const document = { name: "w", steps: [a], output: "{{steps.a.result}}" };
    expect(resultOf(fold(document, [completed("a", 1), { ...end, output: 2, warnings }]))).toMatchObject({
      output: 2,
      warnings,
    });
  });

  it("is of one that failed, with what could not be undone", () => {
    const journal = [
      ...wrote("a"),
      failed("b"),
      failed("a~undo", { error: errorOf("TOOL_REFUSED") }),
      { kind: "run_ended", status: "failed" } as const,
    ];
    expect(resultOf(fold([undoable, b], journal))).toMatchObject({
      ...{ status: "failed", error: { code: "TOOL_FAILED" } },
      undoErrors: [{ code: "TOOL_REFUSED", stepId: "a", path: "a~undo" }],
    });
  });
});

describe("a driver that takes a run over", () => {
  it("leaves every write in flight in doubt", () => {
    const state = fold([a], [intended("a"), taken]);
    expect(state.nodes.get("a")).toMatchObject({ call: { phase: "doubted", interrupted: true, doubtFrom: 1 } });
    expect(state.intended.size).toBe(0);
  });

  it("gives an undo that was cut short its time anew, and nothing else", () => {
    const timed = { ...undoable, timeout_ms: 30 };
    const state = fold([timed, { ...b, timeout_ms: 30 }], [...wrote("a"), { kind: "begun", path: "b" }]);
    tell(state, { ...taken, at: 20 });
    expect([...state.timers].map(({ until, node }) => [until, node.path])).toEqual([[30, "b"]]);
    tell(state, failed("b"));
    tell(state, { ...taken, at: 40 });
    expect([...state.timers].map(({ until, node }) => [until, node.path])).toEqual([[70, "a~undo"]]);
  });
});

describe("a cancelled run", () => {
  it("stops what runs, and aborts the writes in flight once", () => {
    const state = fold(
      [{ id: "two", parallel: [a, b] }],
      [opened("two", 2), intended("two/a"), ...cancelled, { kind: "cancel_begun" }],
    );
    expect(state.nodes.get("two/a")).toMatchObject({ stopped: true, call: { aborted: true } });
    expect(state.nodes.has("two/b")).toBe(false);
    expect(state.root.failing).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
  });

  it("aborts what a failing one awaits, and nothing of one that undoes", () => {
    const waits = fold(
      [{ id: "two", parallel: [a, b] }],
      [opened("two", 2), intended("two/a"), failed("two/b"), { kind: "cancel_begun" }],
    );
    expect(waits.nodes.get("two/a")).toMatchObject({ call: { aborted: true } });
    const undoes = fold([undoable, b], [...wrote("a"), failed("b"), intended("a~undo"), { kind: "cancel_begun" }]);
    expect(undoes.nodes.get("a~undo")).toMatchObject({ aborted: false });
  });

  it("withdraws what is open when it ends", () => {
    const state = fold([a], [approvalAsked("a"), { kind: "run_ended", status: "cancelled" }]);
    expect([...state.closed]).toEqual([["a?1", { state: "withdrawn" }]]);
  });
});

describe("what is kept of a closed question", () => {
  it.each<[name: string, journal: Told[], kept: object]>([
    [
      "answered",
      [approvalAsked("a"), answered("a", { decision: "approve", by: "ada" })],
      { state: "answered", answer: { decision: "approve", by: "ada" }, shown: { decision: "approve", by: "ada" } },
    ],
    ["expired", [approvalAsked("a"), expired("a")], { state: "expired" }],
    [
      "superseded",
      [
        approvalAsked("a"),
        answered("a", { decision: "approve" }),
        approvalAsked("a", { id: "a?2", supersedes: "a?1" }),
      ],
      { state: "superseded" },
    ],
    ["withdrawn", [approvalAsked("a"), ...cancelled], { state: "withdrawn" }],
    ["withdrawn by a failed attempt", [approvalAsked("a"), retried("a")], { state: "withdrawn" }],
    ["withdrawn by doubt", [intended("a"), taken, doubtAsked("a"), doubted("a")], { state: "withdrawn" }],
  ])("%s", (_name, journal, kept) => {
    expect(fold([{ ...a, retries: 1 }], journal).closed.get("a?1")).toEqual(kept);
  });

  it("masks what people are not shown", () => {
    const schema = { properties: { pin: { writeOnly: true } } };
    const state = fold(
      [{ id: "a", ask: { prompt: "?" } }],
      [inputAsked("a", { schema }), answered("a", { value: { pin: 1 } })],
    );
    expect(state.closed.get("a?1")).toMatchObject({
      answer: { value: { pin: 1 } },
      shown: { value: { pin: "[masked]" } },
    });
    tell(state, completed("a", { pin: 1 }));
    expect(state.events.at(-1)).toMatchObject({ status: "completed", result: { pin: "[masked]" } });
  });
});

describe("a dispatch's children", () => {
  const serve: StepDocument = {
    id: "d",
    tool_dispatch: { source_key: "turn", tools: { t: { tool: "t" }, f: { flow: "sub" } } },
  };
  it("are undone with the rest", () => {
    const calls = [turnCall(0, "t"), turnCall(1, "f")];
    const state = fold(
      [serve, b],
      [
        opened("d", 2, { calls }),
        ...wrote("d[0]"),
        entered("d[1]/"),
        completed("d[1]/s"),
        completed("d[1]/"),
        completed("d"),
        failed("b"),
      ],
      { workflows: [sub] },
    );
    expect(writesOf(state)).toEqual(["d[0] done no_compensation"]);
  });

  it("fail without a result where they were not entered", () => {
    const state = fold(
      [serve],
      [opened("d", 1, { calls: [turnCall(0, "f")] }), failed("d[0]/", { error: errorOf("INVALID_INPUT") })],
      { workflows: [sub] },
    );
    expect(state.root.failing?.error ?? state.nodes.get("d")).toMatchObject({
      failing: { error: { code: "DISPATCH_FAILED" } },
    });
  });
});

describe("what a handler workflow gives its model", () => {
  const reads: StepDocument[] = [{ id: "s", tool: "t" }];
  const given = (more: object) => defineWorkflow({ name: "h", steps: reads, ...more });
  const serve: StepDocument = {
    id: "d",
    tool_dispatch: { source_key: "x", tools: { f: { flow: "h", input: { _a: 1, b: 2 } } }, on_error: "ignore" },
  };
  const begin = (result: JsonValue) => [
    opened("d", 1, { calls: [turnCall(0, "f")] }),
    entered("d[0]/", { _a: 1, b: 2 }),
    completed("d[0]/s", result),
  ];

  it.each<[name: string, workflow: object, result: JsonValue, output: JsonValue | undefined, shown: JsonValue]>([
    ["its context, without what begins with _", {}, { n: 1 }, undefined, { b: 2, s: { n: 1 } }],
    ["the output that it declares", { output: "{{steps.s.result}}" }, 1, 7, 7],
    ["its tool_result_value before that", { output: {} }, 1, { tool_result_value: null }, null],
    ["its tool_result_text", { output: {} }, 1, { tool_result_text: "so" }, "so"],
  ])("%s", (_name, more, result, output, shown) => {
    const state = fold([serve], [...begin(result), completed("d[0]/", output), completed("d")], {
      workflows: [given(more)],
    });
    expect(state.root.results.get("d")?.result).toMatchObject({ tool_results: [{ success: true, result: shown }] });
  });

  it("says what of a failed one could not be undone", () => {
    const steps: StepDocument[] = [{ id: "s", tool: "t", compensate: { tool: "u" } }, b];
    const end = [
      failed("d[0]/b"),
      failed("d[0]/s~undo", { error: errorOf("TOOL_FAILED", "stuck") }),
      failed("d[0]/"),
      completed("d"),
    ];
    const [start, enter] = begin(1);
    const journal = [start, enter, ...wrote("d[0]/s"), ...end].filter((fact) => fact !== undefined);
    const state = fold([serve], journal, { workflows: [given({ steps })] });
    expect(state.root.results.get("d")?.result).toMatchObject({
      tool_results: [{ success: false, error: "no; s: stuck" }],
    });
  });
});

test("what a workflow step was given is kept where a template reads it", () => {
  const steps: StepDocument[] = [
    { ...box, inputs: { n: 1 } },
    { ...b, inputs: { was: "{{steps.box.inputs.n}}" } },
  ];
  const state = fold(
    steps,
    [opened("box", 1), entered("box/", { n: 1 }), completed("box/s"), completed("box/"), completed("box")],
    { workflows: [sub] },
  );
  expect(state.root.results.get("box")).toEqual({ result: null, inputs: { n: 1 } });
});

test("a run with a time-out fails by it, and undoes", () => {
  const state = fold({ name: "w", timeout_ms: 9, steps: [undoable, b] }, [...wrote("a"), timedOut("")]);
  expect(state.root.failing).toMatchObject({
    error: { message: "Workflow w did not end within the 9 ms that its timeout_ms allows." },
  });
  expect(state.nodes.has("a~undo")).toBe(true);
});

it("keeps more warnings than a call takes arguments", () => {
  const warnings = Array.from({ length: 200_000 }, () => ({ code: "UNRESOLVED_REFERENCE" as const, message: "gone" }));
  const { warnings: kept } = resultOf(
    fold([a], [completed("a"), { kind: "run_ended", status: "completed", warnings }]),
  );
  expect(kept).toHaveLength(200_000);
});
