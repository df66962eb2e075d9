import { describe, expect, it, test } from "vitest";
import type { StepDocument } from "../../src/core/document.js";
import type { Fact, Reported } from "../../src/core/record.js";
import {
  answered,
  approvalAsked,
  completed,
  decide,
  decided,
  doubtAsked,
  doubted,
  errorOf,
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
  told,
  turnCall,
  wrote,
} from "./journal.js";

/** What a call does next, by how it stands: what was answered, what is in doubt, what others report, what time says. */

const a: StepDocument = { id: "a", tool: "t", inputs: { x: 1 } };
const undoable: StepDocument = { ...a, compensate: { tool: "u", inputs: { back: "{{steps.a.result}}" } } };
const b: StepDocument = { id: "b", tool: "b" };
const timed: StepDocument = { ...a, timeout_ms: 50 };
const begun: Fact = { kind: "begun", path: "a" };
const ends = (outcome: string, code: string) => [`failed a ${outcome} ${code}`, "run_ended failed"];

function reported(path: string, outcome: Reported["outcome"], attempt = 1): Reported {
  return { kind: "reported", path, attempt, outcome };
}

type Row = [name: string, steps: Steps, journal: readonly Told[], decisions: string[], run?: Run];

function holds(rows: Row[]): void {
  it.each(rows)("%s", (_name, steps, journal, decisions, run) => {
    expect(decided(steps, journal, run)).toEqual(decisions);
  });
}

describe("a write that is asked about", () => {
  holds([
    ["waits for its answer", [a], [approvalAsked("a")], []],
    [
      "is made as it was shown",
      [a],
      [approvalAsked("a"), answered("a", { decision: "approve" })],
      ['call_tool t #1 {"x":1}'],
    ],
    [
      "is made with the edits",
      [a],
      [approvalAsked("a"), answered("a", { decision: "approve", fields: { y: 2 } })],
      ['call_tool t #1 {"x":1,"y":2}'],
    ],
    [
      "is rejected",
      [a],
      [approvalAsked("a"), answered("a", { decision: "reject", by: "ada" })],
      ends("refused", "REJECTED"),
    ],
    ["expires", [a], [approvalAsked("a", {}, 10), expired("a")], ends("refused", "QUESTION_EXPIRED")],
    [
      "is asked about again",
      [a],
      [
        approvalAsked("a"),
        answered("a", { decision: "approve" }),
        approvalAsked("a", { id: "a?2", supersedes: "a?1" }),
      ],
      [],
    ],
    [
      "is not made when its time is up",
      [timed],
      [begun, approvalAsked("a"), answered("a", { decision: "approve" }), timedOut("a")],
      ends("not_applied", "TIMED_OUT"),
    ],
    ["takes no answer of another kind", [a], [approvalAsked("a"), answered("a", { value: 1 })], []],
    ["takes no answer about doubt", [a], [approvalAsked("a"), answered("a", { decision: "done" })], []],
    [
      "takes its first answer alone",
      [a],
      [approvalAsked("a"), answered("a", { decision: "approve" }), answered("a", { decision: "reject" })],
      ['call_tool t #1 {"x":1}'],
    ],
  ]);

  test.each([
    [{ decision: "reject", by: "ada", note: "too dear" } as const, "ada rejected the call of t: too dear"],
    [{ decision: "reject" } as const, "A person rejected the call of t."],
    [{ decision: "reject", by: "policy" } as const, "The policy rejected the call of t."],
  ])("says who rejected it: %j", (answer, message) => {
    const [fact] = decide(fold([a], [approvalAsked("a", { masked: ["/x"] }), answered("a", answer)]));
    expect(fact).toMatchObject({ error: { message }, rejected: { inputs: { x: 1 }, masked: ["/x"] } });
  });
});

describe("an ask", () => {
  const ask: StepDocument = { id: "a", ask: { prompt: "How many, {{input.name}}?", expires_after_ms: 10, default: 3 } };
  const plain: StepDocument = { id: "a", ask: { prompt: "?", schema: { type: "number" } } };
  holds([
    [
      "gives what was answered",
      [plain],
      [inputAsked("a"), answered("a", { value: 7 })],
      ["completed a 7", "run_ended completed"],
    ],
    ["takes no decision for a value", [plain], [inputAsked("a"), answered("a", { decision: "fail" })], []],
    ["takes no approval for a value", [plain], [inputAsked("a"), answered("a", { decision: "approve" })], []],
    [
      "gives its default when it expires",
      [ask],
      [inputAsked("a", {}, 10), expired("a")],
      ["completed a 3", "run_ended completed"],
      { input: { name: "Ada" } },
    ],
    ["fails without one", [plain], [inputAsked("a", {}, 10), expired("a")], ends("refused", "QUESTION_EXPIRED")],
  ]);

  test("bears its prompt, its schema, its default and its time", () => {
    expect(decide(fold([ask], [], { input: { name: "Ada" } }))).toMatchObject([
      { fact: { question: { prompt: "How many, Ada?", default: 3 }, expiresAfterMs: 10 } },
    ]);
    expect(decide(fold([plain]))).toMatchObject([{ fact: { question: { prompt: "?", schema: { type: "number" } } } }]);
  });
});

describe("a sleep", () => {
  const sleep: StepDocument = { id: "a", sleep_ms: 5 };
  holds([["goes on sleeping", [sleep], [{ kind: "sleep_started", path: "a", ms: 5 }], []]]);
});

describe("a write in doubt", () => {
  const asked = [intended("a"), doubted("a"), doubtAsked("a")];
  const kept: StepDocument = {
    ...a,
    compensate: { tool: "u", inputs: { n: "{{steps.a.inputs.x}}" }, if_in_doubt: true },
  };
  holds([
    ["is asked about", [a], [intended("a"), doubted("a")], ["commit question_asked in_doubt a?1"]],
    ["is asked about after a restart", [a], [intended("a"), taken], ["commit question_asked in_doubt a?1"]],
    [
      "is made again after a restart by an idempotent tool",
      [a],
      [intended("a", { idempotent: true }), taken],
      ['call_tool t #2 {"x":1}'],
    ],
    [
      "is given up where nobody is to be asked",
      [a],
      [intended("a"), doubted("a")],
      ends("in_doubt", "TOOL_IN_DOUBT"),
      { settings: { inDoubt: "fail" } },
    ],
    [
      "was made",
      [a],
      [...asked, answered("a", { decision: "done", result: 4 })],
      ["completed a 4", "run_ended completed"],
    ],
    [
      "was made, and gave nothing",
      [a],
      [...asked, answered("a", { decision: "done" })],
      ["completed a null", "run_ended completed"],
    ],
    ["was not made", [a], [...asked, answered("a", { decision: "not_applied" })], ends("not_applied", "TOOL_FAILED")],
    ["is made again", [a], [...asked, answered("a", { decision: "retry" })], ['call_tool t #2 {"x":1}']],
    ["is given up", [a], [...asked, answered("a", { decision: "fail" })], ends("in_doubt", "TOOL_IN_DOUBT")],
    ["takes no other answer", [a], [...asked, answered("a", { decision: "approve" })], []],
    [
      "is undone by a compensation that wants it",
      [kept],
      [...asked, answered("a", { decision: "fail" })],
      ["failed a in_doubt TOOL_IN_DOUBT", 'call_tool u #1 {"n":1}'],
    ],
    ["that was never intended is not to be asked about", [a], [doubted("a")], []],
    [
      "stays so when its next attempt is rejected",
      [a],
      [
        ...asked,
        answered("a", { decision: "retry" }),
        approvalAsked("a", { id: "a?2" }),
        answered("a", { decision: "reject" }, 2),
      ],
      ends("in_doubt", "REJECTED"),
    ],
  ]);

  test("bears its fields, what undoes it, and what is masked", () => {
    const intent = intended("a", { masked: ["/x"], site: "s", page: "p", labels: { x: "X" } });
    const [commit] = decide(fold([undoable], [intent, doubted("a")]));
    expect(commit).toMatchObject({
      fact: {
        question: { fields: { x: 1 }, masked: ["/x"], site: "s", labels: { x: "X" }, undo: { tool: "u" }, attempt: 1 },
      },
    });
  });
});

describe("a report of a driver that left", () => {
  holds([
    [
      "settles a doubt",
      [a],
      [intended("a"), taken, reported("a", { result: 5 })],
      ["completed a 5", "run_ended completed"],
    ],
    ["is awaited while the call is in flight", [a], [intended("a"), reported("a", { result: 5 })], []],
    [
      "says that nothing was done",
      [a],
      [intended("a"), taken, reported("a", { error: errorOf(), outcome: "not_applied" })],
      ends("not_applied", "TOOL_FAILED"),
    ],
    [
      "says that a result can't be kept",
      [a],
      [intended("a"), taken, reported("a", { error: errorOf("RESULT_TOO_LARGE"), outcome: "applied" })],
      ends("applied", "RESULT_TOO_LARGE"),
    ],
    [
      "that knows no more changes nothing",
      [a],
      [intended("a"), taken, reported("a", { error: errorOf(), outcome: "in_doubt" })],
      ["commit question_asked in_doubt a?1"],
    ],
    [
      "of another attempt changes nothing",
      [a],
      [intended("a"), taken, reported("a", { result: 5 }, 2)],
      ["commit question_asked in_doubt a?1"],
    ],
    ["of a call that nobody doubts changes nothing", [a], [reported("a", { result: 5 })], ['call_tool t #1 {"x":1}']],
    [
      "of a later attempt settles not the first",
      [a],
      [
        intended("a", { idempotent: true }),
        taken,
        intended("a", { attempt: 2, idempotent: true }),
        taken,
        reported("a", { error: errorOf(), outcome: "not_applied" }, 2),
      ],
      ["doubted a TOOL_IN_DOUBT", 'call_tool t #3 {"x":1}'],
    ],
    [
      "is heard after a question about the doubt",
      [a],
      [intended("a"), taken, doubtAsked("a"), reported("a", { result: 5 })],
      ["completed a 5", "run_ended completed"],
    ],
  ]);
});

describe("time that is used up", () => {
  holds([
    ["fails what was not called", [timed], [begun, timedOut("a")], ends("not_applied", "TIMED_OUT")],
    [
      "fails what waits for its next attempt",
      [{ ...timed, retries: 1 }],
      [begun, retried("a"), timedOut("a")],
      ends("not_applied", "TIMED_OUT"),
    ],
    ["leaves a write in flight to settle", [timed], [begun, intended("a"), timedOut("a")], []],
    ["fails what a question held up", [timed], [begun, approvalAsked("a"), timedOut("a")], []],
  ]);

  test("is named in milliseconds", () => {
    const [fact] = decide(fold([timed], [begun, timedOut("a")]));
    expect(fact).toMatchObject({
      error: { message: "The step did not end within the 50 ms that its timeout_ms allows." },
    });
  });
});

describe("a call that is none of a step's own", () => {
  const serve: StepDocument = { id: "a", tool_dispatch: { source_key: "turn", tools: { t: { tool: "t" } } } };
  const calls = [turnCall(0, "t")];
  holds([
    [
      "is a dispatch's, and asked about",
      [serve],
      [opened("a", 1, { calls }), approvalAsked("a[0]"), answered("a[0]", { decision: "approve" })],
      ['call_tool t #1 {"x":1}'],
    ],
    [
      "fails its dispatch when it is rejected",
      [serve],
      [opened("a", 1, { calls }), approvalAsked("a[0]"), answered("a[0]", { decision: "reject" })],
      ["failed a[0] refused REJECTED", "failed a not_applied DISPATCH_FAILED", "run_ended failed"],
    ],
    ["is an undo, with what was kept for it", [undoable, b], [...wrote("a"), failed("b")], ['call_tool u #1 {"y":1}']],
    [
      "is an undo that was made, whatever it gave",
      [undoable, b],
      [
        ...wrote("a"),
        failed("b"),
        intended("a~undo"),
        taken,
        reported("a~undo", { error: errorOf("RESULT_NOT_JSON"), outcome: "applied" }),
      ],
      ["completed a~undo null", "run_ended failed"],
    ],
    [
      "is an undo that nobody knows of",
      [undoable, b],
      [...wrote("a"), failed("b"), intended("a~undo"), doubted("a~undo")],
      ["commit question_asked in_doubt a~undo?1"],
    ],
  ]);
});

test("a call that stands in line is decided once, when its turn comes", () => {
  const state = fold([timed], [begun]);
  tell(state, { kind: "withheld", path: "a" });
  expect(told(decide(state))).toEqual(['call_tool t #1 {"x":1}']);
});

test("what a read was sent is kept where a template reads it", () => {
  const reads: StepDocument[] = [a, { id: "b", tool: "t", inputs: { was: "{{steps.a.inputs.x}}" } }];
  expect(decided(reads, [completed("a", 1, { inputs: { x: 9 } })])).toEqual(['call_tool t #1 {"was":9}']);
  expect(decided(reads, [intended("a", { inputs: { x: 8 } }), completed("a", 1)])).toEqual([
    'call_tool t #1 {"was":8}',
  ]);
});
