import { describe, expect, it, test } from "vitest";
import { dueTimers, isActive, nextTimer } from "../../src/core/clock.js";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { wake } from "../../src/core/next.js";
import type { Timer } from "../../src/core/node.js";
import { Queue } from "../../src/core/queue.js";
import type { RunState } from "../../src/core/state.js";
import { Timers } from "../../src/core/timers.js";
import {
  answered,
  approvalAsked,
  completed,
  decide,
  decided,
  doubtAsked,
  doubted,
  entered,
  failed,
  fold,
  intended,
  opened,
  retried,
  type Told,
  taken,
  timedOut,
  told,
  turnCall,
  wrote,
} from "./journal.js";

const a: StepDocument = { id: "a", tool: "t", timeout_ms: 100, retries: 1, compensate: { tool: "u", timeout_ms: 70 } };
const begun = { kind: "begun", path: "a" } as const;

/** When which budget ends: `a 100`. */
function deadlines(state: RunState): string[] {
  return [...state.timers].map(({ until, what, node }) => `${what} ${node.path} ${until}`);
}

describe("a step's time", () => {
  it.each<[name: string, journal: Told[], timers: string[]]>([
    ["has not begun", [], []],
    ["begins with its record", [{ ...begun, at: 5 }], ["deadline a 105"]],
    [
      "begins once",
      [
        { ...begun, at: 5 },
        { ...begun, at: 50 },
      ],
      ["deadline a 105"],
    ],
    ["goes on with an attempt", [begun, { ...intended("a"), at: 50 }], ["deadline a 100"]],
    ["stands still while its question is open", [begun, { ...approvalAsked("a"), at: 30 }], []],
    [
      "goes on with the answer",
      [begun, { ...approvalAsked("a"), at: 30 }, { ...answered("a", { decision: "approve" }), at: 90 }],
      ["deadline a 160"],
    ],
    ["stands beside the question's own", [begun, { ...approvalAsked("a", {}, 40), at: 30 }], ["question a 70"]],
    ["goes on between attempts", [begun, { ...retried("a"), at: 10 }], ["deadline a 100", "backoff a 1010"]],
    ["ends with the step", [begun, { ...completed("a"), at: 10 }], []],
    ["ends by its record", [begun, { ...timedOut("a"), at: 100 }], []],
    [
      "begins anew when a person has the write made again",
      [
        begun,
        intended("a"),
        timedOut("a"),
        doubted("a"),
        doubtAsked("a"),
        answered("a", { decision: "retry" }),
        { ...intended("a", { attempt: 2 }), at: 500 },
      ],
      ["deadline a 600"],
    ],
    [
      "begins anew then, though some is left",
      [
        begun,
        intended("a"),
        taken,
        doubtAsked("a"),
        answered("a", { decision: "retry" }),
        { ...intended("a", { attempt: 2 }), at: 50 },
      ],
      ["deadline a 150"],
    ],
    [
      "is its fallback's too, and goes on with another driver",
      [begun, { ...failed("a"), at: 10 }, { ...taken, at: 60 }],
      ["deadline a~fallback 110"],
    ],
  ])("%s", (_name, journal, timers) => {
    expect(
      deadlines(
        fold(
          [
            { ...a, fallback: { tool: "f" } },
            { id: "b", tool: "t" },
          ],
          journal,
        ),
      ),
    ).toEqual(timers);
  });

  test("is an undo's own, and its container's", () => {
    const steps: StepDocument[] = [a, { id: "b", tool: "t" }];
    const undoing = [begun, ...wrote("a"), { ...failed("b"), at: 20 }];
    expect(deadlines(fold(steps, undoing))).toEqual(["deadline a~undo 90"]);
    const again = [
      intended("a~undo"),
      doubted("a~undo"),
      doubtAsked("a~undo"),
      answered("a~undo", { decision: "retry" }),
    ];
    expect(deadlines(fold(steps, [...undoing, ...again, { ...intended("a~undo", { attempt: 2 }), at: 60 }]))).toEqual([
      "deadline a~undo 130",
    ]);
    const message = "The undo did not end within the 70 ms that its timeout_ms allows.";
    const [fact] = decide(fold(steps, [...undoing, timedOut("a~undo")]));
    expect(fact).toMatchObject({ path: "a~undo", error: { code: "TIMED_OUT", message } });
  });

  test("is not that of a dispatch's calls", () => {
    const serve: StepDocument = {
      id: "d",
      timeout_ms: 9,
      tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } } },
    };
    const begin = [{ kind: "begun", path: "d" } as const, opened("d", 1, { calls: [turnCall(0, "t")] })];
    const again = [
      intended("d[0]"),
      doubted("d[0]"),
      doubtAsked("d[0]"),
      answered("d[0]", { decision: "retry" }),
      intended("d[0]", { attempt: 2 }),
    ];
    expect(deadlines(fold([serve], [...begin, ...again]))).toEqual(["deadline d 9"]);
  });

  test("ends what a container runs", () => {
    const p: StepDocument = { id: "p", timeout_ms: 9, parallel: [{ id: "a", tool: "t" }] };
    const state = fold([p], [{ kind: "begun", path: "p" }, opened("p", 1), timedOut("p")]);
    expect(state.nodes.get("p") ?? state.root).toMatchObject({
      timedOut: true,
      failing: { error: { message: "The step did not end within the 9 ms that its timeout_ms allows." } },
    });
    expect(told(decide(state))).toEqual(["failed p not_applied TIMED_OUT", "run_ended failed"]);
  });
});

describe("a run's time", () => {
  const sub = defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "t" }] });
  const steps: StepDocument[] = [
    {
      id: "p",
      parallel: [
        { id: "x", tool: "t" },
        { id: "o", workflow: "sub" },
      ],
    },
  ];
  const begin = [opened("p", 2), opened("p/o", 1), entered("p/o/")];
  const clockOf = (journal: Told[]) =>
    deadlines(fold({ name: "w", timeout_ms: 50, steps }, [...begin, ...journal], { workflows: [sub] }));

  it("stands still only while all that is left waits for people", () => {
    const asked = [
      { ...approvalAsked("p/x"), at: 10 },
      { ...approvalAsked("p/o/s"), at: 20 },
    ];
    expect(clockOf([asked[0] ?? completed("")])).toEqual(["deadline  50"]);
    expect(clockOf(asked)).toEqual([]);
    expect(clockOf([...asked, { ...answered("p/o/s", { decision: "approve" }), at: 40 }])).toEqual(["deadline  70"]);
    expect(clockOf([...asked, { ...failed("p/x"), at: 40 }])).toEqual(["deadline  70"]);
  });

  it.each<[name: string, journal: Told[], active: boolean]>([
    ["that begins", [], true],
    ["whose steps run", begin, true],
    ["whose steps all wait", [...begin, approvalAsked("p/x"), approvalAsked("p/o/s")], false],
    [
      "whose container is asked what it came to",
      [...begin, completed("p/x"), completed("p/o/s"), completed("p/o/")],
      true,
    ],
  ])("sees a run %s", (_name, journal, active) => {
    expect(isActive(fold(steps, journal, { workflows: [sub] }).root)).toBe(active);
  });

  test("counts what is about to be asked as asked", () => {
    const state = fold([{ id: "x", tool: "t" }]);
    const step = state.nodes.get("x");
    const call = step?.kind === "step" ? step.call : undefined;
    expect(isActive(state.root, new Set(call && [call]))).toBe(false);
  });

  test("looks at an undo, at a fallback, and at nothing where there is none", () => {
    const undo: StepDocument[] = [
      { id: "x", tool: "t", compensate: { tool: "u" }, fallback: { tool: "f" } },
      { id: "y", tool: "t" },
    ];
    expect(isActive(fold(undo, [...wrote("x"), failed("y"), approvalAsked("x~undo")]).root)).toBe(false);
    expect(isActive(fold(undo, [failed("x"), approvalAsked("x~fallback")]).root)).toBe(false);
    expect(isActive(fold(undo, [failed("x"), failed("x~fallback")]).root)).toBe(true);
  });
});

describe("what the passing of time means", () => {
  const woken = (steps: StepDocument[], journal: Told[], now: number) => {
    const state = fold(steps, journal, {
      workflows: [defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "t" }] })],
    });
    const facts = dueTimers(state, now).map((timer) => wake(state, timer));
    return [facts.filter((fact) => fact !== undefined), told(decide(state))];
  };
  const loop: StepDocument = { id: "r", repeat: { workflow: "sub", state: 0, max_iterations: 2, delay_ms: 9 } };
  const turned: Told[] = [
    opened("r", 2),
    entered("r[0]/"),
    completed("r[0]/s", { done: false, state: 1 }),
    completed("r[0]/"),
    { kind: "turned", path: "r", index: 1 },
  ];
  it.each<[name: string, steps: StepDocument[], journal: Told[], facts: object[], decisions: string[]]>([
    [
      "a sleep ends",
      [{ id: "z", sleep_ms: 9 }],
      [{ kind: "sleep_started", path: "z", ms: 9 }],
      [],
      ["completed z null", "run_ended completed"],
    ],
    [
      "an attempt follows",
      [{ id: "x", tool: "t", retries: 1 }],
      [retried("x", { delayMs: 9 })],
      [],
      ["call_tool t #2 {}"],
    ],
    [
      "a container's attempt follows",
      [{ id: "p", retries: 1, parallel: [{ id: "x", tool: "t" }] }],
      [opened("p", 1), failed("p/x"), retried("p", { delayMs: 9 })],
      [],
      ["opened p 1", "call_tool t #1 {}"],
    ],
    ["a turn follows", [loop], turned, [], ['entered r[1]/ {"state":1,"iteration":2}', "call_tool t #1 {}"]],
    [
      "a question expires",
      [{ id: "x", tool: "t" }],
      [approvalAsked("x", {}, 9)],
      [{ kind: "question_expired", id: "x?1" }],
      [],
    ],
    [
      "time is used up",
      [{ id: "x", tool: "t", timeout_ms: 9 }],
      [{ kind: "begun", path: "x" }],
      [{ kind: "timed_out", path: "x" }],
      ["call_tool t #1 {}"],
    ],
  ])("%s", (_name, steps, journal, facts, decisions) => {
    expect(woken(steps, journal, 8)[0]).toEqual([]);
    expect(woken(steps, journal, 9)).toEqual([facts, decisions]);
  });

  test("is seen ahead", () => {
    expect(nextTimer(fold([a]))).toBeUndefined();
    expect(nextTimer(fold([a], [{ ...begun, at: 5 }]))).toBe(105);
  });

  test("is no time to doubt what it cuts off", () => {
    expect(
      decided([a], [begun, intended("a", { idempotent: true }), retried("a", { outcome: "in_doubt" }), timedOut("a")]),
    ).toEqual(["doubted a TOOL_FAILED", "commit question_asked in_doubt a?1"]);
  });
});

describe("timers", () => {
  const { root: node } = fold([a]);
  const timer = (until: number): Timer => ({ until, what: "deadline", node });

  it("come in the order of their times, and of their setting", () => {
    for (const order of [
      [5, 3, 8, 1, 9, 2, 7, 3, 6, 4],
      [1, 2, 3, 4, 5, 6, 7, 8],
      [8, 7, 6, 5, 4, 3, 2, 1],
      [2, 2, 2, 1, 1, 1],
    ]) {
      const timers = new Timers();
      const all = order.map(timer);
      for (const each of all) timers.add(each);
      const sorted = [...all].sort((left, right) => left.until - right.until);
      const places = (some: Iterable<Timer>) => Array.from(some, (each) => all.indexOf(each));
      expect(places(timers)).toEqual(places(all));
      expect(places(timers.due(Number.POSITIVE_INFINITY))).toEqual(places(sorted));
      expect(places(timers.due(3))).toEqual(places(sorted.filter(({ until }) => until <= 3)));
      for (const each of sorted) {
        expect(timers.next).toBe(each.until);
        expect(timers.has(each)).toBe(true);
        timers.delete(each);
        expect(timers.has(each)).toBe(false);
      }
      expect(timers.next).toBeUndefined();
    }
  });

  it("may be taken back in any order, and twice", () => {
    const timers = new Timers();
    const all = [9, 1, 8, 2, 7, 3, 6, 4, 5, 0, 11, 10].map(timer);
    for (const each of all) timers.add(each);
    const left = new Set(all);
    for (const at of [3, 0, 7, 11, 5, 1, 9, 2, 10, 4, 8, 6]) {
      const each = all[at] ?? timer(0);
      timers.delete(each);
      timers.delete(each);
      left.delete(each);
      const sorted = [...left].sort((one, other) => one.until - other.until);
      expect(timers.due(99)).toEqual(sorted);
      expect(timers.next).toBe(sorted[0]?.until);
    }
  });
});

test("a queue gives first what came first, also when it is long", () => {
  const queue = new Queue<number>();
  for (let n = 0; n < 3_000; n++) queue.push(n);
  for (let n = 0; n < 2_000; n++) expect(queue.shift()).toBe(n);
  queue.push(3_000);
  expect(queue.size).toBe(1_001);
  for (let n = 2_000; n <= 3_000; n++) expect(queue.shift()).toBe(n);
  expect([queue.shift(), queue.size]).toEqual([undefined, 0]);
});

describe("a wait", () => {
  const x: StepDocument = { id: "x", tool: "t", retries: 2 };
  const p: StepDocument = { id: "p", retries: 1, parallel: [{ id: "x", tool: "t" }] };
  const loop: StepDocument = { id: "r", repeat: { workflow: "sub", state: 0, max_iterations: 2, delay_ms: 9 } };
  const turned: Told[] = [
    opened("r", 2),
    entered("r[0]/"),
    completed("r[0]/s", { done: false, state: 1 }),
    completed("r[0]/"),
    { kind: "turned", path: "r", index: 1 },
  ];
  const late = { kind: "reported", path: "x", attempt: 2, outcome: { result: 1 } } as const;
  const doubtful = [intended("x", { idempotent: true }), retried("x", { outcome: "in_doubt" })];

  it.each<[name: string, step: StepDocument, journal: Told[], timers: string[]]>([
    [
      "of a call is ended by its next attempt, whoever saw it end",
      x,
      [retried("x"), intended("x", { attempt: 2 })],
      [],
    ],
    ["of a container is set", p, [opened("p", 1), failed("p/x"), retried("p")], ["backoff p 1000"]],
    [
      "of a container is ended by its next attempt",
      p,
      [opened("p", 1), failed("p/x"), retried("p"), opened("p", 1, { attempt: 2 })],
      [],
    ],
    ["of a turn is set", loop, turned, ["turn r[1]/ 9"]],
    ["of a turn is ended as the turn begins", loop, [...turned, entered("r[1]/")], []],
    ["is not ended by what a former driver reports", x, [...doubtful, late], ["backoff x 1000"]],
    ["is ended by the end of time", { ...x, timeout_ms: 50 }, [retried("x"), timedOut("x")], []],
  ])("%s", (_name, step, journal, timers) => {
    const workflows = [defineWorkflow({ name: "sub", steps: [{ id: "s", tool: "t" }] })];
    expect(deadlines(fold([step], journal, { workflows }))).toEqual(timers);
  });
});

test("a run whose time is over aborts the writes that it awaits", () => {
  const two: StepDocument = {
    id: "p",
    parallel: [
      { id: "x", tool: "t" },
      { id: "y", tool: "t" },
    ],
  };
  const state = fold({ name: "w", timeout_ms: 9, steps: [two] }, [opened("p", 2), intended("p/x"), timedOut("")]);
  expect(state.root.failing?.error).toStrictEqual({
    code: "TIMED_OUT",
    message: "Workflow w did not end within the 9 ms that its timeout_ms allows.",
  });
  expect(state.nodes.get("p/x")).toMatchObject({ call: { aborted: true } });
  // The write in flight, and the read that was dropped.
  expect(state.stops).toBe(2);
});

test("a write in flight is aborted as its step's time is over", () => {
  const state = fold([a], [{ kind: "begun", path: "a" }, intended("a"), timedOut("a")]);
  expect(state.nodes.get("a")).toMatchObject({ call: { phase: "intended", aborted: true, timedOut: true } });
});

test("a write that is made again on a person's word has not timed out", () => {
  const journal = [
    { kind: "begun", path: "a" } as const,
    intended("a"),
    timedOut("a"),
    doubted("a"),
    doubtAsked("a"),
    answered("a", { decision: "retry" }),
  ];
  const timedStep = fold([a], journal);
  expect([timedStep.nodes.get("a"), timedStep.stops]).toMatchObject([{ timedOut: true, call: { timedOut: true } }, 1]);
  const again = fold([a], [...journal, intended("a", { attempt: 2 })]);
  expect(again.nodes.get("a")).toMatchObject({ timedOut: false, call: { timedOut: false } });
});
