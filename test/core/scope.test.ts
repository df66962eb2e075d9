import { describe, expect, it, test } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import {
  answered,
  approvalAsked,
  cancelled,
  completed,
  decide,
  decided,
  doubtAsked,
  doubted,
  entered,
  errorOf,
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
  told,
  turnCall,
  wrote,
} from "./journal.js";

/** Failing, the same at every level: what stops, what is awaited, what is undone and in which order, who is told. */

const compensate = { tool: "u" };
const a: StepDocument = { id: "a", tool: "t", compensate };
const b: StepDocument = { id: "b", tool: "t", compensate };
const c: StepDocument = { id: "c", tool: "t" };
const sub = defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "t", compensate }, c] });
const outer = defineWorkflow({ name: "outer", steps: [{ id: "in", workflow: "sub" }] });
const bc: StepDocument = { id: "p", parallel: [b, c] };
const each: StepDocument = { id: "e", for_each: { items: [1, 2], workflow: "sub", max_concurrent: 2 } };
const ignoring: StepDocument = {
  ...each,
  for_each: { items: [1, 2], workflow: "sub", max_concurrent: 2, on_error: "ignore" },
};
const nested: StepDocument = { id: "n", parallel: [c, { id: "o", workflow: "outer" }] };
const within = [opened("n", 2), opened("n/o", 1), entered("n/o/"), opened("n/o/in", 1), entered("n/o/in/")];

type Row = [name: string, steps: Steps, journal: readonly Told[], decisions: string[], run?: Run];

function holds(rows: Row[]): void {
  it.each(rows)("%s", (_name, steps, journal, decisions, run = {}) => {
    expect(decided(steps, journal, { workflows: [sub, outer], ...run })).toEqual(decisions);
  });
}

const undo = (n: number) => `call_tool u #1 {"n":${n}}`;

describe("undoing", () => {
  holds([
    ["begins with the newest", [a, b, c], [...wrote("a", { n: 1 }), ...wrote("b", { n: 2 }), failed("c")], [undo(2)]],
    [
      "goes on with the one before",
      [a, b, c],
      [...wrote("a", { n: 1 }), ...wrote("b", { n: 2 }), failed("c"), completed("b~undo")],
      [undo(1)],
    ],
    [
      "goes on behind one that failed",
      [a, b, c],
      [...wrote("a", { n: 1 }), ...wrote("b", { n: 2 }), failed("c"), failed("b~undo")],
      [undo(1)],
    ],
    [
      "passes over one that did not resolve",
      [a, b, c],
      [...wrote("a", { n: 1 }), intended("b"), completed("b", 1, { undo: { error: errorOf() } }), failed("c")],
      [undo(1)],
    ],
    [
      "passes over one that nothing undoes",
      [a, c, { ...c, id: "d" }],
      [...wrote("a", { n: 1 }), intended("c"), completed("c"), failed("d")],
      [undo(1)],
    ],
    [
      "goes by the time of the outcomes, whatever lies where",
      [{ id: "p", parallel: [a, b] }, c],
      [
        opened("p", 2),
        intended("p/a"),
        intended("p/b"),
        completed("p/b", 1, { undo: { inputs: { n: 2 } } }),
        completed("p/a", 1, { undo: { inputs: { n: 1 } } }),
        completed("p"),
        failed("c"),
      ],
      [undo(1)],
    ],
    [
      "holds for a read that has a compensation",
      [a, c],
      [completed("a", 1, { undo: { inputs: { n: 1 } } }), failed("c")],
      [undo(1)],
    ],
    [
      "leaves a container without its kept inputs alone",
      [
        { ...bc, compensate },
        { ...c, id: "d" },
      ],
      [opened("p", 2), completed("p/b"), completed("p/c"), completed("p"), failed("d")],
      ["run_ended failed"],
    ],
    [
      "is by the fallback's own compensation",
      [{ ...a, fallback: { tool: "f", compensate: { tool: "v" } } }, c],
      [failed("a"), intended("a~fallback"), completed("a~fallback", 1, { undo: { inputs: { n: 3 } } }), failed("c")],
      ['call_tool v #1 {"n":3}'],
    ],
    [
      "is by the children's compensations",
      [each, c],
      [
        opened("e", 2),
        entered("e[0]/"),
        entered("e[1]/"),
        ...wrote("e[1]/s", { n: 1 }),
        ...wrote("e[0]/s", { n: 2 }),
        completed("e[0]/c"),
        completed("e[0]/"),
        completed("e[1]/c"),
        completed("e[1]/"),
        completed("e"),
        failed("c"),
      ],
      [undo(2)],
    ],
    [
      "of a child that is let fail comes before the others go on",
      [ignoring],
      [opened("e", 2), entered("e[0]/"), ...wrote("e[0]/s", { n: 1 }), failed("e[0]/c")],
      ["entered e[1]/ {}", undo(1), "call_tool t #1 {}"],
    ],
    [
      "tells its owner when it is done",
      [ignoring],
      [
        opened("e", 2),
        entered("e[0]/"),
        entered("e[1]/"),
        ...wrote("e[0]/s", { n: 1 }),
        failed("e[0]/c"),
        completed("e[0]/s~undo"),
      ],
      ["failed e[0]/ not_applied TOOL_FAILED", "call_tool t #1 {}"],
    ],
    ["is asked about as any write", [a, c], [...wrote("a", { n: 1 }), failed("c"), approvalAsked("a~undo")], []],
    [
      "that is approved is made",
      [a, c],
      [...wrote("a", { n: 1 }), failed("c"), approvalAsked("a~undo"), answered("a~undo", { decision: "approve" })],
      ['call_tool t #1 {"x":1}'],
    ],
  ]);
});

describe("a scope that fails", () => {
  holds([
    [
      "awaits a write in flight, then undoes it too",
      [{ id: "p", parallel: [a, c] }],
      [opened("p", 2), intended("p/a"), failed("p/c"), completed("p/a", 1, { undo: { inputs: { n: 1 } } })],
      [undo(1)],
    ],
    [
      "awaits a write that then fails",
      [bc],
      [opened("p", 2), intended("p/b"), failed("p/c"), failed("p/b")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "awaits a write deep below",
      [nested],
      [...within, intended("n/o/in/s"), failed("n/c"), completed("n/o/in/s", 1, { undo: { inputs: { n: 1 } } })],
      [undo(1)],
    ],
    [
      "awaits a write deep below that then fails",
      [nested],
      [...within, intended("n/o/in/s"), failed("n/c"), failed("n/o/in/s")],
      ["failed n not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "awaits a fallback in flight",
      [{ id: "p", parallel: [{ ...a, fallback: { tool: "f" } }, c] }],
      [opened("p", 2), failed("p/a"), intended("p/a~fallback"), failed("p/c")],
      [],
    ],
    [
      "stops a fallback that was not made",
      [{ id: "p", parallel: [{ ...a, fallback: { tool: "f" } }, c] }],
      [opened("p", 2), failed("p/a"), failed("p/c")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "uses no fallback below",
      [{ id: "p", parallel: [{ ...a, fallback: { tool: "f" } }, c] }],
      [opened("p", 2), intended("p/a"), failed("p/c"), failed("p/a")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "withdraws approvals and asks",
      [bc],
      [opened("p", 2), approvalAsked("p/b"), failed("p/c")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "settles a doubt below",
      [bc],
      [opened("p", 2), intended("p/b"), doubted("p/b"), failed("p/c")],
      ["commit question_asked in_doubt p/b?1"],
    ],
    [
      "leaves a question about doubt open",
      [bc],
      [opened("p", 2), intended("p/b"), doubted("p/b"), doubtAsked("p/b"), failed("p/c")],
      [],
    ],
    [
      "acts on an answer about doubt",
      [bc],
      [
        opened("p", 2),
        intended("p/b"),
        doubted("p/b"),
        doubtAsked("p/b"),
        answered("p/b", { decision: "retry" }),
        failed("p/c"),
      ],
      ['call_tool t #2 {"x":1}'],
    ],
    [
      "doubts what waits for its next attempt",
      [bc],
      [opened("p", 2), intended("p/b", { idempotent: true }), retried("p/b", { outcome: "in_doubt" }), failed("p/c")],
      ["commit question_asked in_doubt p/b?1"],
    ],
    [
      "doubts what asks for its next attempt",
      [bc],
      [
        opened("p", 2),
        intended("p/b"),
        doubted("p/b"),
        doubtAsked("p/b"),
        answered("p/b", { decision: "retry" }),
        approvalAsked("p/b", { id: "p/b?2" }),
        failed("p/c"),
      ],
      ["commit question_asked in_doubt p/b?3"],
    ],
    [
      "drops what was withheld",
      [bc],
      [opened("p", 2), intended("p/b"), failed("p/c"), { kind: "withheld", path: "p/b" }],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "settles the doubt behind what was withheld",
      [bc],
      [
        opened("p", 2),
        intended("p/b"),
        taken,
        intended("p/b", { attempt: 2 }),
        failed("p/c"),
        { kind: "withheld", path: "p/b" },
      ],
      ["commit question_asked in_doubt p/b?1"],
    ],
    [
      "awaits an undo that has begun below",
      [{ id: "p", parallel: [ignoring, c] }],
      [
        opened("p", 2),
        opened("p/e", 2),
        entered("p/e[0]/"),
        ...wrote("p/e[0]/s", { n: 1 }),
        failed("p/e[0]/c"),
        intended("p/e[0]/s~undo"),
        failed("p/c"),
      ],
      [],
    ],
    [
      "goes on when that undo is done",
      [{ id: "p", parallel: [ignoring, c] }],
      [
        opened("p", 2),
        opened("p/e", 2),
        entered("p/e[0]/"),
        ...wrote("p/e[0]/s", { n: 1 }),
        failed("p/e[0]/c"),
        failed("p/c"),
        completed("p/e[0]/s~undo"),
      ],
      ["failed p/e[0]/ not_applied TOOL_FAILED", "failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "has one error, the first",
      [bc],
      [opened("p", 2), intended("p/b"), failed("p/c"), failed("p", { error: errorOf("LIMIT_REACHED") })],
      ["run_ended failed"],
    ],
    ["is not cancelled while it undoes", [a, c], [...wrote("a", { n: 1 }), failed("c"), timedOut("")], [undo(1)]],
    [
      "aborts what it awaits once its time is up",
      { name: "w", timeout_ms: 5, steps: [bc] },
      [opened("p", 2), intended("p/b"), failed("p/c"), timedOut("")],
      [],
    ],
    [
      "stops its children's children",
      [each],
      [opened("e", 2), entered("e[0]/"), entered("e[1]/"), failed("e[0]/s")],
      ["failed e not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "lets a child workflow that is stopped end",
      [each],
      [
        opened("e", 2),
        entered("e[0]/"),
        entered("e[1]/"),
        intended("e[1]/s"),
        failed("e[0]/s"),
        completed("e[1]/s", 1, { undo: { inputs: { n: 1 } } }),
      ],
      [undo(1)],
    ],
  ]);

  test("a dispatch's call that is stopped ends without a word", () => {
    const dispatch: StepDocument = {
      id: "d",
      tool_dispatch: { source_key: "turn", max_concurrent: 2, tools: { t: { tool: "t" } } },
    };
    const both: StepDocument = { id: "p", parallel: [dispatch, c] };
    const calls = [turnCall(0, "t"), turnCall(1, "t")];
    const begin = [opened("p", 2), opened("p/d", 2, { calls }), intended("p/d[0]"), intended("p/d[1]"), failed("p/c")];
    expect(decided([both], [...begin, completed("p/d[0]")])).toEqual([]);
    expect(decided([both], [...begin, completed("p/d[0]"), failed("p/d[1]")])).toEqual([
      "failed p not_applied TOOL_FAILED",
      "run_ended failed",
    ]);
    expect(decided([both], [...begin, completed("p/d[0]"), failed("p/d[1]", { outcome: "in_doubt" })])).toEqual([
      "failed p not_applied TOOL_FAILED",
      "run_ended failed",
    ]);
  });
});

test("a container that fails aborts what it awaits once its time is up", () => {
  const timed = { ...bc, timeout_ms: 5 };
  const begin = [{ kind: "begun", path: "p" } as const, opened("p", 2), intended("p/b"), failed("p/c")];
  expect(fold([timed], begin).nodes.get("p/b")).toMatchObject({ call: { aborted: false } });
  expect(fold([timed], [...begin, timedOut("p")]).nodes.get("p/b")).toMatchObject({ call: { aborted: true } });
});

describe("a container's next attempt", () => {
  const again: StepDocument = { ...bc, retries: 1 };
  holds([
    [
      "has a path of its own",
      [again],
      [
        opened("p", 2),
        ...wrote("p/b"),
        failed("p/c"),
        completed("p/b~undo"),
        retried("p"),
        opened("p", 2, { attempt: 2 }),
      ],
      ["call_tool t #1 {}", "call_tool t #1 {}"],
    ],
    [
      "reads nothing of the one before",
      [{ id: "q", retries: 1, parallel: [bc, { ...c, id: "d" }] }],
      [
        opened("q", 2),
        opened("q/p", 2),
        completed("q/p/b", 1),
        completed("q/p/c", 2),
        completed("q/p"),
        failed("q/d"),
        retried("q"),
        opened("q", 2, { attempt: 2 }),
      ],
      ["opened q#2/p 2", "call_tool t #1 {}", "call_tool t #1 {}", "call_tool t #1 {}"],
    ],
    [
      "follows an undo that left nothing",
      [again],
      [opened("p", 2), ...wrote("p/b"), failed("p/c"), completed("p/b~undo")],
      ["retried p #2 1000 not_applied TOOL_FAILED"],
    ],
    [
      "follows no undo that failed",
      [again],
      [opened("p", 2), ...wrote("p/b"), failed("p/c"), failed("p/b~undo")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "follows no write in doubt",
      [again],
      [opened("p", 2), intended("p/b"), failed("p/b", { outcome: "in_doubt", error: errorOf("TOOL_IN_DOUBT") })],
      ["failed p not_applied TOOL_IN_DOUBT", "run_ended failed"],
    ],
    [
      "follows no write that nothing undoes",
      [{ ...again, parallel: [c, b] }],
      [opened("p", 2), intended("p/c"), completed("p/c"), failed("p/b")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
    [
      "follows no rejection",
      [again],
      [opened("p", 2), failed("p/b", { error: errorOf("REJECTED"), outcome: "refused" })],
      ["failed p not_applied REJECTED", "run_ended failed"],
    ],
    [
      "follows none beyond its retries",
      [again],
      [opened("p", 2), failed("p/b"), retried("p"), opened("p", 2, { attempt: 2 }), failed("p#2/b")],
      ["failed p not_applied TOOL_FAILED", "run_ended failed"],
    ],
  ]);

  test("begins without the results of the one before", () => {
    const state = fold([again], [opened("p", 2), completed("p/b", 1), failed("p/c"), retried("p")]);
    expect([...state.root.results]).toEqual([]);
  });
});

describe("a fallback", () => {
  const sure: StepDocument = { ...a, fallback: { tool: "f", inputs: { why: "{{error.code}}: {{error.message}}" } } };
  const timed: StepDocument = { ...sure, timeout_ms: 20 };
  const box: StepDocument = { id: "p", parallel: [b, c], fallback: { tool: "f" } };
  const begun = { kind: "begun", path: "a" } as const;
  holds([
    ["knows why", [sure], [failed("a")], ['call_tool f #1 {"why":"TOOL_FAILED: no"}']],
    [
      "stands in for a refused write",
      [sure],
      [failed("a", { outcome: "refused" })],
      ['call_tool f #1 {"why":"TOOL_FAILED: no"}'],
    ],
    [
      "stands in for a container",
      [box],
      [opened("p", 2), completed("p/b"), failed("p/c"), failed("p")],
      ["call_tool f #1 {}"],
    ],
    ["gives the step's result", [sure], [failed("a"), completed("a~fallback", 4)], ["run_ended completed"]],
    [
      "that fails is no reason: the first error is",
      [sure],
      [failed("a"), failed("a~fallback", { error: errorOf("TOOL_REFUSED") })],
      ["run_ended failed"],
    ],
    [
      "stands not in for a rejection",
      [sure],
      [failed("a", { error: errorOf("REJECTED"), outcome: "refused" })],
      ["run_ended failed"],
    ],
    ["stands not in for doubt", [sure], [intended("a"), failed("a", { outcome: "in_doubt" })], ["run_ended failed"]],
    [
      "stands not in for a result that can't be kept",
      [sure],
      [failed("a", { error: errorOf("RESULT_TOO_LARGE") })],
      ["run_ended failed"],
    ],
    [
      "stands not in beyond the limit",
      [sure],
      [failed("a", { error: errorOf("LIMIT_REACHED") })],
      ["run_ended failed"],
    ],
    [
      "has the step's time anew",
      [timed],
      [begun, failed("a"), timedOut("a~fallback")],
      ["failed a~fallback not_applied TIMED_OUT", "run_ended failed"],
    ],
    ["is tried once", [{ ...sure, retries: 2 }], [failed("a"), intended("a~fallback")], []],
  ]);

  test("fails with the first error", () => {
    const state = fold([sure], [failed("a"), failed("a~fallback", { error: errorOf("TOOL_REFUSED") })]);
    expect(state.root.failing?.error).toMatchObject({ code: "TOOL_FAILED" });
  });

  test("is looked for behind a dispatch's own error", () => {
    const dispatch: StepDocument = {
      id: "d",
      tool_dispatch: { source_key: "turn", tools: { t: { tool: "t" } } },
      fallback: { tool: "f" },
    };
    const cause = errorOf("REJECTED");
    const error = { ...errorOf("DISPATCH_FAILED"), cause };
    const begin = [opened("d", 1, { calls: [turnCall(0, "t")] }), failed("d[0]")];
    expect(decided([dispatch], [...begin, failed("d", { error })])).toEqual(["run_ended failed"]);
    expect(decided([dispatch], [...begin, failed("d", { error: errorOf("DISPATCH_FAILED") })])).toEqual([
      "call_tool f #1 {}",
    ]);
  });
});

describe("a failed step says whether anything will now be undone", () => {
  it.each<[name: string, steps: Steps, journal: readonly Told[], will: boolean]>([
    ["what was done before", [a, c], [...wrote("a"), failed("c")], true],
    ["nothing", [a, c], [completed("a"), failed("c")], false],
    ["nothing that can be", [c, { ...c, id: "d" }], [intended("c"), completed("c"), failed("d")], false],
    [
      "what was done beside it",
      [{ id: "p", parallel: [{ id: "o", workflow: "sub" }, c] }],
      [opened("p", 2), opened("p/o", 1), entered("p/o/"), ...wrote("p/o/s"), failed("p/c")],
      true,
    ],
    [
      "what was done beside it, in a dispatch",
      [{ id: "p", parallel: [{ id: "d", tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } } } }, c] }],
      [opened("p", 2), opened("p/d", 1, { calls: [turnCall(0, "t")] }), failed("p/c")],
      false,
    ],
    [
      "in a child that is let fail, nothing of the others",
      [ignoring],
      [opened("e", 2), entered("e[0]/"), entered("e[1]/"), ...wrote("e[0]/s"), failed("e[1]/s")],
      false,
    ],
    [
      "in a child that is let fail, what it did",
      [ignoring],
      [opened("e", 2), entered("e[0]/"), ...wrote("e[0]/s"), failed("e[0]/c")],
      true,
    ],
  ])("%s", (_name, steps, journal, will) => {
    const state = fold(steps, journal, { workflows: [sub] });
    expect(state.events.filter((event) => event.type === "step" && event.status === "failed").at(-1)).toMatchObject({
      willUndo: will,
    });
  });
});

test("a cancel withdraws what is asked, and lets a sleep go", () => {
  const steps: StepDocument[] = [
    {
      id: "p",
      parallel: [
        { id: "i", ask: { prompt: "?" } },
        { id: "z", sleep_ms: 5 },
      ],
    },
  ];
  const state = fold(steps, [
    opened("p", 2),
    inputAsked("p/i"),
    { kind: "sleep_started", path: "p/z", ms: 5 },
    ...cancelled,
  ]);
  expect(told(decide(state))).toEqual(["run_ended cancelled"]);
  expect(state.questions.size).toBe(0);
});

test("a write that is approved while its scope fails is not made", () => {
  const state = fold([bc], [opened("p", 2), intended("p/c"), approvalAsked("p/b"), failed("p/c")]);
  tell(state, answered("p/b", { decision: "approve" }));
  expect(told(decide(state))).toEqual(["failed p not_applied TOOL_FAILED", "run_ended failed"]);
});

describe("what is stopped below a scope that fails", () => {
  const three: StepDocument = { id: "p", parallel: [a, { ...b, retries: 1 }, c] };
  const doubtful = [intended("p/b", { idempotent: true }), retried("p/b", { outcome: "in_doubt" })];

  test("is awaited as long as one of its writes is in flight", () => {
    const done = completed("p/a", 1, { undo: { inputs: { n: 1 } } });
    const state = fold([three], [opened("p", 3), intended("p/a"), intended("p/b"), failed("p/c"), done]);
    expect(told(decide(state))).toEqual([]);
    tell(state, completed("p/b", 1, { undo: { inputs: { n: 2 } } }));
    expect(told(decide(state))).toEqual([undo(2)]);
  });

  test("starts no further call of a dispatch once a write in flight has ended", () => {
    const serve: StepDocument = {
      id: "d",
      tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } }, max_concurrent: 1 },
    };
    const calls = [turnCall(0, "t"), turnCall(1, "t")];
    const journal = [opened("d", 2, { calls }), intended("d[0]"), ...cancelled, completed("d[0]")];
    expect(decided([serve], journal)).toEqual(["run_ended cancelled"]);
  });

  test("is counted, for whoever looks after the calls in flight", () => {
    expect(fold([three], [opened("p", 3), intended("p/a"), failed("p/c")]).stops).toBe(1);
    expect(fold([three], [opened("p", 3), intended("p/a"), ...cancelled]).stops).toBe(3);
    expect(fold([three], [opened("p", 3), intended("p/a"), ...cancelled, { kind: "cancel_begun" }]).stops).toBe(3);
  });

  test("asks about its doubt alone: an approval of a further attempt is withdrawn", () => {
    const state = fold([three], [opened("p", 3), ...doubtful, approvalAsked("p/b"), failed("p/c")]);
    expect(state.closed.get("p/b?1")).toEqual({ state: "withdrawn" });
    expect(state.nodes.get("p/b")).toMatchObject({ call: { phase: "doubted" } });
    expect(told(decide(state))).toEqual(["commit question_asked in_doubt p/b?2"]);
  });

  test("settles its doubt as a person said, even if the call was under way before", () => {
    const asked = [intended("p/b"), taken, doubtAsked("p/b"), answered("p/b", { decision: "retry" })];
    const state = fold([three], [opened("p", 3), ...asked]);
    expect(told(decide(state))).toContain('call_tool t #2 {"x":1}');
    tell(state, failed("p/c"));
    expect(told(decide(state))).toEqual(['call_tool t #2 {"x":1}']);
  });

  test("leaves where it was approved, and not yet made", () => {
    const approved = [approvalAsked("p/b"), answered("p/b", { decision: "approve" })];
    const state = fold([three], [opened("p", 3), ...approved, failed("p/c")]);
    expect(state.nodes.has("p/b")).toBe(false);
  });
});

describe("a fallback is not used", () => {
  const guarded: StepDocument = { ...c, fallback: { tool: "f" } };
  it.each<[name: string, journal: Told[]]>([
    ["where a person said no", [failed("c", { error: errorOf("REJECTED"), outcome: "refused" })]],
    ["behind a cancel", [failed("c", { error: errorOf("CANCELLED") })]],
    ["beyond the limit of records", [failed("c", { error: errorOf("LIMIT_REACHED") })]],
    ["where the call was made too late", [failed("c", { error: errorOf("TIMED_OUT"), outcome: "applied" })]],
    ["where what the call gave can't be kept", [failed("c", { error: errorOf("RESULT_TOO_LARGE") })]],
  ])("%s", (_name, journal) => {
    expect(decided([guarded], journal)).toEqual(["run_ended failed"]);
  });

  test("for what a dispatch failed by, and no other error's cause", () => {
    const cause = { message: "no", code: "REJECTED" } as const;
    expect(decided([guarded], [failed("c", { error: { ...errorOf("DISPATCH_FAILED"), cause } })])).toEqual([
      "run_ended failed",
    ]);
    expect(decided([guarded], [failed("c", { error: { ...errorOf(), cause } })])).toEqual(["call_tool f #1 {}"]);
  });
});
