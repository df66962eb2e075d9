import { expect, test, vi } from "vitest";
import type { Workflow } from "../../src/core/document.js";
import type { Question } from "../../src/core/record.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import { systemClock } from "../../src/driver/clock.js";
import { listQuestions } from "../../src/driver/list-questions.js";
import type { ResumeOptions, RunOptions } from "../../src/driver/options.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { ScriptedTool } from "../../src/testing/scripted-tool.js";
import { deferred, drain, flow, options, read, rejection, type Seen, write } from "../driver/harness.js";
import { describeOnEachStore } from "./each-store.js";
import { appendOf, type Mortal, mortal } from "./mortal.js";

/** In real time: that of a fake clock runs away while a database is waited for. */
function realOptions<More extends object>(given: Partial<RunOptions> & More) {
  return options({ ...given, clock: systemClock });
}

let runs = 0;

/** The run's id, another for every test: all of them share a database. */
function newRunId(): string {
  runs += 1;
  return `scenario-${runs}`;
}

const booking = (id: string) => ({
  id,
  tool: "book",
  inputs: { for: id },
  compensate: { tool: "release", inputs: { of: id } },
});

const order = flow([booking("a"), booking("b"), booking("c"), { id: "d", tool: "refuse", inputs: {} }]);
const refuse = () => write("refuse", [new Error("Nobody wants it.")]);

/** Which steps a tool was called for. */
function calledFor(tool: ScriptedTool): string[] {
  return tool.calls.map(({ path }) => path.replace("~undo", ""));
}

/** Drives a run until its process dies. */
async function untilDeath(workflow: Workflow, { store, death }: Mortal, given: Partial<RunOptions>): Promise<void> {
  const seen = drain(runWorkflow(workflow, realOptions({ ...given, store })));
  await Promise.race([death, seen]);
}

function carryOn(store: RunStore, runId: string, given: Partial<ResumeOptions>): Promise<Seen> {
  return drain(resumeRun(store, runId, realOptions({ ...given, takeOver: true })));
}

async function openQuestions(store: RunStore, runId: string): Promise<Question[]> {
  const questions: Question[] = [];
  for await (const question of listQuestions(store, { runId })) questions.push(question);
  return questions;
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

describeOnEachStore("a run that waits for an approval", (handles) => {
  const pay = { id: "pay", tool: "pay", inputs: { to: "ada", amount: 12 } };
  const trip = flow([booking("a"), { ...booking("b"), when: "{{input.both}}" }, pay], { name: "approved_trip" });
  const asksAboutPay: RunOptions["policy"] = ({ tool }) => (tool === "pay" ? "ask" : "approve");

  interface Waiting {
    readonly runId: string;
    /** As another process has it. */
    readonly other: RunStore;
    readonly book: ScriptedTool;
    readonly release: ScriptedTool;
    readonly pay: ScriptedTool;
  }

  /** The tools, and a run that waits for its last step. */
  async function waiting(more: { workflow?: Workflow; pay?: ScriptedTool } = {}): Promise<Waiting> {
    const { store, other } = handles();
    const runId = newRunId();
    const tools = { book: write("book"), release: write("release"), pay: more.pay ?? write("pay") };
    const given = { runId, store, tools: Object.values(tools), policy: asksAboutPay, input: { both: true } };
    const { result } = await drain(runWorkflow(more.workflow ?? trip, options(given)));
    expect(result).toMatchObject({ status: "waiting", questions: [{ id: "pay?1", kind: "approval" }] });
    return { runId, other, ...tools };
  }

  function goOn({ other, runId, book, release, pay }: Waiting, given: Partial<ResumeOptions> = {}): Promise<Seen> {
    return drain(resumeRun(other, runId, realOptions({ tools: [book, release, pay], policy: asksAboutPay, ...given })));
  }

  const approve = ({ other, runId }: Waiting, by = "ada", id = "pay?1") =>
    answerQuestion(other, runId, id, { decision: "approve", by });

  test("asks the same question after a restart; answered, it does not repeat what is done", async () => {
    const run = await waiting();
    const [question] = await openQuestions(run.other, run.runId);
    expect(question).toMatchObject({ id: "pay?1", kind: "approval", fields: { to: "ada", amount: 12 } });
    expect((await goOn(run)).labels).toEqual(["pay?1 approval", "result waiting"]);
    expect(await openQuestions(run.other, run.runId)).toEqual([question]);
    await approve(run);
    expect(await openQuestions(run.other, run.runId)).toEqual([]);
    expect((await goOn(run)).result).toMatchObject({ status: "completed" });
    expect([calledFor(run.book), calledFor(run.pay)]).toEqual([["a", "b"], ["pay"]]);
  });

  test("takes the first of two answers that are given at once, and makes the write once", async () => {
    const run = await waiting();
    const { store } = handles();
    const answers = await Promise.allSettled([
      answerQuestion(store, run.runId, "pay?1", { decision: "approve", by: "ada" }),
      answerQuestion(run.other, run.runId, "pay?1", { decision: "approve", by: "bea" }),
    ]);
    const refused = answers.filter((answer) => answer.status === "rejected").map(({ reason }) => reason);
    expect(refused).toMatchObject([{ code: "ALREADY_ANSWERED" }]);
    const first = answers[0]?.status === "fulfilled" ? "ada" : "bea";
    expect(refused[0].details.answer).toMatchObject({ by: first });
    expect((await goOn(run)).result.writes.at(-1)).toMatchObject({ path: "pay", decidedBy: first });
    expect(run.pay.calls).toHaveLength(1);
  });

  test("goes on as it began when its workflow is edited meanwhile; new runs use the new one", async () => {
    const run = await waiting();
    const edited = flow([booking("a"), booking("extra"), { ...pay, inputs: { to: "bea" } }], { name: "approved_trip" });
    await approve(run);
    const { result } = await goOn(run, { workflows: edited });
    expect(result.status).toBe("completed");
    expect(calledFor(run.book)).toEqual(["a", "b"]);
    expect(run.pay.calls).toMatchObject([{ inputs: { to: "ada", amount: 12 } }]);
    const anew = await waiting({ workflow: edited });
    expect(calledFor(anew.book)).toEqual(["a", "extra"]);
  });

  test("fails and undoes where its tool is no longer published when it is approved", async () => {
    const run = await waiting();
    await approve(run);
    const { result } = await goOn(run, { tools: [run.book, run.release] });
    expect(result).toMatchObject({ status: "failed", error: { code: "UNKNOWN_TOOL", stepId: "pay" } });
    expect(run.pay.calls).toEqual([]);
    expect(calledFor(run.release)).toEqual(["b", "a"]);
  });

  test("does not mind that its tool was away while it waited, or that its words have changed", async () => {
    const amount = (description: string) => ({ properties: { amount: { type: "number", description } } });
    const run = await waiting({ pay: write("pay", undefined, { title: "Pay", inputSchema: amount("In euros") }) });
    const again = write("pay", undefined, { title: "Make a payment", inputSchema: amount("The sum, in euros") });
    expect((await goOn(run, { tools: [run.book, run.release] })).labels).toEqual(["pay?1 approval", "result waiting"]);
    await approve(run);
    expect((await goOn({ ...run, pay: again })).result.status).toBe("completed");
    expect(again.calls).toHaveLength(1);
  });

  test("asks anew where its tool was published with another schema, and the old answer counts for nothing", async () => {
    const schema = (kind: string) => ({ properties: { amount: { type: kind } } });
    const run = await waiting({ pay: write("pay", undefined, { inputSchema: schema("number") }) });
    const changed = { ...run, pay: write("pay", undefined, { inputSchema: schema("integer") }) };
    await approve(run);
    const { labels, result } = await goOn(changed);
    expect(labels).toEqual(["pay?2 approval", "result waiting"]);
    expect(result.questions).toMatchObject([{ id: "pay?2", supersedes: "pay?1" }]);
    expect(changed.pay.calls).toEqual([]);
    await approve(changed, "bea", "pay?2");
    expect((await goOn(changed)).result.writes.at(-1)).toMatchObject({ state: "done", decidedBy: "bea" });
    expect(changed.pay.calls).toHaveLength(1);
  });

  test("lets one approval serve one write", async () => {
    const twice = flow([pay, { ...pay, id: "more" }], { name: "twice" });
    const run = await waiting({ workflow: twice });
    await approve(run);
    expect((await goOn(run)).labels).toContain("more?1 approval");
    expect(calledFor(run.pay)).toEqual(["pay"]);
  });

  test.each([
    ["before", ["pay"], "completed"],
    ["after", [], "waiting"],
  ] as const)("does not spend an approval twice when it dies %s the intent", async (when, calls, status) => {
    const run = await waiting();
    await approve(run);
    const life = mortal(run.other, appendOf("write_intended", "pay"), when);
    const dying = drain(
      resumeRun(life.store, run.runId, realOptions({ tools: [run.book, run.release, run.pay], policy: asksAboutPay })),
    );
    await Promise.race([life.death, dying]);
    const { result } = await goOn(run, { takeOver: true });
    expect(calledFor(run.pay)).toEqual(calls);
    expect(result.status).toBe(status);
    // A write of which nobody knows is asked about; the approval of it is not taken for another.
    if (status === "waiting") expect(result.questions).toMatchObject([{ kind: "in_doubt", path: "pay" }]);
  });

  test("that is rejected undoes what is done, and makes no write", async () => {
    const run = await waiting();
    await answerQuestion(run.other, run.runId, "pay?1", { decision: "reject", by: "bea", note: "wrong amount" });
    const { result } = await goOn(run);
    expect(result).toMatchObject({ status: "failed", error: { code: "REJECTED" } });
    expect(result.writes.at(-1)).toMatchObject({ path: "pay", state: "rejected", decidedBy: "bea" });
    expect([calledFor(run.release), run.pay.calls]).toEqual([["b", "a"], []]);
  });

  test("that is cancelled from another process undoes what is done, and takes no answer any more", async () => {
    const run = await waiting();
    await cancelRun(run.other, run.runId);
    const { result } = await goOn(run);
    expect(result.status).toBe("cancelled");
    expect(calledFor(run.release)).toEqual(["b", "a"]);
    expect(await rejection(approve(run))).toMatchObject({ code: "QUESTION_CLOSED" });
    expect(run.pay.calls).toEqual([]);
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
