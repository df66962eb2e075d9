import { describe, expect, it, test } from "vitest";
import type { StepDocument } from "../../src/core/document.js";
import type { ErrorCode } from "../../src/core/errors.js";
import { undoOf } from "../../src/core/make-question.js";
import { type Call, callOf } from "../../src/core/node.js";
import { type CallOutcome, settleCall } from "../../src/core/settle.js";
import {
  answered,
  doubtAsked,
  doubted,
  errorOf,
  failed,
  fold,
  intended,
  opened,
  retried,
  type Steps,
  type Told,
  taken,
  timedOut,
  told,
  turnCall,
  wrote,
} from "./journal.js";

/** What a call came to in the world, and the fact that it is: done, tried again, doubted or failed. */

const a: StepDocument = { id: "a", tool: "t", compensate: { tool: "u", inputs: { n: "{{steps.a.result.n}}" } } };
const b: StepDocument = { id: "b", tool: "t" };
const retries: StepDocument = { ...b, retries: 2 };
const undoing = [...wrote("a"), failed("b")];
const begun = { kind: "begun", path: "b" } as const;

function callAt(steps: Steps, journal: readonly Told[], path: string): Call {
  const node = fold(steps, journal).nodes.get(path);
  const call = node && callOf(node);
  if (call === undefined) throw new Error(`There is no call at ${path}.`);
  return call;
}

function failure(
  code: ErrorCode = "TOOL_FAILED",
  outcome: "not_applied" | "refused" | "in_doubt" = "not_applied",
  more = {},
): CallOutcome {
  return { kind: "failed", outcome, error: errorOf(code), ...more };
}

const doubt = failure("TOOL_IN_DOUBT", "in_doubt");

describe("a call that failed", () => {
  it.each<[name: string, steps: Steps, journal: Told[], path: string, outcome: CallOutcome, fact: string]>([
    ["is tried again", [retries], [], "b", failure(), "retried b #2 1000 not_applied TOOL_FAILED"],
    [
      "is tried again after twice the time",
      [retries],
      [retried("b")],
      "b",
      failure(),
      "retried b #3 2000 not_applied TOOL_FAILED",
    ],
    [
      "is tried again when the tool says",
      [retries],
      [],
      "b",
      failure("TOOL_FAILED", "not_applied", { retryAfterMs: 9_000 }),
      "retried b #2 9000 not_applied TOOL_FAILED",
    ],
    [
      "is tried so often",
      [retries],
      [retried("b", { attempt: 3 })],
      "b",
      failure(),
      "failed b not_applied TOOL_FAILED",
    ],
    [
      "is not tried again where it is no use",
      [retries],
      [],
      "b",
      failure("INVALID_INPUT"),
      "failed b not_applied INVALID_INPUT",
    ],
    [
      "is not tried again when it was refused",
      [retries],
      [],
      "b",
      failure("TOOL_FAILED", "refused"),
      "failed b refused TOOL_FAILED",
    ],
    [
      "is not tried again out of time",
      [{ ...retries, timeout_ms: 5 }],
      [begun, intended("b"), timedOut("b")],
      "b",
      failure(),
      "failed b not_applied TIMED_OUT",
    ],
    [
      "is not tried again below a scope that fails",
      [{ id: "p", parallel: [retries, { ...b, id: "c" }] }],
      [opened("p", 2), intended("p/b"), failed("p/c")],
      "p/b",
      failure(),
      "failed p/b not_applied TOOL_FAILED",
    ],
    ["in doubt is asked about", [retries], [intended("b")], "b", doubt, "doubted b TOOL_IN_DOUBT"],
    [
      "in doubt is tried again where its tool is idempotent",
      [retries],
      [intended("b", { idempotent: true })],
      "b",
      doubt,
      "retried b #2 1000 in_doubt TOOL_IN_DOUBT",
    ],
    [
      "stays in doubt, whatever a later attempt says",
      [retries],
      [intended("b", { idempotent: true, attempt: 3 }), taken, intended("b", { idempotent: true, attempt: 4 })],
      "b",
      failure(),
      "doubted b TOOL_IN_DOUBT",
    ],
    [
      "is no longer in doubt once that is settled",
      [b],
      [intended("b"), taken],
      "b",
      failure("TOOL_FAILED", "not_applied", { settles: true }),
      "failed b not_applied TOOL_FAILED",
    ],
    [
      "is not in doubt where a person vouched",
      [b],
      [
        intended("b"),
        doubted("b"),
        doubtAsked("b"),
        answered("b", { decision: "retry" }),
        intended("b", { attempt: 2 }),
      ],
      "b",
      failure(),
      "failed b not_applied TOOL_FAILED",
    ],
    [
      "is in a new doubt where a person vouched",
      [b],
      [
        intended("b"),
        doubted("b"),
        doubtAsked("b"),
        answered("b", { decision: "retry" }),
        intended("b", { attempt: 2 }),
      ],
      "b",
      failure("TIMED_OUT", "in_doubt"),
      "doubted b TIMED_OUT",
    ],
    [
      "is an undo, tried three times where it is idempotent",
      [a, b],
      [...undoing, intended("a~undo", { idempotent: true })],
      "a~undo",
      failure(),
      "retried a~undo #2 1000 not_applied TOOL_FAILED",
    ],
    [
      "is an undo, tried once elsewhere",
      [a, b],
      [...undoing, intended("a~undo")],
      "a~undo",
      failure(),
      "failed a~undo not_applied TOOL_FAILED",
    ],
    [
      "is an undo, tried as often as it says",
      [{ ...a, compensate: { tool: "u", retries: 1 } }, b],
      [...undoing, intended("a~undo")],
      "a~undo",
      failure(),
      "retried a~undo #2 1000 not_applied TOOL_FAILED",
    ],
    [
      "is a fallback, tried once",
      [{ ...retries, fallback: { tool: "f" } }],
      [failed("b")],
      "b~fallback",
      failure(),
      "failed b~fallback not_applied TOOL_FAILED",
    ],
    [
      "is a dispatch's, tried once",
      [{ id: "d", retries: 1, tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } } } }],
      [opened("d", 1, { calls: [turnCall(0, "t")] })],
      "d[0]",
      failure(),
      "failed d[0] not_applied TOOL_FAILED",
    ],
  ])("%s", (_name, steps, journal, path, outcome, fact) => {
    expect(told([settleCall(callAt(steps, journal, path), outcome)])).toEqual([fact]);
  });

  test("out of time says what the tool said, once", () => {
    const late = () => callAt([{ ...b, timeout_ms: 5 }], [begun, intended("b"), timedOut("b")], "b");
    const message = "The step did not end within the 5 ms that its timeout_ms allows.";
    expect(settleCall(late(), failure())).toMatchObject({
      error: { code: "TIMED_OUT", message, cause: { message: "no" } },
    });
    expect(settleCall(late(), failure("TIMED_OUT"))).toMatchObject({ error: { message: "no" } });
  });
});

describe("a call that was made", () => {
  const sent = { kind: "returned", result: { n: 1 }, inputs: { x: 1 } } as const;

  it("keeps what undoes it, resolved, or why it did not resolve", () => {
    expect(settleCall(callAt([a], [intended("a")], "a"), sent)).toMatchObject({ undo: { inputs: { n: 1 } } });
    expect(settleCall(callAt([a], [intended("a")], "a"), { ...sent, result: 1 })).toMatchObject({
      undo: { error: { code: "UNRESOLVED_REFERENCE" } },
    });
    const plain: StepDocument = { ...b, fallback: { tool: "f", compensate: { tool: "v", inputs: { k: 1 } } } };
    expect(settleCall(callAt([plain], [failed("b")], "b~fallback"), sent)).toMatchObject({
      undo: { inputs: { k: 1 } },
    });
  });

  it("keeps what a read was sent where a template reads it", () => {
    const reader: StepDocument = { id: "c", tool: "t", inputs: { was: "{{steps.b.inputs}}" } };
    expect(settleCall(callAt([b, reader], [], "b"), sent)).toMatchObject({ inputs: { x: 1 } });
    expect(settleCall(callAt([b], [], "b"), sent)).not.toHaveProperty("inputs");
    expect(settleCall(callAt([b, reader], [], "b"), { kind: "returned", result: 1 })).not.toHaveProperty("inputs");
  });

  it("too late has failed, and is undone", () => {
    const timed = { ...a, timeout_ms: 5 };
    const fact = settleCall(callAt([timed], [{ kind: "begun", path: "a" }, intended("a"), timedOut("a")], "a"), sent);
    const message = "The step's write was made, but after the 5 ms that its timeout_ms allows.";
    expect(fact).toMatchObject({ kind: "failed", outcome: "applied", error: { message }, undo: { inputs: { n: 1 } } });
  });

  it("too late as an undo is done", () => {
    expect(told([settleCall(callAt([a, b], [...undoing, timedOut("a~undo")], "a~undo"), sent)])).toEqual([
      'completed a~undo {"n":1}',
    ]);
  });

  it("with a result that can't be kept has failed, and is undone where it was a write", () => {
    const unkeepable = { kind: "unkeepable", error: errorOf("RESULT_NOT_JSON") } as const;
    expect(told([settleCall(callAt([b], [], "b"), unkeepable)])).toEqual(["failed b not_applied RESULT_NOT_JSON"]);
    expect(told([settleCall(callAt([b], [intended("b")], "b"), unkeepable)])).toEqual([
      "failed b applied RESULT_NOT_JSON",
    ]);
    expect(told([settleCall(callAt([b], [intended("b"), taken], "b"), unkeepable)])).toEqual([
      "failed b applied RESULT_NOT_JSON",
    ]);
    expect(told([settleCall(callAt([a, b], undoing, "a~undo"), unkeepable)])).toEqual(["completed a~undo null"]);
  });
});

test("what undoes a call: its own compensation, else that of a container around it", () => {
  const outer = (inner: StepDocument): StepDocument => ({ id: "p", parallel: [inner], compensate: { tool: "whole" } });
  const serve: StepDocument = {
    id: "d",
    compensate: { tool: "all" },
    tool_dispatch: { source_key: "x", tools: { t: { tool: "t" } } },
  };
  const calls = [turnCall(0, "t")];
  expect(undoOf(callAt([a], [], "a"))).toEqual({ tool: "u" });
  expect(undoOf(callAt([b], [], "b"))).toBeNull();
  expect(undoOf(callAt([outer(b)], [opened("p", 1)], "p/b"))).toEqual({ tool: "whole" });
  expect(undoOf(callAt([serve], [opened("d", 1, { calls })], "d[0]"))).toEqual({ tool: "all" });
  expect(undoOf(callAt([{ ...a, fallback: { tool: "f" } }], [failed("a")], "a~fallback"))).toBeNull();
  expect(undoOf(callAt([a, b], undoing, "a~undo"))).toBeNull();
});
