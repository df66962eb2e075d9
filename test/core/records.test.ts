import { describe, expect, it, test } from "vitest";
import { dueTimers } from "../../src/core/clock.js";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import type { ErrorData } from "../../src/core/errors.js";
import { next, wake } from "../../src/core/next.js";
import { type Call, callOf } from "../../src/core/node.js";
import type { RunState } from "../../src/core/state.js";
import {
  answered,
  approvalAsked,
  cancelled,
  completed,
  decide,
  decided,
  doubtAsked,
  entered,
  errorOf,
  eventsOf,
  expired,
  failed,
  fold,
  inputAsked,
  intended,
  opened,
  retried,
  type Told,
  taken,
  tell,
  told,
  turnCall,
  wrote,
} from "./journal.js";

/** What single records leave behind, to the last property: what a journal keeps, and what people are told. */

const a: StepDocument = { id: "a", tool: "t" };
const b: StepDocument = { id: "b", tool: "t" };
const undoable: StepDocument = { ...a, compensate: { tool: "u" } };
const sub = defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "t" }] });
const box: StepDocument = { id: "box", workflow: "sub" };
const boxed = [opened("box", 1), entered("box/", { n: 1 }), completed("box/s", 5), completed("box/")];

function callAt(state: RunState, path: string): Call {
  const node = state.nodes.get(path);
  const call = node && callOf(node);
  if (call === undefined) throw new Error(`There is no call at ${path}.`);
  return call;
}

describe("the events of records bear", () => {
  const error = errorOf();
  it.each<[name: string, steps: StepDocument[], journal: Told[], last: object]>([
    [
      "the delay and the error of a retry",
      [{ ...a, retries: 1 }],
      [retried("a")],
      { status: "retrying", delayMs: 1_000, error },
    ],
    [
      "those of a container's",
      [{ ...box, retries: 1 }],
      [opened("box", 1), failed("box/"), retried("box")],
      { status: "retrying", path: "box", delayMs: 1_000, error },
    ],
    ["the result of a container", [box], [...boxed, completed("box")], { status: "completed", path: "box", result: 5 }],
    ["that nothing is to be undone", [a], [failed("a")], { status: "failed", error, willUndo: false }],
    ["that something is", [undoable, b], [...wrote("a"), failed("b")], { status: "failed", error, willUndo: true }],
    [
      "that a fallback takes over before anything is undone",
      [undoable, { ...b, fallback: { tool: "f" } }],
      [...wrote("a"), failed("b")],
      { status: "failed", path: "b", error, willUndo: false },
    ],
    [
      "that a model's call failed",
      [{ id: "d", tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } }, on_error: "ignore" } }],
      [opened("d", 1, { calls: [turnCall(0, "t")] }), failed("d[0]")],
      { status: "failed", path: "d[0]", error, willUndo: false },
    ],
    [
      "why an undo failed",
      [undoable, b],
      [...wrote("a"), failed("b"), failed("a~undo")],
      { status: "undo_failed", path: "a~undo", error },
    ],
    [
      "why an undo could not begin",
      [undoable, b],
      [intended("a"), completed("a", 1, { undo: { error: errorOf("UNRESOLVED_REFERENCE") } }), failed("b")],
      { status: "undo_failed", path: "a~undo", error: errorOf("UNRESOLVED_REFERENCE") },
    ],
  ])("%s", (_name, steps, journal, last) => {
    const { events } = fold(steps, journal, { workflows: [sub] });
    expect(events.at(-1)).toMatchObject(last);
  });
});

describe("what templates read of a step", () => {
  const results = (steps: StepDocument[], journal: Told[]) => fold(steps, journal, { workflows: [sub] }).root.results;

  it("is its result alone, where nobody reads its inputs", () => {
    expect(results([a, b], wrote("a")).get("a")).toStrictEqual({ result: null });
    expect(results([box, b], [...boxed, completed("box")]).get("box")).toStrictEqual({ result: 5 });
  });

  it("is what was sent too, where somebody does", () => {
    const reads: StepDocument = { ...b, inputs: { x: "{{steps.a.inputs.x}}" } };
    expect(results([a, reads], wrote("a")).get("a")).toStrictEqual({ result: null, inputs: { x: 1 } });
  });

  it("is nothing of one that was skipped", () => {
    expect(results([a, b], [{ kind: "skipped", path: "a" }]).has("a")).toBe(false);
  });
});

describe("a fact that is decided holds only what there is", () => {
  const ends = (document: Parameters<typeof fold>[0], journal: Told[]) => {
    const facts = decide(fold(document, journal));
    return facts.at(-1);
  };

  it("for the end of a run", () => {
    const steps = [a];
    expect(ends(steps, [completed("a", 1)])).toStrictEqual({ kind: "run_ended", status: "completed" });
    expect(ends({ name: "w", steps, output: "{{steps.a.result}}" }, [completed("a", 1)])).toStrictEqual({
      kind: "run_ended",
      status: "completed",
      output: 1,
    });
  });

  it("for a question", () => {
    const asks: StepDocument = { id: "a", ask: { prompt: "?" } };
    expect(next(fold([asks]))).toMatchObject({ fact: { kind: "question_asked" } });
    const fact = Reflect.get(Object(next(fold([asks]))), "fact");
    expect(Object.keys(fact)).toEqual(["kind", "path", "question"]);
    const expiring = Reflect.get(Object(next(fold([{ id: "a", ask: { prompt: "?", expires_after_ms: 5 } }]))), "fact");
    expect(expiring).toMatchObject({ expiresAfterMs: 5 });
  });
});

test("why a run fails is said in words", () => {
  const faultOf = (state: RunState): ErrorData | undefined => {
    decide(state);
    return state.root.failing?.error;
  };
  expect(fold([a], cancelled).root.failing).toStrictEqual({
    error: { code: "CANCELLED", message: "The run was cancelled." },
    status: "cancelled",
    undoing: true,
  });
  expect(callAt(fold([a], [intended("a"), taken]), "a").doubt).toStrictEqual({
    code: "TOOL_IN_DOUBT",
    message: "The driver was gone before the tool answered, so nobody knows whether the write was made.",
    stepId: "a",
    path: "a",
  });
  expect(faultOf(fold([a], [approvalAsked("a"), expired("a")]))).toStrictEqual({
    code: "QUESTION_EXPIRED",
    message: "Nobody answered in time, and an expired question never approves.",
    stepId: "a",
    path: "a",
  });
  expect(faultOf(fold([a], [], { settings: { maxRecords: 1 } }))).toStrictEqual({
    code: "LIMIT_REACHED",
    message: "The run has 1 records, which limits.maxRecords allows.",
    stepId: "a",
    path: "a",
  });
  const strict = defineWorkflow({ name: "sub", input_schema: { required: ["n"] }, steps: [{ id: "s", tool: "t" }] });
  expect(faultOf(fold([box], [], { workflows: [strict] }))?.message).toMatch(/^Workflow sub: the input does not fit/);
  expect(() => tell(fold([a]), JSON.parse('{"kind":"run_started"}'))).toThrowError(
    "run_started of the run does not follow from what is before it",
  );
});

describe("doubt", () => {
  const idempotent = { ...a, retries: 3 };
  const again = (attempt: number) => intended("a", { attempt, idempotent: true });
  const inDoubt = (attempt: number) => retried("a", { attempt, outcome: "in_doubt" });

  it("begins with the first attempt that left it", () => {
    const state = fold([idempotent], [again(1), retried("a"), again(2), inDoubt(3), again(3), inDoubt(4)]);
    expect(callAt(state, "a")).toMatchObject({ attempt: 4, doubtFrom: 2 });
  });

  it("is settled by what a former driver reports of the attempt in flight, once nobody waits for it", () => {
    const report = { kind: "reported", path: "a", attempt: 1, outcome: { result: 7 } } as const;
    expect(decided([a], [intended("a"), report])).toEqual([]);
    expect(decided([a], [intended("a"), report, taken])).toEqual(["completed a 7", "run_ended completed"]);
  });

  it("is settled also beyond the limit of records", () => {
    const state = fold([idempotent], [again(1), inDoubt(2)], { settings: { maxRecords: 1 } });
    for (const timer of dueTimers(state, 1_000)) wake(state, timer);
    expect(told(decide(state))).toEqual(['call_tool t #2 {"x":1}']);
  });

  it("leaves a call that the next driver can abort anew", () => {
    const aborted = fold([a], [intended("a"), ...cancelled]);
    expect(callAt(aborted, "a").aborted).toBe(true);
    tell(aborted, taken);
    expect(callAt(aborted, "a").aborted).toBe(false);
  });
});

test("a person who has a write made again vouches for it, until it is withheld", () => {
  const asked = [intended("a"), taken, doubtAsked("a"), answered("a", { decision: "retry" })];
  const state = fold([a], [...asked, intended("a", { attempt: 2 })]);
  expect(callAt(state, "a").vouched).toBe(true);
  tell(state, { kind: "withheld", path: "a" });
  expect(callAt(state, "a").vouched).toBe(false);
  expect(callAt(fold([a], [...asked, intended("a", { attempt: 2, idempotent: true })]), "a").vouched).toBe(false);
  expect(callAt(fold([a], [intended("a")]), "a").vouched).toBe(false);
});

test("only an approval serves the attempts that follow", () => {
  const asks: StepDocument = { id: "a", ask: { prompt: "?" } };
  const approval = (journal: Told[], step = a) => callAt(fold([step], journal), "a").approval?.answer;
  expect(approval([approvalAsked("a"), answered("a", { decision: "approve" })])).toEqual({ decision: "approve" });
  expect(approval([approvalAsked("a"), answered("a", { decision: "reject" })])).toBeUndefined();
  expect(approval([inputAsked("a"), answered("a", { value: 1 })], asks)).toBeUndefined();
  expect(approval([approvalAsked("a"), expired("a")])).toBeUndefined();
});

test("a repeat keeps the result of its last turns alone", () => {
  const turns = [0, 1, 2, 3].flatMap((index): Told[] => [
    entered(`r[${index}]/`),
    completed(`r[${index}]/s`, { done: false, state: index }),
    completed(`r[${index}]/`),
    { kind: "turned", path: "r", index: index + 1 },
  ]);
  const loop: StepDocument = { id: "r", repeat: { workflow: "sub", state: 0, max_iterations: 9 } };
  const step = fold([loop], [opened("r", 9), ...turns], { workflows: [sub] }).nodes.get("r");
  const outcomes = step?.kind === "step" ? step.children?.outcomes : [];
  expect(outcomes?.map((outcome) => outcome?.result)).toEqual([
    undefined,
    undefined,
    undefined,
    { done: false, state: 3 },
  ]);
});

test("what was announced is announced anew with its next attempt", () => {
  const two: StepDocument = { id: "p", parallel: [{ ...a, retries: 1 }, b] };
  const state = fold([two], [opened("p", 2)]);
  callAt(state, "p/a").announced = true;
  tell(state, retried("p/a"));
  for (const timer of dueTimers(state, 1_000)) wake(state, timer);
  tell(state, failed("p/b"));
  expect(eventsOf(state)).toEqual(["started p#1", "retrying p/a#1", "failed p/b#1"]);
});

test("a write that is undone has no reason left", () => {
  const steps = [{ ...undoable, compensate: { tool: "u", retries: 1 } }, b];
  const state = fold(steps, [...wrote("a"), failed("b"), intended("a~undo"), completed("a~undo")]);
  expect(Object.keys(state.writes[0] ?? {})).not.toContain("reason");
});

test("a parallel gives what its steps gave, and nothing for one that was skipped", () => {
  const p: StepDocument = { id: "p", parallel: [a, b] };
  const state = fold([p], [opened("p", 2), { kind: "skipped", path: "p/a" }, completed("p/b", 2), completed("p")]);
  expect(state.root.results.get("p")?.result).toStrictEqual({ b: 2 });
});

test("a step is there as long as its fallback runs, and no longer", () => {
  const guarded: StepDocument = { ...a, fallback: { tool: "f" } };
  expect(fold([guarded, b], [failed("a")]).nodes.has("a")).toBe(true);
  expect([...fold([guarded, b], [failed("a"), completed("a~fallback")]).nodes.keys()]).toEqual(["b"]);
});

describe("what a container's attempt ends in", () => {
  const loop: StepDocument = { id: "r", repeat: { workflow: "sub", state: 0, max_iterations: 2 } };
  const turn = (index: number, result: object): Told[] => [
    entered(`r[${index}]/`),
    completed(`r[${index}]/s`, JSON.parse(JSON.stringify(result))),
    completed(`r[${index}]/`),
  ];
  const turned: Told = { kind: "turned", path: "r", index: 1 };

  it("is the state of the turn before, where the last one gives none", () => {
    const journal = [opened("r", 2), ...turn(0, { done: false, state: 1 }), turned, ...turn(1, { done: true })];
    expect(decided([loop], journal, { workflows: [sub] })).toContain("completed r");
    const state = fold([loop], [...journal, completed("r")], { workflows: [sub] });
    expect(state.root.results.get("r")?.result).toEqual({ state: 1, iterations: 2, result: { done: true } });
  });

  it("holds a warning only where there is one", () => {
    const each: StepDocument = { id: "e", for_each: { items: [1], workflow: "sub", on_error: "ignore" } };
    const state = (...journal: Told[]) =>
      fold([each], [opened("e", 1), entered("e[0]/"), ...journal], { workflows: [sub] });
    expect(next(state(completed("e[0]/s"), completed("e[0]/")))).toStrictEqual({ kind: "completed", path: "e" });
    const warnings = [{ code: "ITEM_FAILED", message: "Item 0 failed and is null: TOOL_FAILED: no", path: "e[0]" }];
    expect(next(state(failed("e[0]/s"), failed("e[0]/")))).toStrictEqual({ kind: "completed", path: "e", warnings });
  });

  it.each<[name: string, step: StepDocument, journal: Told[], error: ErrorData]>([
    [
      "items that are no list",
      { id: "e", for_each: { items: "{{input.n}}", workflow: "sub" } },
      [],
      { code: "INVALID_ITEMS", message: "The items have to be an array.", pointer: "/items", stepId: "e", path: "e" },
    ],
    [
      "a turn without the next state",
      loop,
      [opened("r", 2), ...turn(0, { done: false })],
      {
        code: "INVALID_TURN",
        message: 'Turn 1 has to give the next state as its property "state".',
        stepId: "r",
        path: "r",
      },
    ],
    [
      "a turn that does not say whether it is the last",
      loop,
      [opened("r", 2), ...turn(0, { state: 1 })],
      {
        code: "INVALID_TURN",
        message: 'Turn 1 has to give { "done": true or false, "state": … }, or the step a condition "until".',
        stepId: "r",
        path: "r",
      },
    ],
    [
      "no end",
      { id: "r", repeat: { workflow: "sub", state: 0, max_iterations: 1 } },
      [opened("r", 1), ...turn(0, { done: false, state: 1 })],
      {
        code: "ITERATIONS_EXHAUSTED",
        message: "Not done after 1 turns, which max_iterations allows. Allow more, or let it end sooner.",
        stepId: "r",
        path: "r",
      },
    ],
    [
      "a dispatch that is not told where the calls stand",
      { id: "d", tool_dispatch: { tools: { t: { tool: "t" } } } },
      [],
      {
        code: "UNRESOLVED_REFERENCE",
        message: "The dispatch has no source_key: it is where the calls stand.",
        stepId: "d",
        path: "d",
      },
    ],
    [
      "a dispatch whose calls do not stand there",
      { id: "d", tool_dispatch: { source_key: "gone", tools: { t: { tool: "t" } } } },
      [],
      {
        code: "UNRESOLVED_REFERENCE",
        message: 'The context has no key "gone": it is where the calls stand.',
        stepId: "d",
        path: "d",
      },
    ],
  ])("is an error for %s", (_name, step, journal, error) => {
    const state = fold([step], journal, { workflows: [sub], input: { n: 1 } });
    expect(decide(state).find((fact) => "error" in fact)).toMatchObject({ error });
  });
});

describe("a handler workflow that failed gives its model", () => {
  const handler = defineWorkflow({ name: "h", steps: [{ id: "s", tool: "t" }, b], output: "{{steps.b.result}}" });
  const serve: StepDocument = {
    id: "d",
    tool_dispatch: { source_key: "x", tools: { f: { flow: "h" } }, on_error: "ignore" },
  };
  const given = (...journal: Told[]) => {
    const begin = opened("d", 1, { calls: [turnCall(0, "f")] });
    const state = fold([serve], [begin, ...journal, completed("d")], { workflows: [handler] });
    return state.root.results.get("d")?.result;
  };

  it("what its steps gave, in the place of the output that it did not come to", () => {
    expect(given(entered("d[0]/"), completed("d[0]/s", 7), failed("d[0]/b"), failed("d[0]/"))).toMatchObject({
      tool_results: [{ success: false, result: { s: 7 } }],
    });
  });

  it("the same, where the dispatch fails with it", () => {
    const failing: StepDocument = { id: "d", tool_dispatch: { source_key: "x", tools: { f: { flow: "h" } } } };
    const begin = opened("d", 1, { calls: [turnCall(0, "f")] });
    const journal = [begin, entered("d[0]/"), completed("d[0]/s", 7), failed("d[0]/b")];
    const node = fold([failing], journal, { workflows: [handler] }).nodes.get("d");
    const error = { details: { entries: [{ success: false, result: { s: 7 } }] } };
    expect(node).toMatchObject({ failing: { error } });
  });

  it("its error, where it did not begin", () => {
    expect(given(failed("d[0]/"))).toMatchObject({ tool_results: [{ success: false, result: { error: "no" } }] });
  });
});
