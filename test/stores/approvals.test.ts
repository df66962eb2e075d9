import { expect, test } from "vitest";
import type { Workflow } from "../../src/core/document.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import type { ResumeOptions, RunOptions } from "../../src/driver/options.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { ScriptedTool } from "../../src/testing/scripted-tool.js";
import { drain, flow, rejection, type Seen, write } from "../driver/harness.js";
import { booking, calledFor, newRunId, openQuestions, realOptions } from "./booking.js";
import { describeOnEachStore } from "./each-store.js";
import { appendOf, mortal } from "./mortal.js";

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
    const { result } = await drain(runWorkflow(more.workflow ?? trip, realOptions(given)));
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
