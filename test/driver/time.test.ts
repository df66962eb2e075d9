import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { Policy } from "../../src/ports/policy.js";
import { memoryStore } from "../../src/stores/memory.js";
import { type FakeClock, fakeClock } from "../../src/testing/fake-clock.js";
import {
  answering,
  deferred,
  drain,
  flow,
  journalOf,
  options,
  read,
  resume,
  run,
  settled,
  until,
  write,
} from "./harness.js";

const second = 1_000;
const refused = new ToolError("no", { outcome: "refused" });
const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });

/** Takes its time, by the run's clock, and does not mind being aborted. */
const slow =
  (clock: FakeClock, ms: number, value: unknown = "late") =>
  async () => {
    await clock.sleep(ms);
    return value;
  };
const never = () => new Promise(() => {});

describe("a step's timeout_ms", () => {
  it("aborts a read, which then fails for good; its late answer changes nothing", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const aborted: number[] = [];
    const look = read("look", [
      (_inputs, { signal }) => {
        signal.addEventListener("abort", () => aborted.push(clock.now() - start));
        return slow(clock, 20 * second)();
      },
    ]);
    const { result, labels } = await run(flow([step("look", "look", { timeout_ms: 5 * second, retries: 3 })]), {
      tools: look,
      clock,
    });
    expect(aborted).toEqual([5 * second]);
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMED_OUT", stepId: "look", path: "look" } });
    expect(labels).toEqual(["look started", "look failed", "result failed"]);
    expect(clock.now() - start).toBe(5 * second);
    await clock.advance(60 * second);
    expect(look.calls).toHaveLength(1);
  });

  it("aborts a write, gives it the grace period, and then leaves it in doubt", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const store = memoryStore();
    const pay = write("pay", [slow(clock, 60 * second)]);
    const { result } = await run(flow([step("pay", "pay", { timeout_ms: 5 * second })]), {
      tools: pay,
      clock,
      store,
      inDoubt: "fail",
      limits: { gracePeriodMs: 3 * second },
    });
    expect(clock.now() - start).toBe(8 * second);
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMED_OUT" }, writes: [{ state: "in_doubt" }] });
    const before = await journalOf(store);
    await clock.advance(120 * second);
    await settled();
    expect(await journalOf(store)).toEqual(before);
  });

  it("counts a write that answers within the grace period as made, too late: it is undone", async () => {
    const clock = fakeClock();
    const undo = write("undo");
    const pay = write("pay", [slow(clock, 6 * second, { id: 4 })]);
    const compensate = { tool: "undo", inputs: { id: "{{steps.pay.result.id}}" } };
    const { result } = await run(flow([step("pay", "pay", { timeout_ms: 5 * second, compensate })]), {
      tools: [pay, undo],
      clock,
    });
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMED_OUT" }, writes: [{ state: "undone" }] });
    expect(undo.calls.map(({ inputs }) => inputs)).toEqual([{ id: 4 }]);
  });

  it("believes a write that says in time that it was not made", async () => {
    const clock = fakeClock();
    const pay = write("pay", [
      (_inputs, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new ToolError("taken back")))),
    ]);
    const other = write("other", ["plan b"]);
    const workflow = flow([
      step("pay", "pay", { timeout_ms: second, retries: 3, fallback: { tool: "other", inputs: {} } }),
    ]);
    const { result } = await run(workflow, { tools: [pay, other], clock });
    expect(pay.calls).toHaveLength(1);
    expect(result).toMatchObject({
      status: "completed",
      output: "plan b",
      writes: [{ state: "failed" }, { state: "done" }],
    });
  });

  it("is one budget for all attempts and waits", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const look = read("look", [new Error("busy")]);
    const { result } = await run(flow([step("look", "look", { timeout_ms: 4 * second, retries: 3 })]), {
      tools: look,
      clock,
    });
    // At 0, 1 and 3 s; the wait for the fourth is cut.
    expect(look.calls).toHaveLength(3);
    expect(clock.now() - start).toBe(4 * second);
    expect(result.error).toMatchObject({ code: "TIMED_OUT" });
  });

  it("leaves a step that ends in time alone", async () => {
    const clock = fakeClock();
    const tools = [read("look", [slow(clock, 4 * second)]), read("after")];
    const workflow = flow([step("look", "look", { timeout_ms: 5 * second }), { id: "nap", sleep_ms: 60 * second }]);
    const { result } = await run(workflow, { tools, clock });
    expect(result.status).toBe("completed");
  });

  it("loses against what settled before the deadline, whenever that is read", async () => {
    const clock = fakeClock({ auto: false });
    const look = read("look", [slow(clock, 4 * second)]);
    const stream = runWorkflow(
      flow([step("look", "look", { timeout_ms: 5 * second })]),
      options({ tools: look, clock }),
    );
    await stream.next();
    // The consumer is busy with the first event, until long after the deadline.
    await clock.advance(60 * second);
    expect((await drain(stream)).labels).toEqual(["look completed", "result completed"]);
  });

  it("stands still while the step's own question is open", async () => {
    const clock = fakeClock({ auto: false });
    const pay = write("pay");
    const policy: Policy = () => "ask";
    const { result } = await drain(
      runWorkflow(flow([step("pay", "pay", { timeout_ms: 5 * second })]), options({ tools: pay, clock, policy })),
      async (event) => {
        if (event.type !== "question") return;
        await clock.advance(3_600 * second);
        await event.answer({ decision: "approve" });
      },
    );
    expect(result.status).toBe("completed");
  });

  it("of a container stands still while all that is left below waits for people, and only then", async () => {
    const ask = { id: "ask", ask: { prompt: "Which?" } };
    const nap = { id: "nap", sleep_ms: 3 * second };
    const outer = (timeout: number) => flow([{ id: "both", timeout_ms: timeout, parallel: [ask, nap] }]);
    const answered = async (timeout: number) => {
      const store = memoryStore();
      const clock = fakeClock();
      const first = await drain(runWorkflow(outer(timeout), options({ store, clock })));
      if (first.result.status !== "waiting") return first.result;
      const later = fakeClock({ now: clock.now() + 3_600 * second });
      await answerQuestion(store, "run-1", "both/ask?1", { value: 1 }, { clock: later });
      return (await drain(resume(store, { clock: later }))).result;
    };
    expect(await answered(4 * second)).toMatchObject({ status: "completed" });
    expect(await answered(2 * second)).toMatchObject({
      status: "failed",
      error: { code: "TIMED_OUT", stepId: "both" },
    });
  });

  it("of a container aborts and undoes what is below, and may be recovered", async () => {
    const clock = fakeClock();
    const tools = [write("act"), write("undo"), read("look", [never]), write("other", ["plan b"])];
    const compensate = { tool: "undo", inputs: {} };
    const child = flow([step("a", "act", { compensate }), step("look", "look")], { name: "child" });
    const sub = { id: "sub", workflow: "child", inputs: {}, timeout_ms: 5 * second, retries: 2 };
    const { result, labels } = await run(flow([sub]), { tools, workflows: child, clock });
    expect(result).toMatchObject({ error: { code: "TIMED_OUT", stepId: "sub" }, writes: [{ state: "undone" }] });
    expect(labels).toEqual([
      "sub started",
      "sub/a started",
      "sub/a completed",
      "sub/look started",
      "sub/look stopped",
      "sub/a~undo undoing",
      "sub/a~undo undone",
      "sub failed",
      "result failed",
    ]);
    const recovered = await run(flow([{ ...sub, fallback: { tool: "other", inputs: {} } }]), {
      tools,
      workflows: child,
      clock: fakeClock(),
    });
    expect(recovered.result).toMatchObject({ status: "completed", output: "plan b" });
  });

  it("counts on while nobody drives: nothing is called after it", async () => {
    const store = memoryStore();
    const clock = fakeClock({ auto: false });
    const look = read("look", [never, "found"]);
    const stream = runWorkflow(
      flow([step("look", "look", { timeout_ms: 60 * second })]),
      options({ tools: look, clock, store }),
    );
    await stream.next();
    const left = stream.return();
    await clock.advance(10 * second);
    await left;
    const late = fakeClock({ now: clock.now() + 60 * second });
    const { result, labels } = await drain(resume(store, { tools: look, clock: late }));
    expect(labels).toEqual(["look failed", "result failed"]);
    expect(result.error?.code).toBe("TIMED_OUT");
    expect(look.calls).toHaveLength(1);
  });

  it("goes on counting over a restart: what is left of it is left", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const look = read("look", [new Error("busy"), never]);
    const stream = runWorkflow(
      flow([step("look", "look", { timeout_ms: 60 * second, retries: 3 })]),
      options({ tools: look, clock, store }),
    );
    await until(stream, (event) => event.type === "step" && event.status === "retrying");
    await stream.return();
    const later = fakeClock({ now: clock.now() + 20 * second });
    const start = later.now();
    const { result } = await drain(resume(store, { tools: look, clock: later }));
    expect(result.error?.code).toBe("TIMED_OUT");
    expect(later.now() - start).toBe(40 * second);
  });
});

describe("a workflow's timeout_ms", () => {
  it("is a budget for the whole run: what is in flight is aborted, what was done is undone", async () => {
    const clock = fakeClock();
    const compensate = { tool: "undo", inputs: {} };
    const workflow = flow(
      [step("a", "act", { compensate }), { id: "nap", sleep_ms: 3 * second }, step("look", "look"), step("b", "act")],
      { timeout_ms: 5 * second },
    );
    const undo = write("undo");
    const { result } = await run(workflow, { tools: [write("act"), undo, read("look", [never])], clock });
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMED_OUT" }, writes: [{ state: "undone" }] });
    expect(result.error?.stepId).toBeUndefined();
    expect(undo.calls).toHaveLength(1);
  });

  it("stands still while all that is left waits for people", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const workflow = flow(
      [
        { id: "ask", ask: { prompt: "?" } },
        { id: "nap", sleep_ms: 4 * second },
      ],
      {
        timeout_ms: 5 * second,
      },
    );
    await runToEnd(workflow, options({ store, clock }));
    const later = fakeClock({ now: clock.now() + 3_600 * second });
    await answerQuestion(store, "run-1", "ask?1", { value: 1 }, { clock: later });
    expect((await drain(resume(store, { clock: later }))).result.status).toBe("completed");
  });

  it("counts on while nobody drives", async () => {
    const store = memoryStore();
    const clock = fakeClock({ auto: false });
    const workflow = flow([{ id: "nap", sleep_ms: 60 * second }, step("look", "look")], { timeout_ms: 90 * second });
    const stream = runWorkflow(workflow, options({ store, clock, tools: read("look") }));
    await stream.next();
    await stream.return();
    const late = fakeClock({ now: clock.now() + 90 * second });
    const { result, labels } = await drain(resume(store, { clock: late, tools: read("look") }));
    expect(labels).toEqual(["result failed"]);
    expect(result.error?.code).toBe("TIMED_OUT");
  });

  it("does not strike while the run undoes", async () => {
    const clock = fakeClock();
    const compensate = { tool: "undo", inputs: {} };
    const workflow = flow([step("a", "act", { compensate }), step("b", "fail")], { timeout_ms: 5 * second });
    const undo = write("undo", [slow(clock, 30 * second)]);
    const { result } = await run(workflow, { tools: [write("act"), undo, write("fail", [refused])], clock });
    expect(result).toMatchObject({ error: { code: "TOOL_REFUSED" }, writes: [{ state: "undone" }, {}] });
  });

  it("of a child fails its step", async () => {
    const child = flow([step("look", "look")], { name: "child", timeout_ms: second });
    const { result } = await run(flow([{ id: "sub", workflow: "child", inputs: {} }]), {
      tools: read("look", [never]),
      workflows: child,
    });
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMED_OUT" } });
  });
});

describe("a wait", () => {
  it("takes as long as it says, by the run's clock", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const { labels } = await run(flow([{ id: "nap", sleep_ms: 7 * 24 * 3_600 * second }]), { clock });
    expect(clock.now() - start).toBe(7 * 24 * 3_600 * second);
    expect(labels).toEqual(["nap started", "nap completed", "result completed"]);
  });

  it("of no time is over at once", async () => {
    expect((await run(flow([{ id: "nap", sleep_ms: 0 }]), {})).result.status).toBe("completed");
  });

  it.each([
    ["before it is over", 20, 40],
    ["after", 90, 0],
  ])("survives a restart %s", async (_, pauseS, leftS) => {
    const store = memoryStore();
    const clock = fakeClock({ auto: false });
    const stream = runWorkflow(flow([{ id: "nap", sleep_ms: 60 * second }]), options({ store, clock }));
    await stream.next();
    await stream.return();
    const later = fakeClock({ now: clock.now() + pauseS * second });
    const start = later.now();
    const { labels } = await drain(resume(store, { clock: later }));
    expect(labels).toEqual(["nap completed", "result completed"]);
    expect(later.now() - start).toBe(leftS * second);
  });

  it("is told by a run whose driving is stopped: wakeAt", async () => {
    const store = memoryStore();
    const controller = new AbortController();
    const { result } = await run(flow([{ id: "nap", sleep_ms: 60 * second }]), { store, stop: controller.signal }, () =>
      controller.abort(),
    );
    expect(result).toMatchObject({ status: "waiting", wakeAt: "2030-01-01T00:01:00.000Z" });
    expect(await store.head("run-1")).toMatchObject({ wakeAt: "2030-01-01T00:01:00.000Z" });
  });

  it("between attempts survives a restart too", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const look = read("look", [new Error("busy"), new Error("busy"), "found"]);
    const stream = runWorkflow(flow([step("look", "look", { retries: 3 })]), options({ tools: look, clock, store }));
    await until(stream, (event) => event.type === "step" && event.status === "retrying" && event.attempt === 2);
    await stream.return();
    const later = fakeClock({ now: clock.now() + 500 });
    const start = later.now();
    const { labels } = await drain(resume(store, { tools: look, clock: later }));
    expect(labels).toEqual(["look started", "look completed", "result completed"]);
    expect(later.now() - start).toBe(1_500);
    expect(look.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });
});

describe("time", () => {
  it("is the clock's alone: change of the hour or not, waits are of their length", async () => {
    const clock = fakeClock({ now: Date.parse("2031-03-30T00:59:59Z") });
    const start = clock.now();
    const times: number[] = [];
    const look = read("look", [
      () => {
        times.push(clock.now() - start);
        throw new Error("busy");
      },
    ]);
    await run(flow([step("look", "look", { retries: 3 })]), { tools: look, clock });
    expect(times).toEqual([0, 1_000, 3_000, 7_000]);
  });

  it("passes in the background for what is in flight, while the consumer thinks", async () => {
    const clock = fakeClock({ auto: false });
    const late = deferred();
    const store = memoryStore();
    const stream = runWorkflow(
      flow([step("look", "look", { timeout_ms: 5 * second })]),
      options({ tools: read("look", [() => late.promise]), clock, store }),
    );
    await stream.next();
    await clock.advance(6 * second);
    late.resolve("found");
    await settled();
    expect((await journalOf(store)).map(({ kind }) => kind)).toEqual([
      "run_started",
      "begun",
      "timed_out",
      "failed",
      "run_ended",
    ]);
    expect((await drain(stream)).labels).toEqual(["look failed", "result failed"]);
  });

  it("does not matter to a run with an answer: asks and waits side by side", async () => {
    const workflow = flow([
      {
        id: "both",
        parallel: [
          { id: "ask", ask: { prompt: "?" } },
          { id: "nap", sleep_ms: second },
        ],
      },
    ]);
    const { result } = await run(workflow, {}, answering({ value: 3 }));
    expect(result).toMatchObject({ status: "completed", output: { ask: 3, nap: null } });
  });
});
