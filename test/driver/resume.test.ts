import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import { resumeRun, runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
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
  until,
  untilQuestion,
  write,
} from "./harness.js";

const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const name = { id: "name", ask: { prompt: "Who?" } };

describe("a run id", () => {
  const workflow = flow([step("look", "look"), name]);

  it("stands for a document and an input: the same again carries the run on", async () => {
    const look = read("look");
    const given = options({ tools: look, input: { n: 1 } });
    expect(await runToEnd(workflow, given)).toMatchObject({ status: "waiting" });
    const { labels, result } = await drain(runWorkflow(workflow, given), answering({ value: "Ada" }));
    expect(labels).toEqual(["name?1 input", "name completed", "result completed"]);
    expect(result.output).toBe("Ada");
    expect(look.calls).toHaveLength(1);
  });

  it("of a run that ended gives its result again, and calls nothing", async () => {
    const pay = write("pay", [{ id: 1 }]);
    const given = options({ tools: pay });
    const first = await drain(runWorkflow(flow([step("pay", "pay")]), given));
    const stream = runWorkflow(flow([step("pay", "pay")]), given);
    const again = await drain(stream);
    expect(again.events).toEqual([first.result]);
    expect(await runToEnd(flow([step("pay", "pay")]), given)).toMatchObject({ status: "completed" });
    expect(pay.calls).toHaveLength(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("gives the result as the return value, too", async () => {
    const given = options({ tools: read("look") });
    const result = await runToEnd(flow([step("look", "look")]), given);
    const stream = resumeRun(given.store, "run-1", given);
    expect((await stream.next()).value).toMatchObject({ type: "result" });
    expect(await stream.next()).toEqual({ done: true, value: result });
    expect((await resumeRun(given.store, "run-1", given).return()).done).toBe(true);
  });

  it("does not mind the order of keys, nor whether the document is the same object", async () => {
    const given = options({ tools: read("look"), input: { a: 1, b: 2 } });
    await runToEnd(workflow, given);
    const same = defineWorkflow(JSON.parse(JSON.stringify(workflow)));
    expect(await runToEnd(same, { ...given, input: { b: 2, a: 1 } })).toMatchObject({ status: "waiting" });
  });

  it.each<[string, object, object]>([
    ["another input", { input: { n: 2 } }, {}],
    ["another document", {}, { description: "another" }],
  ])("with %s is RUN_CONFLICT, and changes nothing", async (_, more, document) => {
    const given = options({ tools: read("look"), input: { n: 1 } });
    await runToEnd(workflow, given);
    const before = await journalOf(given.store);
    const other = flow([step("look", "look"), name], document);
    expect(await rejection(runToEnd(other, { ...given, ...more }))).toMatchObject({ code: "RUN_CONFLICT" });
    expect(await journalOf(given.store)).toEqual(before);
  });

  it("that is being driven is RUN_BUSY, until its driver leaves", async () => {
    const given = options({ tools: read("look") });
    const stream = runWorkflow(workflow, given);
    await stream.next();
    expect(await rejection(runToEnd(workflow, given))).toMatchObject({ code: "RUN_BUSY" });
    expect(await rejection(resume(given.store).next())).toMatchObject({ code: "RUN_BUSY" });
    await stream.return();
    expect(await runToEnd(workflow, given)).toMatchObject({ status: "waiting" });
  });

  it("started twice at once is one run", async () => {
    const pay = write("pay");
    const given = options({ tools: pay });
    const results = await Promise.allSettled([1, 2, 3].map(() => runToEnd(flow([step("pay", "pay")]), given)));
    expect(pay.calls).toHaveLength(1);
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value.status).toBe("completed");
      else expect(result.reason).toMatchObject({ code: "RUN_BUSY" });
    }
    expect(results.map(({ status }) => status)).toContain("fulfilled");
  });

  it("started twice at once in a store without leases is one run, whose second driver takes over", async () => {
    const pay = write("pay");
    const store: RunStore = { ...memoryStore(), lease: undefined };
    const given = options({ tools: pay, store });
    const results = await Promise.allSettled([1, 2].map(() => runToEnd(flow([step("pay", "pay")]), given)));
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "RUN_TAKEN_OVER" });
    }
    expect((await journalOf(store)).filter(({ kind }) => kind === "run_started")).toHaveLength(1);
    expect(pay.calls.length).toBeLessThanOrEqual(1);
  });

  it("is carried on though its tools are no longer all there: a later step fails, not the caller", async () => {
    const given = options({ tools: read("look") });
    const twoSteps = flow([name, step("look", "look")]);
    await runToEnd(twoSteps, given);
    await answerQuestion(given.store, "run-1", "name?1", { value: 1 }, { clock: fakeClock() });
    expect(await runToEnd(twoSteps, { ...given, tools: [] })).toMatchObject({ error: { code: "UNKNOWN_TOOL" } });
  });
});

describe("resuming", () => {
  it("does nothing again that was done, and evaluates nothing of it again", async () => {
    const store = memoryStore();
    const looks = read("look", ["first", "second"]);
    const pay = write("pay");
    const workflow = flow([
      step("a", "look", { when: { equals: ["{{input.n}}", 1] } }),
      step("b", "pay"),
      name,
      step("c", "look"),
    ]);
    const tools = [looks, pay];
    await runToEnd(workflow, options({ store, tools, input: { n: 1 } }));
    await answerQuestion(store, "run-1", "name?1", { value: "Ada" }, { clock: fakeClock() });
    const { labels } = await drain(resume(store, { tools }));
    expect(labels).toEqual(["name completed", "c started", "c completed", "result completed"]);
    expect([looks.calls.length, pay.calls.length]).toEqual([2, 1]);
  });

  it("goes on with the document as it began, whatever was edited since", async () => {
    const store = memoryStore();
    const tools = [read("look"), read("other")];
    const before = flow([name, step("a", "look")]);
    const after = flow([name, step("new", "other"), step("a", "look")]);
    await runToEnd(before, options({ store, tools }));
    await answerQuestion(store, "run-1", "name?1", { value: 1 }, { clock: fakeClock() });
    const { labels } = await drain(resume(store, { tools, workflows: after }));
    expect(labels).toEqual(["name completed", "a started", "a completed", "result completed"]);
    const fresh = await run(after, { store, tools, runId: "run-2" }, answering({ value: 1 }));
    expect(fresh.labels).toContain("new completed");
  });

  it("goes on with child workflows as they were", async () => {
    const store = memoryStore();
    const child = (tool: string) => flow([step("x", tool)], { name: "child" });
    const workflow = flow([name, { id: "sub", workflow: "child", inputs: {} }]);
    const tools = [read("look"), read("other")];
    await runToEnd(workflow, options({ store, tools, workflows: child("look") }));
    await answerQuestion(store, "run-1", "name?1", { value: 1 }, { clock: fakeClock() });
    const { result } = await drain(resume(store, { tools, workflows: child("other") }));
    expect(result.status).toBe("completed");
    expect(tools.map(({ calls }) => calls.length)).toEqual([1, 0]);
  });

  it("of a workflow with code wants the same workflow again", async () => {
    const store = memoryStore();
    const coded = (description: string) =>
      defineWorkflow({
        name: "coded",
        description,
        input_schema: z.object({ n: z.number() }),
        steps: [name, { id: "double", run: (scope) => (scope.input as { n: number }).n * 2 }],
      });
    await runToEnd(coded("one"), { ...options({ store }), input: { n: 4 } });
    const answer = () => answerQuestion(store, "run-1", "name?1", { value: 1 }, { clock: fakeClock() });
    await answer();
    for (const workflows of [[], coded("another")]) {
      expect(await rejection(resume(store, { workflows }).next())).toMatchObject({ code: "CODE_REQUIRED" });
    }
    const { result } = await drain(resume(store, { workflows: coded("one") }));
    expect(result.output).toBe(8);
  });

  it("of a run with code needs no workflow in the call that started it", async () => {
    const given = { ...options({}), input: {} };
    const coded = flow([name, { id: "one", run: () => 1 }]);
    await runToEnd(coded, given);
    expect((await drain(runWorkflow(coded, given), answering({ value: 1 }))).result.output).toBe(1);
  });

  it("of an unknown run is UNKNOWN_RUN", async () => {
    const store = memoryStore();
    expect(await rejection(resume(store, {}, "nobody").next())).toMatchObject({ code: "UNKNOWN_RUN" });
    expect(await rejection(cancelRun(store, "nobody"))).toMatchObject({ code: "UNKNOWN_RUN" });
  });

  it("wants tools, like a start", async () => {
    expect(await rejection(resumeRun(memoryStore(), "run-1", JSON.parse("{}")).next())).toMatchObject({
      code: "INVALID_OPTIONS",
    });
  });

  it("twice at once drives once", async () => {
    const store = memoryStore();
    const pay = write("pay");
    await runToEnd(flow([step("pay", "pay")]), options({ store, tools: pay, policy: undefined }));
    await answerQuestion(store, "run-1", "pay?1", { decision: "approve" }, { clock: fakeClock() });
    const outcomes = await Promise.allSettled([1, 2].map(() => drain(resume(store, { tools: pay }))));
    expect(pay.calls).toHaveLength(1);
    expect(outcomes.map(({ status }) => status)).toContain("fulfilled");
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "RUN_BUSY" });
    }
  });

  it("is free again at the end, while the run waits, and after a failed start", async () => {
    const store = memoryStore();
    for (let turn = 0; turn < 3; turn++) {
      expect((await run(flow([name]), { store })).result.status).toBe("waiting");
    }
    await rejection(resume(store, { tools: JSON.parse("[1]") }).next());
    expect((await drain(resume(store), answering({ value: 1 }))).result.status).toBe("completed");
    expect((await drain(resume(store))).labels).toEqual(["result completed"]);
  });

  it("keeps its lease alive for as long as it drives", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    try {
      const late = deferred();
      const given = options({ tools: read("look", [() => late.promise]) });
      const seen = drain(runWorkflow(flow([step("look", "look")]), given));
      await settled();
      for (let minute = 0; minute < 10; minute++) {
        await vi.advanceTimersByTimeAsync(60_000);
        expect(await rejection(resume(given.store).next())).toMatchObject({ code: "RUN_BUSY" });
      }
      late.resolve("found");
      await seen;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("takes over once the lease of a driver that is gone has run out", async () => {
    const store = memoryStore();
    const given = options({ store });
    await runToEnd(flow([name]), given);
    await store.lease?.claim("run-1", "a driver that died", 30_000);
    expect(await rejection(resume(store).next())).toMatchObject({ code: "RUN_BUSY" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 30_001 });
    try {
      expect((await drain(resume(store))).labels).toEqual(["name?1 input", "result waiting"]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("taking over", () => {
  /** A run with a write in flight in one driver, taken over by another. */
  async function takenOver(more: { watch?: boolean; idempotent?: boolean } = {}) {
    const store = memoryStore();
    const late = deferred();
    const pay = write("pay", [() => late.promise, { id: "again" }], { idempotent: more.idempotent ?? false });
    const former: RunStore = more.watch === false ? { ...store, watch: undefined } : store;
    const stream = runWorkflow(flow([step("pay", "pay"), step("next", "look")]), {
      ...options({ store: former, tools: [pay, read("look")] }),
    });
    await stream.next();
    const pending = stream.next();
    pending.catch(() => {});
    await settled();
    const second = resume(store, { tools: [pay, read("look")], takeOver: true });
    return { store, late, pay, stream, pending, second };
  }

  it("is refused while the other lives, unless it is asked for", async () => {
    const { store, second, stream } = await takenOver();
    expect(await rejection(resume(store).next())).toMatchObject({ code: "RUN_BUSY" });
    expect((await second.next()).done).toBe(false);
    await stream.return();
  });

  it.each([true, false])("stops the former driver, which starts nothing more (store with watch: %s)", async (watch) => {
    const { store, late, second, pending, pay, stream } = await takenOver({ watch });
    const question = await untilQuestion(second);
    expect(question).toMatchObject({ id: "pay?1", kind: "in_doubt" });
    late.resolve({ id: "first" });
    expect(await rejection(pending)).toMatchObject({ code: "RUN_TAKEN_OVER" });
    await settled();
    const { labels, result } = await drain(second);
    expect(labels).toEqual(["pay completed", "next started", "next completed", "result completed"]);
    expect(result).toMatchObject({ writes: [{ state: "done" }] });
    expect(pay.calls).toHaveLength(1);
    expect((await journalOf(store)).filter(({ kind }) => kind === "reported")).toHaveLength(1);
    expect(await stream.return()).toEqual({ done: true, value: undefined });
  });

  it("lets what the former driver had in flight settle the doubt, also a failure", async () => {
    const { late, second, pending } = await takenOver();
    await untilQuestion(second);
    late.reject(new Error("no money"));
    await rejection(pending);
    await settled();
    const { result } = await drain(second);
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "TOOL_FAILED", message: "no money" },
      writes: [{ state: "failed" }],
    });
  });

  it("takes a result that can't be kept for what it is: the write was made", async () => {
    const { late, second, pending } = await takenOver();
    await untilQuestion(second);
    late.resolve(1n);
    await rejection(pending);
    await settled();
    const { result } = await drain(second);
    expect(result).toMatchObject({ error: { code: "RESULT_NOT_JSON", stepId: "pay" }, writes: [{ state: "done" }] });
  });

  it("makes an idempotent write again with the same key", async () => {
    const { late, second, pending, pay } = await takenOver({ idempotent: true });
    const { result } = await drain(second);
    late.resolve({ id: "first" });
    await rejection(pending);
    expect(result.status).toBe("completed");
    expect(pay.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(pay.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it("takes answers to a former driver's events as everybody's", async () => {
    const store = memoryStore();
    const pay = write("pay");
    const given = options({ store: { ...store, watch: undefined }, tools: pay, policy: undefined });
    const stream = runWorkflow(flow([step("pay", "pay")]), given);
    const question = await untilQuestion(stream);
    const second = resume(store, { tools: pay, policy: undefined, takeOver: true });
    await untilQuestion(second);
    await question.answer({ decision: "approve", by: "ada" });
    await settled();
    expect((await drain(second)).result).toMatchObject({ status: "completed", writes: [{ decidedBy: "ada" }] });
    expect(await rejection(stream.next())).toMatchObject({ code: "RUN_TAKEN_OVER" });
    expect(pay.calls).toHaveLength(1);
  });

  it("leaves what the former driver says of a read alone: the new one made it again", async () => {
    const store = memoryStore();
    const late = deferred();
    const look = read("look", [() => late.promise, "second"]);
    const former = { ...store, watch: undefined };
    const stream = runWorkflow(flow([step("look", "look")]), options({ store: former, tools: look }));
    await stream.next();
    const { result } = await drain(resume(store, { tools: look, takeOver: true }));
    expect(result.output).toBe("second");
    late.resolve("first");
    expect(await rejection(stream.next())).toMatchObject({ code: "RUN_TAKEN_OVER" });
    expect(await stream.return()).toMatchObject({ done: true });
    expect((await drain(resume(store))).result.output).toBe("second");
  });
});

describe("what others do to a run that is driven", () => {
  const waits = () =>
    read("look", [(_inputs, { signal }) => new Promise((_, no) => signal.addEventListener("abort", no))]);

  it("takes effect within a second where the store can't tell", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const store: RunStore = { ...memoryStore(), watch: undefined };
      const ended = runToEnd(flow([step("look", "look")]), options({ store, tools: waits() }));
      await settled();
      await cancelRun(store, "run-1", { clock: fakeClock() });
      await settled();
      expect(await store.head("run-1")).toMatchObject({ status: "running" });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await ended).toMatchObject({ status: "cancelled" });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is noticed though it comes while the driver appends", async () => {
    const plain = memoryStore();
    // The reply to the driver's append is late: meanwhile someone cancels.
    const store: RunStore = {
      ...plain,
      async append(runId, seq, records, head) {
        await plain.append(runId, seq, records, head);
        if (!records.some(({ kind }) => kind === "completed")) return;
        await cancelRun(plain, "run-1", { clock: fakeClock() });
        await settled(3);
      },
    };
    const { result } = await run(flow([step("a", "fast"), step("look", "look")]), {
      store,
      tools: [read("fast"), waits()],
    });
    expect(result.status).toBe("cancelled");
  });

  it("puts the seq of what follows further behind", async () => {
    const plain = memoryStore();
    let isFirst = true;
    // Someone cancels just before the last outcome is stored: too late to matter.
    const store: RunStore = {
      ...plain,
      watch: undefined,
      async append(runId, seq, records, head) {
        if (isFirst && records.some(({ kind }) => kind === "run_ended")) {
          isFirst = false;
          await cancelRun(plain, "run-1", { clock: fakeClock() });
        }
        return plain.append(runId, seq, records, head);
      },
    };
    const { events, result } = await run(flow([step("look", "look")]), { store, tools: read("look") });
    const records = await journalOf(plain);
    expect(records.map(({ kind }) => kind)).toEqual(["run_started", "cancel_requested", "completed", "run_ended"]);
    for (const event of events) {
      if (event.type === "step" && event.seq !== undefined)
        expect(records[event.seq]).toMatchObject({ kind: "completed" });
    }
    expect(records[result.seq]).toMatchObject({ kind: "run_ended" });
    expect((await drain(resume(plain))).events).toEqual([result]);
  });

  it("comes before an intent: the write is then not made", async () => {
    const plain = memoryStore();
    let isFirst = true;
    const store: RunStore = {
      ...plain,
      async append(runId, seq, records, head) {
        if (isFirst && records.some(({ kind }) => kind === "write_intended")) {
          isFirst = false;
          await cancelRun(plain, "run-1", { clock: fakeClock() });
        }
        return plain.append(runId, seq, records, head);
      },
    };
    const pay = write("pay");
    const { labels } = await run(flow([step("pay", "pay")]), { store, tools: pay });
    expect(labels).toEqual(["result cancelled"]);
    expect(pay.calls).toEqual([]);
  });

  it("may be an answer that comes before an intent: the intent follows behind it", async () => {
    const plain = memoryStore();
    let isFirst = true;
    const store: RunStore = {
      ...plain,
      async append(runId, seq, records, head) {
        if (isFirst && records.some(({ kind }) => kind === "write_intended")) {
          isFirst = false;
          await answerQuestion(plain, "run-1", "both/name?1", { value: 1 }, { clock: fakeClock() });
        }
        return plain.append(runId, seq, records, head);
      },
    };
    const pay = write("pay");
    const { result } = await run(flow([{ id: "both", parallel: [name, step("pay", "pay")] }]), { store, tools: pay });
    expect(result).toMatchObject({ status: "completed", output: { name: 1, pay: { id: 7 } } });
    expect(pay.calls).toHaveLength(1);
  });

  it("leaves a run that is stopped for a while as it is", async () => {
    const store = memoryStore();
    const look = read("look", [new Error("busy"), "found"]);
    const stream = runWorkflow(flow([step("look", "look", { retries: 1 })]), options({ store, tools: look }));
    await until(stream, (event) => event.type === "step" && event.status === "retrying");
    await stream.return();
    expect(await store.head("run-1")).toMatchObject({ status: "running", wakeAt: "2030-01-01T00:00:01.000Z" });
  });
});
