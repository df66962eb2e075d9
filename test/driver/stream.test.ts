import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../src/driver/options.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  deferred,
  drain,
  flow,
  journalOf,
  labelOf,
  options,
  read,
  rejection,
  resume,
  run,
  settled,
  untilQuestion,
  write,
} from "./harness.js";

const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const kinds = async (store: Parameters<typeof journalOf>[0]) => (await journalOf(store)).map(({ kind }) => kind);

describe("the stream", () => {
  it("advances as events are asked for: a call starts only when those before were taken", async () => {
    const look = read("look", ["a", "b"]);
    const stream = runWorkflow(flow([step("a", "look"), step("b", "look")]), options({ tools: look }));
    const called = async () => {
      const turn = await stream.next();
      await settled();
      return [turn.done ? "done" : labelOf(turn.value), look.calls.length];
    };
    expect(await called()).toEqual(["a started", 1]);
    expect(await called()).toEqual(["a completed", 1]);
    expect(await called()).toEqual(["b started", 2]);
    expect(await called()).toEqual(["b completed", 2]);
    expect(await called()).toEqual(["result completed", 2]);
    expect(await called()).toEqual(["done", 2]);
    expect(await called()).toEqual(["done", 2]);
  });

  it("records what settles while the consumer thinks, and starts nothing for it", async () => {
    const store = memoryStore();
    const late = deferred();
    const pay = write("pay", [() => late.promise]);
    const stream = runWorkflow(flow([step("a", "pay"), step("b", "pay")]), options({ tools: pay, store }));
    await stream.next();
    expect(await kinds(store)).toEqual(["run_started", "write_intended"]);
    late.resolve({ id: 1 });
    await settled();
    expect(await kinds(store)).toEqual(["run_started", "write_intended", "completed"]);
    expect(pay.calls).toHaveLength(1);
    await stream.return();
    expect(await kinds(store)).toEqual(["run_started", "write_intended", "completed"]);
  });

  it("serves calls of next one after another, also when they come at once", async () => {
    const stream = runWorkflow(flow([step("a", "look"), step("b", "look")]), options({ tools: read("look") }));
    const turns = await Promise.all(Array.from({ length: 8 }, () => stream.next()));
    expect(turns.map((turn) => (turn.done ? "done" : labelOf(turn.value)))).toEqual([
      "a started",
      "a completed",
      "b started",
      "b completed",
      "result completed",
      "done",
      "done",
      "done",
    ]);
    expect(turns[5]?.value).toMatchObject({ status: "completed" });
    expect(turns[6]?.value).toBeUndefined();
  });

  it("is its own iterator", () => {
    const stream = runWorkflow(flow([step("a", "look")]), options({ tools: read("look") }));
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
  });

  it("gives return's value back", async () => {
    const stream = runWorkflow(flow([step("a", "look")]), options({ tools: read("look") }));
    const result = await runToEnd(flow([step("a", "look")]), options({ tools: read("look") }));
    expect(await stream.return(Promise.resolve(result))).toEqual({ done: true, value: result });
  });

  it("passes on what is thrown into it, and leaves", async () => {
    const store = memoryStore();
    const stream = runWorkflow(flow([step("a", "look"), step("b", "look")]), options({ tools: read("look"), store }));
    await stream.next();
    const error = new Error("the consumer's own");
    expect(await rejection(stream.throw(error))).toBe(error);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect((await drain(resume(store, { tools: read("look") }))).result.status).toBe("completed");
  });

  it("leaves at the end of a using block", async () => {
    const store = memoryStore();
    const stream = runWorkflow(flow([step("a", "look")]), options({ tools: read("look"), store }));
    await stream.next();
    await stream[Symbol.asyncDispose]();
    expect((await drain(resume(store, { tools: read("look") }))).result.status).toBe("completed");
  });
});

describe("leaving", () => {
  /** A run left at its first step event; `how` leaves it. */
  async function leftAt(tools: RunOptions["tools"], more: Partial<RunOptions> = {}) {
    const given = options({ tools, ...more });
    for await (const event of runWorkflow(flow([step("a", "act"), step("b", "act")]), given)) {
      if (event.type === "step" && event.status === "started") break;
    }
    return given;
  }

  it("aborts a read in flight and drops it: it is made again later", async () => {
    const signals: AbortSignal[] = [];
    const act = read("act", [
      (_inputs, { signal }) => {
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
      "again",
    ]);
    const { store } = await leftAt(act);
    expect(signals.map(({ aborted, reason }) => [aborted, reason.name])).toEqual([[true, "AbortError"]]);
    expect(await kinds(store)).toEqual(["run_started"]);
    const { result } = await drain(resume(store, { tools: act }));
    expect(result.output).toBe("again");
    expect(act.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it("records a read that answers all the same", async () => {
    const act = read("act", [
      (_inputs, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve("just in time"))),
    ]);
    const { store } = await leftAt(act);
    expect(await kinds(store)).toEqual(["run_started", "completed"]);
  });

  it("awaits a write in flight and records its outcome", async () => {
    const act = write("act", [
      (_inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve({ id: 1 }))),
    ]);
    const { store } = await leftAt(act);
    expect(await kinds(store)).toEqual(["run_started", "write_intended", "completed"]);
    const second = write("act", [{ id: 2 }]);
    const { result } = await drain(resume(store, { tools: second }));
    expect(second.calls.map(({ path }) => path)).toEqual(["b"]);
    expect(result.writes.map(({ state }) => state)).toEqual(["done", "done"]);
  });

  it("records a write that fails as it does, and its next attempt is the next driver's", async () => {
    const act = write("act", [
      (_inputs, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut")))),
      { id: 2 },
    ]);
    const { store } = await leftAt(act);
    expect(await kinds(store)).toEqual(["run_started", "write_intended", "doubted"]);
    const { labels } = await drain(resume(store, { tools: act }));
    expect(labels).toEqual(["a?1 in_doubt", "result waiting"]);
  });

  it("waits no longer than the grace period for what does not settle: the write is then in doubt", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const late = deferred();
    const act = write("act", [() => late.promise]);
    const { store } = await leftAt(act, { clock, limits: { gracePeriodMs: 4_000 } });
    expect(clock.now() - start).toBe(4_000);
    expect(await kinds(store)).toEqual(["run_started", "write_intended"]);
    expect((await drain(resume(store, { tools: act }))).labels).toEqual(["a?1 in_doubt", "result waiting"]);
    // What it comes to after all is a fact, which settles the doubt.
    late.resolve({ id: 1 });
    await settled();
    expect((await kinds(store)).at(-1)).toBe("reported");
    expect((await drain(resume(store, { tools: write("act") }))).labels).toContain("a completed");
  });

  it("by return while a next is pending takes effect at once", async () => {
    const store = memoryStore();
    const act = read("act", [() => new Promise(() => {}), "again"]);
    const clock = fakeClock();
    const stream = runWorkflow(flow([step("a", "act")]), options({ tools: act, store, clock }));
    await stream.next();
    const pending = stream.next();
    await settled();
    const left = stream.return();
    expect(await left).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await store.head("run-1")).toMatchObject({ status: "running" });
    expect((await drain(resume(store, { tools: act }))).result.output).toBe("again");
  });

  it("frees the run: it can be driven at once", async () => {
    const { store } = await leftAt(read("act"));
    expect((await drain(resume(store, { tools: read("act") }))).result.status).toBe("completed");
  });

  it("twice is once, and after the end is nothing", async () => {
    const stream = runWorkflow(flow([step("a", "act")]), options({ tools: read("act") }));
    await stream.next();
    expect(await Promise.all([stream.return(), stream.return()])).toHaveLength(2);
    const ended = runWorkflow(flow([step("a", "act")]), options({ tools: read("act") }));
    await drain(ended);
    expect(await ended.return()).toEqual({ done: true, value: undefined });
  });

  it("before the run was opened waits for that, and then leaves", async () => {
    const store = memoryStore();
    const act = read("act");
    const stream = runWorkflow(flow([step("a", "act")]), options({ tools: act, store }));
    const first = stream.next();
    await stream.return();
    expect(await first).toEqual({ done: true, value: undefined });
    expect(act.calls).toEqual([]);
    expect((await drain(resume(store, { tools: act }))).result.status).toBe("completed");
  });

  it("while the intent of a write is being stored withholds the call", async () => {
    const plain = memoryStore();
    const stored = deferred();
    const held: typeof plain = {
      ...plain,
      async append(runId, seq, records, head) {
        await plain.append(runId, seq, records, head);
        if (records.some(({ kind }) => kind === "write_intended")) await stored.promise;
      },
    };
    const act = write("act");
    const stream = runWorkflow(flow([step("a", "act")]), options({ tools: act, store: held }));
    const first = stream.next();
    await settled();
    const left = stream.return();
    stored.resolve(undefined);
    await left;
    await first;
    expect(act.calls).toEqual([]);
    expect(await kinds(plain)).toEqual(["run_started", "write_intended", "withheld"]);
    const { result } = await drain(resume(plain, { tools: act }));
    expect(act.calls).toHaveLength(1);
    expect(result).toMatchObject({ status: "completed", writes: [{ state: "done" }] });
  });

  it("while a policy thinks asks nobody, and makes no call", async () => {
    const verdict = deferred<"approve">();
    const store = memoryStore();
    const act = write("act");
    const stream = runWorkflow(flow([step("a", "act")]), options({ tools: act, store, policy: () => verdict.promise }));
    const first = stream.next();
    await settled();
    const left = stream.return();
    verdict.resolve("approve");
    await Promise.all([left, first]);
    expect(await kinds(store)).toEqual(["run_started"]);
    expect(act.calls).toEqual([]);
  });

  it("with a question open leaves it open", async () => {
    const store = memoryStore();
    const given = options({ tools: write("act"), store, policy: undefined });
    const stream = runWorkflow(flow([step("a", "act")]), given);
    const question = await untilQuestion(stream);
    await stream.return();
    await question.answer({ decision: "approve" });
    expect((await drain(resume(store, { tools: write("act") }))).labels).toContain("a completed");
  });
});

describe("the option stop", () => {
  it("stops driving, as leaving does: the result is waiting, and nothing is undone", async () => {
    const store = memoryStore();
    const controller = new AbortController();
    const undo = write("undo");
    const act = write("act", [
      { id: 1 },
      (_inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve({ id: 2 }))),
      { id: 3 },
    ]);
    const compensate = { tool: "undo", inputs: {} };
    const workflow = flow([step("a", "act", { compensate }), step("b", "act", { compensate }), step("c", "act")]);
    const { result, labels } = await run(workflow, { store, tools: [act, undo], stop: controller.signal }, (event) => {
      if (labelOf(event) === "b started") controller.abort();
    });
    expect(labels.slice(-2)).toEqual(["b completed", "result waiting"]);
    expect(result.writes.map(({ state }) => state)).toEqual(["done", "done"]);
    const resumed = await drain(resume(store, { tools: [act, undo] }));
    expect(resumed.labels).toEqual(["c started", "c completed", "result completed"]);
    expect(undo.calls).toEqual([]);
  });

  it("takes effect while a next is pending", async () => {
    const controller = new AbortController();
    const result = runToEnd(
      flow([step("a", "act")]),
      options({ tools: read("act", [() => new Promise(() => {})]), stop: controller.signal }),
    );
    await settled();
    controller.abort();
    expect(await result).toMatchObject({ status: "waiting", writes: [] });
  });

  it("before the start starts nothing", async () => {
    const store = memoryStore();
    const act = read("act");
    const { labels } = await run(flow([step("a", "act")]), { store, tools: act, stop: AbortSignal.abort() });
    expect(labels).toEqual(["result waiting"]);
    expect(act.calls).toEqual([]);
    expect((await drain(resume(store, { tools: act }))).result.status).toBe("completed");
  });

  it("beside a cancel that came too lets the run end that has nothing to undo", async () => {
    const store = memoryStore();
    const both = AbortSignal.abort();
    const given = options({ store });
    await runToEnd(flow([{ id: "name", ask: { prompt: "?" } }]), given);
    const { result } = await drain(resume(store, { stop: both, signal: both }));
    expect(result.status).toBe("cancelled");
    expect((await drain(resume(store))).result.status).toBe("cancelled");
  });

  it("after the end does nothing", async () => {
    const controller = new AbortController();
    const { result } = await run(flow([step("a", "act")]), { tools: read("act"), stop: controller.signal });
    controller.abort();
    expect(result.status).toBe("completed");
  });
});
