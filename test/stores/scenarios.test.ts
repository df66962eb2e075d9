import { expect, test, vi } from "vitest";
import type { Workflow } from "../../src/core/document.js";
import type { Question } from "../../src/core/question.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import type { ResumeOptions, RunOptions } from "../../src/driver/options.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { deferred, drain, flow, read, type Seen, write } from "../driver/harness.js";
import { booking, calledFor, newRunId, openQuestions, order, realOptions, refuse } from "./booking.js";
import { describeOnEachStore } from "./each-store.js";
import { appendOf, type Mortal, mortal } from "./mortal.js";

/** Drives a run until its process dies. */
async function untilDeath(workflow: Workflow, { store, death }: Mortal, given: Partial<RunOptions>): Promise<void> {
  const seen = drain(runWorkflow(workflow, realOptions({ ...given, store })));
  await Promise.race([death, seen]);
}

function carryOn(store: RunStore, runId: string, given: Partial<ResumeOptions>): Promise<Seen> {
  return drain(resumeRun(store, runId, realOptions({ ...given, takeOver: true })));
}

describeOnEachStore("a run whose process dies", (handles) => {
  /** Dies while the order is undone, and is carried on by other tools of the same names. */
  async function dieUndoing(
    died: { kind: "completed" | "write_intended"; path: string },
    given: Partial<ResumeOptions>,
  ) {
    const { store, other } = handles();
    const runId = newRunId();
    const [former, latter] = [write("release"), write("release")];
    const life = mortal(store, appendOf(died.kind, died.path), "before");
    await untilDeath(order, life, { runId, tools: [write("book"), refuse(), former] });
    const book = write("book");
    const seen = await carryOn(other, runId, { tools: [book, refuse(), latter], ...given });
    expect(book.calls).toEqual([]);
    const states = seen.result.writes.map(({ path, state }) => `${path} ${state}`);
    return { former: calledFor(former), latter: calledFor(latter), states, ...seen };
  }

  test("in the midst of undoing goes on where it stood", async () => {
    const { former, latter, states, result } = await dieUndoing({ kind: "write_intended", path: "a~undo" }, {});
    expect([former, latter]).toEqual([["c", "b"], ["a"]]);
    expect(states).toEqual(["a undone", "b undone", "c undone", "d failed"]);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "d" } });
  });

  test("after an undo was sent and before it was recorded reports it in doubt, and undoes the others", async () => {
    const given = { inDoubt: "fail" } as const;
    const { former, latter, states, result } = await dieUndoing({ kind: "completed", path: "b~undo" }, given);
    expect([former, latter]).toEqual([["c", "b"], ["a"]]);
    expect(states).toEqual(["a undone", "b undo_in_doubt", "c undone", "d failed"]);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "d" } });
  });

  test("after an undo was sent asks about it, and believes what it is told", async () => {
    const onQuestion = ({ kind, path }: Question) =>
      kind === "in_doubt" && path === "b~undo" ? ({ decision: "done" } as const) : undefined;
    const { latter, states } = await dieUndoing({ kind: "completed", path: "b~undo" }, { onQuestion });
    expect(latter).toEqual(["a"]);
    expect(states).toEqual(["a undone", "b undone", "c undone", "d failed"]);
  });

  test.each([
    ["an idempotent write", write, { idempotent: true }, ["pay 1", "pay 2"]],
    ["a read", read, {}, ["pay 1", "pay 1"]],
  ] as const)("during %s has it called again, with the same key", async (_, tool, more, attempts) => {
    const { store, other } = handles();
    const runId = newRunId();
    const pay = tool("pay", undefined, more);
    const life = mortal(store, appendOf("completed", "pay"), "before");
    await untilDeath(flow([{ id: "pay", tool: "pay", inputs: {} }]), life, { runId, tools: pay });
    const { labels, result } = await carryOn(other, runId, { tools: pay });
    expect(result.status).toBe("completed");
    expect(labels.filter((label) => label.includes("?"))).toEqual([]);
    expect(pay.calls.map(({ path, attempt }) => `${path} ${attempt}`)).toEqual(attempts);
    expect(new Set(pay.calls.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([`${runId}:pay`]));
  });

  test("during another write asks what became of it, and does not make it again", async () => {
    const { store, other } = handles();
    const runId = newRunId();
    const book = write("book");
    const life = mortal(store, appendOf("completed", "a"), "before");
    await untilDeath(flow([booking("a")]), life, { runId, tools: [book, write("release")] });
    const { labels, result } = await carryOn(other, runId, { tools: [book, write("release")] });
    expect(labels).toEqual(["a?1 in_doubt", "result waiting"]);
    expect(result.writes).toMatchObject([{ path: "a", state: "in_doubt" }]);
    expect(book.calls).toHaveLength(1);
  });
});

describeOnEachStore("a run that is being driven", (handles) => {
  test("goes on with an answer from another process, while something else holds it", async () => {
    const { store, other } = handles();
    const runId = newRunId();
    const held = deferred<string>();
    const both = flow([
      {
        id: "both",
        parallel: [
          { id: "wait", tool: "look", inputs: {} },
          { id: "pay", tool: "pay", inputs: {} },
        ],
      },
    ]);
    const pay = write("pay", [() => held.resolve("paid")]);
    const tools = [read("look", [() => held.promise]), pay];
    const seen = drain(runWorkflow(both, realOptions({ runId, store, tools, policy: () => "ask" })));
    await vi.waitUntil(async () => (await openQuestions(other, runId)).length === 1, { timeout: 10_000 });
    await answerQuestion(other, runId, "both/pay?1", { decision: "approve", by: "bea" });
    expect((await seen).result).toMatchObject({
      status: "completed",
      writes: [{ path: "both/pay", decidedBy: "bea" }],
    });
    expect(pay.calls).toHaveLength(1);
  }, 30_000);

  test("is cancelled from another process during a write, which is awaited and undone with the rest", async () => {
    const { store, other } = handles();
    const runId = newRunId();
    const called = deferred();
    const book = write("book", [
      1,
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("booked all the same"));
          called.resolve(undefined);
        }),
    ]);
    const release = write("release");
    const seen = drain(
      runWorkflow(
        flow([booking("a"), booking("b"), booking("c")]),
        realOptions({ runId, store, tools: [book, release] }),
      ),
    );
    await called.promise;
    await cancelRun(other, runId);
    expect((await seen).result).toMatchObject({ status: "cancelled" });
    expect([calledFor(book), calledFor(release)]).toEqual([
      ["a", "b"],
      ["b", "a"],
    ]);
  }, 30_000);

  test("is not changed by a cancel once it undoes", async () => {
    const { store, other } = handles();
    const runId = newRunId();
    const release = write("release", [(_, context) => cancelRun(other, context.runId), 1]);
    const tools = [write("book"), refuse(), release];
    const { result } = await drain(runWorkflow(order, realOptions({ runId, store, tools })));
    expect(calledFor(release)).toEqual(["c", "b", "a"]);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "d" } });
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "undone", "undone", "failed"]);
  });
});
