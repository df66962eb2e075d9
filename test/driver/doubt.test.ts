import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import type { DoubtAnswer } from "../../src/core/question.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  answering,
  deferred,
  drain,
  flow,
  journalOf,
  options,
  read,
  rejection,
  resume,
  run,
  settled,
  untilQuestion,
  write,
} from "./harness.js";

const cut = new ToolError("the line went dead", { outcome: "in_doubt" });
const refused = new ToolError("no", { outcome: "refused" });
const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const compensate = { tool: "undo", inputs: {} };

/** A run whose driver is gone while its write is in flight: the call never answered. */
async function abandoned(tools: ReturnType<typeof write>[], more: object = {}) {
  const store = memoryStore();
  const stream = runWorkflow(flow([step("pay", "pay", more), step("next", "look")]), {
    ...options({ store, tools: [...tools, read("look")], limits: { gracePeriodMs: 0 } }),
  });
  await stream.next();
  await stream.return();
  return { store, tools: [...tools, read("look")] };
}

const neverThen = (...entries: Parameters<typeof write>[1] & object) => [() => new Promise(() => {}), ...entries];

describe("a write in doubt", () => {
  it("is asked about, with all that is known of it", async () => {
    const pay = write("pay", [cut], { site: "bank.test", preview: () => ({ page: "Accounts", action: "Pay it" }) });
    const workflow = flow([{ id: "pay", tool: "pay", inputs: { sum: 3 }, compensate }, step("next", "look")]);
    const given = options({ tools: [pay, write("undo"), read("look")] });
    const stream = runWorkflow(workflow, given);
    const { answer, ...question } = await untilQuestion(stream);
    expect(question).toEqual({
      type: "question",
      kind: "in_doubt",
      id: "pay?1",
      runId: "run-1",
      stepId: "pay",
      path: "pay",
      purpose: "step",
      at: "2030-01-01T00:00:00.000Z",
      askedAt: "2030-01-01T00:00:00.000Z",
      seq: 3,
      tool: "pay",
      site: "bank.test",
      page: "Accounts",
      action: "Pay it",
      fields: { sum: 3 },
      undo: { tool: "undo" },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      attempt: 1,
      error: { code: "TOOL_IN_DOUBT", message: "the line went dead", stepId: "pay", path: "pay" },
    });
    const { result } = await drain(stream);
    expect(result).toMatchObject({ status: "waiting", questions: [{ id: "pay?1" }], writes: [{ state: "in_doubt" }] });
    expect(pay.calls).toHaveLength(1);
  });

  const asked = async (answer: DoubtAnswer, script: Parameters<typeof write>[1] = [cut, { id: 2 }]) => {
    const pay = write("pay", script);
    const undo = write("undo");
    const workflow = flow([
      step("first", "act", { compensate }),
      step("pay", "pay", { retries: 2, compensate: { tool: "undo", inputs: { of: "{{steps.pay.result.id}}" } } }),
      step("fail", "fail"),
    ]);
    const given = { tools: [write("act"), pay, undo, write("fail", [refused])] };
    const seen = await run(workflow, given, answering(answer));
    return { ...seen, pay, undo };
  };

  it("that was done completes its step with the result that is given, and is undone like any other", async () => {
    const { result, labels, pay, undo } = await asked({ decision: "done", result: { id: 9 }, by: "ada" });
    expect(labels).toContain("pay completed");
    expect(pay.calls).toHaveLength(1);
    expect(undo.calls.map(({ inputs }) => inputs)).toEqual([{ of: 9 }, {}]);
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "undone", "failed"]);
  });

  it("may be done with no result", async () => {
    const { result } = await run(
      flow([step("pay", "pay")]),
      { tools: write("pay", [cut]) },
      answering({ decision: "done" }),
    );
    expect(result).toMatchObject({ status: "completed", output: null });
  });

  it("that was not applied is a plain failure: it may be tried again", async () => {
    const { result, labels, pay } = await asked({ decision: "not_applied" });
    expect(labels).toContain("pay retrying");
    expect(pay.calls).toHaveLength(2);
    expect(result.error).toMatchObject({ stepId: "fail" });
    const once = await run(
      flow([step("pay", "pay")]),
      { tools: write("pay", [cut]) },
      answering({ decision: "not_applied" }),
    );
    expect(once.result).toMatchObject({ error: { code: "TOOL_FAILED", stepId: "pay" }, writes: [{ state: "failed" }] });
  });

  it("that was not applied lets a fallback run", async () => {
    const workflow = flow([step("pay", "pay", { fallback: { tool: "other", inputs: {} } })]);
    const { result } = await run(
      workflow,
      { tools: [write("pay", [cut]), write("other", ["b"])] },
      answering({ decision: "not_applied" }),
    );
    expect(result).toMatchObject({ status: "completed", output: "b" });
  });

  it("that is to be tried again is called again with the same key, without another approval", async () => {
    const approvals: string[] = [];
    const pay = write("pay", [cut, { id: 2 }]);
    const { result } = await run(
      flow([step("pay", "pay")]),
      { tools: pay, policy: undefined },
      answering(({ kind, id }) => {
        approvals.push(`${kind} ${id}`);
        return kind === "approval" ? { decision: "approve" } : { decision: "retry" };
      }),
    );
    expect(approvals).toEqual(["approval pay?1", "in_doubt pay?2"]);
    expect(pay.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(pay.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(result).toMatchObject({ status: "completed", writes: [{ state: "done" }] });
  });

  it("of which nobody knows fails its step, and stays in doubt; it is not undone", async () => {
    const { result, labels, undo } = await asked({ decision: "fail" });
    expect(result).toMatchObject({ status: "failed", error: { code: "TOOL_IN_DOUBT", stepId: "pay" } });
    expect(result.writes.map(({ stepId, state }) => [stepId, state])).toEqual([
      ["first", "undone"],
      ["pay", "in_doubt"],
    ]);
    expect(undo.calls.map(({ path }) => path)).toEqual(["first~undo"]);
    expect(labels).not.toContain("fail started");
  });

  it("may come into doubt again, and is asked about again", async () => {
    const ids: string[] = [];
    const { result } = await run(
      flow([step("pay", "pay")]),
      { tools: write("pay", [cut, cut, { id: 3 }]) },
      answering(({ id }) => {
        ids.push(id);
        return { decision: "retry" };
      }),
    );
    expect(ids).toEqual(["pay?1", "pay?2"]);
    expect(result.status).toBe("completed");
  });

  it("takes no answer of another kind", async () => {
    const stream = runWorkflow(flow([step("pay", "pay")]), options({ tools: write("pay", [cut]) }));
    const question = await untilQuestion(stream);
    for (const answer of [
      { decision: "approve" },
      { decision: "reject" },
      { decision: "retry", result: 1 },
      { decision: "done", result: 1n },
      { value: 1 },
      {},
    ]) {
      expect(await rejection(question.answer(answer as never))).toMatchObject({ code: "INVALID_ANSWER" });
    }
    await question.answer({ decision: "done", result: null });
  });

  it("fails its step at once where the host says so", async () => {
    const { result, labels } = await run(flow([step("pay", "pay")]), { tools: write("pay", [cut]), inDoubt: "fail" });
    expect(labels).toEqual(["pay started", "pay failed", "result failed"]);
    expect(result).toMatchObject({ error: { code: "TOOL_IN_DOUBT" }, writes: [{ state: "in_doubt" }] });
  });

  it("stands while the run fails elsewhere: retry only settles it, and it is then undone", async () => {
    const look = deferred();
    const pay = write("pay", [cut, { id: 2 }]);
    const undo = write("undo");
    const workflow = flow([
      { id: "both", parallel: [step("pay", "pay", { compensate }), step("look", "look")] },
      step("after", "pay"),
    ]);
    const ended = run(workflow, { tools: [pay, undo, read("look", [() => look.promise])] }, async (event) => {
      if (event.type !== "question") return;
      look.reject(new Error("down"));
      await settled();
      await event.answer({ decision: "retry" });
    });
    const { result } = await ended;
    expect(pay.calls.map(({ path }) => path)).toEqual(["both/pay", "both/pay"]);
    expect(undo.calls).toHaveLength(1);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "look" }, writes: [{ state: "undone" }] });
  });

  it("that is made again to settle it has 60 s where its step sets no time: nothing else could end it", async () => {
    const look = deferred();
    const clock = fakeClock();
    const pay = write("pay", [cut, () => new Promise(() => {})]);
    const workflow = flow([{ id: "both", parallel: [step("pay", "pay"), step("look", "look")] }]);
    const asked: number[] = [];
    const { result } = await run(
      workflow,
      { clock, tools: [pay, read("look", [() => look.promise])] },
      async (event) => {
        if (event.type !== "question") return;
        asked.push(clock.now());
        look.reject(new Error("down"));
        await settled();
        await event.answer({ decision: asked.length === 1 ? "retry" : "not_applied" });
      },
    );
    expect(asked.map((at) => at - (asked[0] ?? 0))).toEqual([0, 70_000]);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "look" }, writes: [{ state: "failed" }] });
  });

  it("in an undo is asked about too, and holds the undos before it until it is settled", async () => {
    const undo = write("undo", [cut, "ok"]);
    const workflow = flow([step("a", "act", { compensate }), step("b", "act", { compensate }), step("fail", "fail")]);
    const tools = [write("act"), undo, write("fail", [refused])];
    const waiting = await runToEnd(workflow, options({ tools }));
    expect(waiting).toMatchObject({
      status: "waiting",
      phase: "undoing",
      questions: [{ kind: "in_doubt", id: "b~undo?1", purpose: "undo", undo: null }],
    });
    expect(undo.calls).toHaveLength(1);
    for (const [decision, state] of [
      ["done", "undone"],
      ["fail", "undo_in_doubt"],
      ["not_applied", "undo_failed"],
    ] as const) {
      const again = write("undo", [cut, "ok"]);
      const { result } = await run(
        workflow,
        { tools: [write("act"), again, write("fail", [refused])] },
        answering({ decision }),
      );
      expect(result.writes.map((entry) => entry.state)).toEqual(["undone", state, "failed"]);
      expect(again.calls.map(({ path }) => path)).toEqual(["b~undo", "a~undo"]);
    }
  });
});

describe("a write in flight when its driver was gone", () => {
  it("is in doubt, and asked about; never repeated by itself", async () => {
    const pay = write("pay", neverThen({ id: 2 }));
    const { store, tools } = await abandoned([pay], { retries: 3 });
    const { labels, result } = await drain(resume(store, { tools }));
    expect(labels).toEqual(["pay?1 in_doubt", "result waiting"]);
    expect(result.writes).toMatchObject([{ state: "in_doubt" }]);
    expect(pay.calls).toHaveLength(1);
  });

  it("goes on with the answer", async () => {
    const pay = write("pay", neverThen({ id: 2 }));
    const { store, tools } = await abandoned([pay]);
    const { labels, result } = await drain(
      resume(store, { tools }),
      answering({ decision: "done", result: { id: 5 } }),
    );
    expect(labels).toEqual(["pay?1 in_doubt", "pay completed", "next started", "next completed", "result completed"]);
    expect(result.writes).toMatchObject([{ state: "done" }]);
    expect(pay.calls).toHaveLength(1);
  });

  it("is called again with the same key where its tool is idempotent, unasked", async () => {
    const pay = write("pay", neverThen({ id: 2 }), { idempotent: true });
    const { store, tools } = await abandoned([pay]);
    const { result } = await drain(resume(store, { tools }));
    expect(pay.calls.map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey])).toEqual([
      [1, "run-1:pay"],
      [2, "run-1:pay"],
    ]);
    expect(result).toMatchObject({ status: "completed", writes: [{ state: "done" }] });
  });

  it("of an idempotent tool stays in doubt where the second call only fails", async () => {
    const pay = write("pay", neverThen(new Error("down")), { idempotent: true });
    const { store, tools } = await abandoned([pay]);
    const { labels, result } = await drain(resume(store, { tools }));
    expect(labels.slice(-2)).toEqual(["pay?1 in_doubt", "result waiting"]);
    expect(result.writes).toMatchObject([{ state: "in_doubt" }]);
  });

  it("fails its step at once where the host says so", async () => {
    const { store, tools } = await abandoned([write("pay", neverThen())]);
    const { result } = await drain(resume(store, { tools, inDoubt: "fail" }));
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "TOOL_IN_DOUBT" },
      writes: [{ state: "in_doubt" }],
    });
  });

  it("that is an undo is in doubt alike, and the others go on behind it", async () => {
    const store = memoryStore();
    const undo = write("undo", neverThen("ok"));
    const tools = [write("act"), undo, write("fail", [refused])];
    const workflow = flow([step("a", "act", { compensate }), step("b", "act", { compensate }), step("fail", "fail")]);
    const stream = runWorkflow(workflow, options({ store, tools, limits: { gracePeriodMs: 0 } }));
    for (;;) {
      const turn = await stream.next();
      if (!turn.done && turn.value.type === "step" && turn.value.status === "undoing") break;
    }
    await stream.return();
    const { result } = await drain(resume(store, { tools, inDoubt: "fail" }));
    expect(undo.calls.map(({ path }) => path)).toEqual(["b~undo", "a~undo"]);
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "undo_in_doubt", "failed"]);
  });

  it("is told of in the journal once, however often the run is taken", async () => {
    const { store, tools } = await abandoned([write("pay", neverThen())]);
    for (let turn = 0; turn < 3; turn++) await drain(resume(store, { tools, clock: fakeClock() }));
    const records = await journalOf(store);
    expect(records.filter(({ kind }) => kind === "question_asked")).toHaveLength(1);
  });
});
