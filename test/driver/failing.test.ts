import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import { cancelRun } from "../../src/driver/answer.js";
import type { RunOptions } from "../../src/driver/options.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import type { ScriptEntry } from "../../src/testing/scripted-tool.js";
import {
  answering,
  deferred,
  drain,
  flow,
  options,
  read,
  resume,
  run,
  settled,
  until,
  untilQuestion,
  write,
} from "./harness.js";

const refused = new ToolError("no", { outcome: "refused" });
const doubtful = new ToolError("cut off", { outcome: "in_doubt" });

/** Tools that note in one list what was called, in order. */
function world() {
  const calls: string[] = [];
  const noting = (name: string, entry: ScriptEntry) => (inputs: object, context: { path: string }) => {
    calls.push(context.path);
    if (typeof entry === "function") return entry(inputs as never, context as never);
    if (entry instanceof Error) throw entry;
    return entry ?? name;
  };
  return {
    calls,
    read: (name: string, entry: ScriptEntry = "found") => read(name, [noting(name, entry)]),
    write: (name: string, entry: ScriptEntry = { id: name }, more: object = {}) =>
      write(name, [noting(name, entry)], more),
  };
}

const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const undoing = (tool = "undo", more: object = {}) => ({ compensate: { tool, inputs: {}, ...more } });

describe("undo", () => {
  it("goes newest first, one at a time, with inputs of the step's own result", async () => {
    const { calls, write: tool, read: look } = world();
    let open = 0;
    const undo = write("undo", [
      async (_inputs, { path }) => {
        calls.push(path);
        expect(open++).toBe(0);
        await settled(2);
        open--;
        return null;
      },
    ]);
    const of = (id: string) => ({ compensate: { tool: "undo", inputs: { id: `{{steps.${id}.result.id}}` } } });
    const workflow = flow([
      step("a", "one", of("a")),
      step("look", "look"),
      step("b", "two", of("b")),
      step("c", "three", of("c")),
      step("d", "fail"),
    ]);
    const tools = [tool("one"), tool("two"), tool("three"), undo, tool("fail", refused), look("look")];
    const { result } = await run(workflow, { tools });
    expect(calls).toEqual(["a", "look", "b", "c", "d", "c~undo", "b~undo", "a~undo"]);
    expect(undo.calls.map(({ inputs }) => inputs.id)).toEqual(["three", "two", "one"]);
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "TOOL_REFUSED", stepId: "d" },
      writes: [
        { stepId: "a", state: "undone", undo: { tool: "undo", fields: { id: "one" }, decidedBy: "policy" } },
        { stepId: "b", state: "undone" },
        { stepId: "c", state: "undone" },
        { stepId: "d", state: "failed" },
      ],
    });
    expect(result.undoErrors).toBeUndefined();
  });

  it("of one that fails is reported, and the others still run; the first error stands", async () => {
    const { calls, write: tool } = world();
    const workflow = flow([
      step("a", "act", undoing()),
      step("b", "act", undoing("stuck")),
      step("c", "act", undoing()),
      step("d", "fail"),
    ]);
    const { result } = await run(workflow, {
      tools: [tool("act"), tool("undo"), tool("stuck", refused), tool("fail", refused)],
    });
    expect(calls).toEqual(["a", "b", "c", "d", "c~undo", "b~undo", "a~undo"]);
    expect(result.error).toMatchObject({ stepId: "d", path: "d" });
    expect(result.undoErrors).toMatchObject([{ code: "TOOL_REFUSED", stepId: "b", path: "b~undo" }]);
    expect(result.writes.map(({ state, reason }) => [state, reason])).toEqual([
      ["undone", undefined],
      ["undo_failed", "rejected"],
      ["undone", undefined],
      ["failed", undefined],
    ]);
  });

  it.each<[string, ScriptEntry, Partial<RunOptions>, object]>([
    ["refused", refused, {}, { state: "undo_failed", reason: "rejected" }],
    ["failed", new Error("down"), {}, { state: "undo_failed", reason: "failed" }],
    ["in doubt", doubtful, { inDoubt: "fail" }, { state: "undo_in_doubt", reason: "in_doubt" }],
  ])("that %s is told as such", async (_, entry, more, expected) => {
    const { write: tool } = world();
    const { result } = await run(flow([step("a", "act", undoing()), step("b", "fail")]), {
      ...more,
      tools: [tool("act"), tool("undo", entry), tool("fail", refused)],
    });
    expect(result.writes[0]).toMatchObject(expected);
    expect(result.undoErrors).toHaveLength(1);
  });

  it("whose inputs do not resolve is reported without a call, and the others still run", async () => {
    const { calls, write: tool } = world();
    const workflow = flow([
      step("a", "act", undoing()),
      step("b", "act", { compensate: { tool: "undo", inputs: { id: "{{steps.b.result.number}}" } } }),
      step("c", "fail"),
    ]);
    const { result, labels } = await run(workflow, { tools: [tool("act"), tool("undo"), tool("fail", refused)] });
    expect(calls).toEqual(["a", "b", "c", "a~undo"]);
    expect(labels).toContain("b~undo undo_failed");
    expect(result.writes[1]).toMatchObject({ state: "undo_failed", reason: "unresolved" });
    expect(result.undoErrors).toMatchObject([{ code: "UNRESOLVED_REFERENCE", stepId: "b", path: "b~undo" }]);
  });

  it("of a write that nothing undoes is reported as such; a read needs none", async () => {
    const { calls, write: tool, read: look } = world();
    const workflow = flow([step("look", "look"), step("a", "act"), step("b", "act", undoing()), step("c", "fail")]);
    const { result } = await run(workflow, { tools: [tool("act"), tool("undo"), tool("fail", refused), look("look")] });
    expect(calls.slice(-1)).toEqual(["b~undo"]);
    expect(result.writes).toMatchObject([
      { stepId: "a", state: "done", reason: "no_compensation" },
      { stepId: "b", state: "undone" },
      { stepId: "c", state: "failed" },
    ]);
  });

  it("of a read is made where it has a compensation", async () => {
    const { calls, write: tool, read: look } = world();
    const { result } = await run(flow([step("lock", "look", undoing()), step("b", "fail")]), {
      tools: [look("look"), tool("undo"), tool("fail", refused)],
    });
    expect(calls).toEqual(["lock", "b", "lock~undo"]);
    expect(result.status).toBe("failed");
  });

  it("reads what was sent after a person's edits", async () => {
    const undo = write("undo");
    const workflow = flow([
      {
        id: "a",
        tool: "act",
        inputs: { sum: 5 },
        compensate: { tool: "undo", inputs: { sum: "{{steps.a.inputs.sum}}" } },
      },
      step("b", "fail"),
    ]);
    await drain(
      runWorkflow(
        workflow,
        options({
          tools: [write("act"), undo, write("fail", [refused])],
          policy: ({ path }) => (path === "a" ? "ask" : "approve"),
        }),
      ),
      answering({ decision: "approve", fields: { sum: 4 } }),
    );
    expect(undo.calls[0]?.inputs).toEqual({ sum: 4 });
  });

  it.each([
    ["3 where its tool is idempotent", { idempotent: true }, {}, 4],
    ["none where it is not", {}, {}, 1],
    ["as many as the document says", {}, { retries: 2 }, 3],
    ["none where the document says so", { idempotent: true }, { retries: 0 }, 1],
  ])("has retries: %s", async (_, published, compensate, attempts) => {
    const undo = write("undo", [new Error("down")], published);
    const { result, labels } = await run(flow([step("a", "act", undoing("undo", compensate)), step("b", "fail")]), {
      tools: [write("act"), undo, write("fail", [refused])],
    });
    expect(undo.calls.map(({ attempt }) => attempt)).toEqual(Array.from({ length: attempts }, (_, n) => n + 1));
    expect(new Set(undo.calls.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set(["run-1:a~undo"]));
    expect(labels.filter((label) => label === "a~undo retrying")).toHaveLength(attempts - 1);
    expect(result.writes[0]?.state).toBe("undo_failed");
  });

  it.each([
    ["its own", { timeout_ms: 5_000 }, { timeout_ms: 700 }, 700],
    ["its step's", { timeout_ms: 5_000 }, {}, 5_000],
    ["60 s", {}, {}, 60_000],
  ])("has %s time", async (_, own, compensate, timeoutMs) => {
    const clock = fakeClock();
    const start = clock.now();
    let aborted = 0;
    const undo = write("undo", [
      (_inputs, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            aborted = clock.now() - start;
          });
        }),
    ]);
    const workflow = flow([step("a", "act", { ...undoing("undo", compensate), ...own }), step("b", "fail")]);
    const { result } = await run(workflow, {
      clock,
      inDoubt: "fail",
      tools: [write("act"), undo, write("fail", [refused])],
    });
    expect(aborted).toBe(timeoutMs);
    expect(result.writes[0]).toMatchObject({ state: "undo_in_doubt", reason: "in_doubt" });
  });

  it("has a fresh signal, also when the run was cancelled", async () => {
    const controller = new AbortController();
    const signals: boolean[] = [];
    const undo = write("undo", [
      (_inputs, { signal }) => {
        signals.push(signal.aborted);
      },
    ]);
    const { result } = await run(
      flow([step("a", "act", undoing()), { id: "nap", sleep_ms: 1_000 }]),
      { tools: [write("act"), undo], signal: controller.signal },
      (event) => {
        if (event.type === "step" && event.path === "nap") controller.abort();
      },
    );
    expect(result.status).toBe("cancelled");
    expect(signals).toEqual([false]);
  });

  it("of a failed call is not made: the call was not applied", async () => {
    const { calls, write: tool } = world();
    await run(flow([step("a", "fail", undoing())]), { tools: [tool("fail", refused), tool("undo")] });
    expect(calls).toEqual(["a"]);
  });

  it.each([
    [true, ["a", "a~undo"], "undone"],
    [false, ["a"], "in_doubt"],
  ])("of a call in doubt is made only with if_in_doubt (%s)", async (if_in_doubt, expected, state) => {
    const { calls, write: tool } = world();
    const { result } = await run(flow([step("a", "act", undoing("undo", { if_in_doubt }))]), {
      inDoubt: "fail",
      tools: [tool("act", doubtful), tool("undo")],
    });
    expect(calls).toEqual(expected);
    expect(result).toMatchObject({ error: { code: "TOOL_IN_DOUBT" }, writes: [{ state }] });
  });

  it("survives a restart and goes on where it stood, never forward", async () => {
    const { calls, write: tool } = world();
    const store = memoryStore();
    const tools = [tool("act"), tool("undo"), tool("fail", refused)];
    const workflow = flow([
      step("a", "act", undoing()),
      step("b", "act", undoing()),
      step("c", "act", undoing()),
      step("d", "fail"),
      step("e", "act"),
    ]);
    const stream = runWorkflow(workflow, options({ tools, store }));
    await until(stream, (event) => event.type === "step" && event.path === "b~undo" && event.status === "undone");
    await stream.return();
    expect(calls.slice(4)).toEqual(["c~undo", "b~undo"]);
    expect(await store.head("run-1")).toMatchObject({ status: "running", phase: "undoing" });
    const { labels, result } = await drain(resume(store, { tools }));
    expect(labels).toEqual(["a~undo undoing", "a~undo undone", "result failed"]);
    expect(result).toMatchObject({ error: { stepId: "d" }, writes: [{ state: "undone" }, {}, {}, {}] });
  });

  it("stands for children of a completed container by the container's own compensation alone", async () => {
    const { calls, write: tool } = world();
    const child = flow([step("x", "act", undoing("inner")), step("y", "act", undoing("inner"))], { name: "child" });
    const sub = { id: "sub", workflow: "child", inputs: {} };
    const tools = [tool("act"), tool("inner"), tool("outer"), tool("fail", refused)];
    const own = await run(flow([{ ...sub, ...undoing("outer") }, step("z", "fail")]), { tools, workflows: child });
    expect(calls).toEqual(["sub/x", "sub/y", "z", "sub~undo"]);
    expect(own.result.writes.slice(0, 2)).toMatchObject([{ state: "undone" }, { state: "undone" }]);
    calls.length = 0;
    await run(flow([sub, step("z", "fail")]), { tools, workflows: child });
    expect(calls).toEqual(["sub/x", "sub/y", "z", "sub/y~undo", "sub/x~undo"]);
  });
});

describe("a fallback", () => {
  const fallback = { fallback: { tool: "other", inputs: { why: "{{error.code}}: {{error.message}}" } } };

  it("gives the step's result, and the error counts as recovered", async () => {
    const other = write("other", ["plan b"]);
    const workflow = flow([step("a", "act", { ...fallback, ...undoing() }), step("b", "echo")], {
      output: "{{steps.a.result}}",
    });
    const undo = write("undo");
    const { result, labels } = await run(workflow, {
      tools: [write("act", [refused]), other, undo, read("echo")],
    });
    expect(result).toMatchObject({ status: "completed", output: "plan b" });
    expect(result.error).toBeUndefined();
    expect(other.calls[0]?.inputs).toEqual({ why: "TOOL_REFUSED: no" });
    expect(labels.slice(0, 4)).toEqual(["a started", "a failed", "a~fallback started", "a~fallback completed"]);
    expect(result.writes).toMatchObject([
      { path: "a", state: "failed" },
      { path: "a~fallback", state: "done" },
    ]);
  });

  it("is undone by its own compensation alone", async () => {
    const { calls, write: tool } = world();
    const withUndo = { fallback: { tool: "other", inputs: {}, ...undoing("unother", {}) }, ...undoing("unact") };
    const tools = [tool("act", refused), tool("other"), tool("unother"), tool("unact"), tool("fail", refused)];
    await run(flow([step("a", "act", withUndo), step("b", "fail")]), { tools });
    expect(calls).toEqual(["a", "a~fallback", "b", "a~fallback~undo"]);
  });

  it("that fails too fails the step with the first error", async () => {
    const { result, labels } = await run(flow([step("a", "act", fallback)]), {
      tools: [write("act", [new Error("first")]), write("other", [new Error("second")])],
    });
    expect(result.error).toMatchObject({ message: "first", stepId: "a" });
    expect(labels).toEqual(["a started", "a failed", "a~fallback started", "a~fallback failed", "result failed"]);
  });

  it.each<[string, object, ScriptEntry, Partial<RunOptions>, number]>([
    ["a read that failed", { effect: "read" }, new Error("x"), {}, 1],
    ["a write that was not applied", {}, new Error("x"), {}, 1],
    ["a write that was refused", {}, refused, {}, 1],
    ["inputs that do not fit", { inputSchema: { required: ["n"] } }, null, {}, 1],
    ["a rejection", {}, null, { policy: ({ path }) => (path === "a" ? "reject" : "approve") }, 0],
    ["doubt", {}, doubtful, { inDoubt: "fail" }, 0],
    ["a result that can't be kept", {}, () => 1n, {}, 0],
  ])("after %s", async (_, published, entry, more, calls) => {
    const other = write("other", ["plan b"]);
    const act = { ...write("act", [entry], published), ...published };
    const workflow = flow([
      { id: "a", tool: "act", inputs: { n: "{{input.n?}}" }, fallback: { tool: "other", inputs: {} } },
    ]);
    const { result } = await run(workflow, { tools: [act, other], ...more });
    expect(other.calls).toHaveLength(calls);
    expect(result.status).toBe(calls === 1 ? "completed" : "failed");
  });

  it("comes after the retries, and has none of its own", async () => {
    const { calls, write: tool } = world();
    await run(flow([step("a", "act", { ...fallback, retries: 2 })]), {
      tools: [tool("act", new Error("x")), tool("other", new Error("y"))],
    });
    expect(calls).toEqual(["a", "a", "a", "a~fallback"]);
  });

  it("of a container comes once all below it is undone, never where something is left", async () => {
    const { calls, write: tool } = world();
    const child = (more: object) => flow([step("x", "act", more), step("y", "fail")], { name: "child" });
    const workflow = flow([{ id: "sub", workflow: "child", inputs: {}, fallback: { tool: "other", inputs: {} } }]);
    const tools = [tool("act"), tool("undo"), tool("other"), tool("fail", refused)];
    const clean = await run(workflow, { tools, workflows: child(undoing()) });
    expect(calls).toEqual(["sub/x", "sub/y", "sub/x~undo", "sub~fallback"]);
    expect(clean.result).toMatchObject({ status: "completed", output: { id: "other" } });
    calls.length = 0;
    const left = await run(workflow, { tools, workflows: child({}) });
    expect(calls).toEqual(["sub/x", "sub/y"]);
    expect(left.result).toMatchObject({
      status: "failed",
      writes: [{ state: "done", reason: "no_compensation" }, { state: "failed" }],
    });
  });

  it("is asked about like any write", async () => {
    const workflow = flow([step("a", "act", fallback)]);
    const given = options({
      tools: [write("act", [refused]), write("other")],
      policy: ({ purpose }) => (purpose === "fallback" ? "ask" : "approve"),
    });
    expect(await untilQuestion(runWorkflow(workflow, given))).toMatchObject({
      id: "a~fallback?1",
      purpose: "fallback",
      stepId: "a",
      tool: "other",
    });
  });
});

describe("cancelling", () => {
  const controllerOf = () => {
    const controller = new AbortController();
    return { signal: controller.signal, cancel: () => controller.abort() };
  };

  it("withdraws open questions, undoes what was done, and ends the run cancelled", async () => {
    const { calls, write: tool } = world();
    const { signal, cancel } = controllerOf();
    const workflow = flow([step("a", "act", undoing()), step("b", "act", undoing()), step("c", "act")]);
    const { result, labels } = await run(
      workflow,
      { tools: [tool("act"), tool("undo")], signal, policy: ({ path }) => (path === "c" ? "ask" : "approve") },
      (event) => {
        if (event.type === "question") cancel();
      },
    );
    expect(calls).toEqual(["a", "b", "b~undo", "a~undo"]);
    expect(labels.slice(-1)).toEqual(["result cancelled"]);
    expect(result).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
    expect(result.questions).toBeUndefined();
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "undone"]);
  });

  it("from another process takes effect at once, where the store can tell", async () => {
    const store = memoryStore();
    const never = read("look", [() => new Promise(() => {})]);
    const ended = runToEnd(flow([step("look", "look", { retries: 3 })]), options({ tools: never, store }));
    await settled();
    await cancelRun(store, "run-1", { clock: fakeClock() });
    expect(await ended).toMatchObject({ status: "cancelled", writes: [] });
  });

  it("ends waits, and starts nothing more", async () => {
    const { calls, read: look } = world();
    const { signal, cancel } = controllerOf();
    const clock = fakeClock();
    const workflow = flow([{ id: "nap", sleep_ms: 3_600_000 }, step("look", "look")]);
    const { labels } = await run(workflow, { tools: look("look"), clock, signal }, (event) => {
      if (event.type === "step" && event.status === "started") cancel();
    });
    expect(labels).toEqual(["nap started", "nap stopped", "result cancelled"]);
    expect(calls).toEqual([]);
  });

  it("between attempts makes no other", async () => {
    const { signal, cancel } = controllerOf();
    const look = read("look", [new Error("busy")]);
    const { result } = await run(flow([step("look", "look", { retries: 3 })]), { tools: look, signal }, (event) => {
      if (event.type === "step" && event.status === "retrying") cancel();
    });
    expect(result.status).toBe("cancelled");
    expect(look.calls).toHaveLength(1);
  });

  it("gives a write in flight its time: what it answers counts, and is undone", async () => {
    const { signal, cancel } = controllerOf();
    const { calls, write: tool } = world();
    const act = tool("act", async (_inputs, context) => {
      cancel();
      await settled(5);
      expect(context.signal.aborted).toBe(true);
      return { id: 1 };
    });
    const { result } = await run(flow([step("a", "act", undoing()), step("b", "act")]), {
      tools: [act, tool("undo")],
      signal,
      // Time stands still: the grace period is not over.
      clock: fakeClock({ auto: false }),
    });
    expect(calls).toEqual(["a", "a~undo"]);
    expect(result).toMatchObject({ status: "cancelled", writes: [{ stepId: "a", state: "undone" }] });
  });

  it("leaves a write that says nothing in doubt, and that one that is sure is believed", async () => {
    for (const [settle, state] of [
      [() => new Promise(() => {}), "in_doubt"],
      [(signal: AbortSignal) => rejectOn(signal, new Error("aborted by me")), "in_doubt"],
      [(signal: AbortSignal) => rejectOn(signal, new ToolError("stopped in time")), "failed"],
      [(signal: AbortSignal) => rejectOn(signal, refused), "failed"],
    ] as const) {
      const { signal, cancel } = controllerOf();
      const act = write("act", [
        (_inputs, context) => {
          cancel();
          return settle(context.signal);
        },
      ]);
      const { result } = await run(flow([step("a", "act")]), { tools: act, signal, inDoubt: "fail" });
      expect(result).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" }, writes: [{ state }] });
    }
  });

  it("drops a read in flight at once, whatever it does later", async () => {
    const { signal, cancel } = controllerOf();
    const late = deferred();
    const look = read("look", [
      () => {
        setImmediate(cancel);
        return late.promise;
      },
    ]);
    const clock = fakeClock();
    const { labels } = await run(flow([step("look", "look")]), { tools: look, signal, clock });
    late.resolve("too late");
    expect(labels).toEqual(["look started", "look stopped", "result cancelled"]);
    expect(clock.waits).toEqual([]);
  });

  it("changes nothing once undoing has begun", async () => {
    const { signal, cancel } = controllerOf();
    const { calls, write: tool } = world();
    const workflow = flow([step("a", "act", undoing()), step("b", "act", undoing()), step("c", "fail")]);
    const tools = [tool("act"), tool("undo"), tool("fail", refused)];
    const { result } = await run(workflow, { tools, signal }, (event) => {
      if (event.type === "step" && event.status === "undoing") cancel();
    });
    expect(calls.slice(3)).toEqual(["b~undo", "a~undo"]);
    expect(result).toMatchObject({ status: "failed", error: { stepId: "c" } });
  });

  it("twice is once", async () => {
    const store = memoryStore();
    const workflow = flow([{ id: "name", ask: { prompt: "Who?" } }]);
    await runToEnd(workflow, options({ store }));
    const clock = fakeClock();
    await cancelRun(store, "run-1", { clock });
    await cancelRun(store, "run-1", { clock });
    expect(await store.head("run-1")).toMatchObject({ status: "running" });
    expect((await drain(resume(store))).result).toMatchObject({ status: "cancelled" });
    await cancelRun(store, "run-1", { clock });
    expect(await store.head("run-1")).toMatchObject({ status: "cancelled" });
  });

  it("before the start runs nothing", async () => {
    const { calls, read: look } = world();
    const { labels } = await run(flow([step("look", "look")]), { tools: look("look"), signal: AbortSignal.abort() });
    expect(labels).toEqual(["result cancelled"]);
    expect(calls).toEqual([]);
  });

  it("of a run that nobody drives undoes when it is resumed", async () => {
    const { calls, write: tool } = world();
    const store = memoryStore();
    const tools = [tool("act"), tool("undo")];
    const workflow = flow([step("a", "act", undoing()), { id: "name", ask: { prompt: "Who?" } }]);
    await runToEnd(workflow, options({ store, tools }));
    await cancelRun(store, "run-1", { clock: fakeClock() });
    const { result } = await drain(resume(store, { tools }));
    expect(calls).toEqual(["a", "a~undo"]);
    expect(result.status).toBe("cancelled");
  });

  it("while a container that failed awaits a write of its own cancels the run: its undoing has not begun", async () => {
    const { signal, cancel } = controllerOf();
    const { write: tool } = world();
    const slow = tool("slow", (_inputs, context) => {
      setImmediate(cancel);
      return rejectOn(context.signal, new ToolError("not made"));
    });
    const workflow = flow([{ id: "both", parallel: [step("a", "slow"), step("b", "fail")] }]);
    const { result } = await run(workflow, { tools: [slow, tool("fail", refused)], signal });
    expect(result).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
    expect(result.writes).toMatchObject([
      { stepId: "a", state: "failed" },
      { stepId: "b", state: "failed" },
    ]);
  });
});

function rejectOn(signal: AbortSignal, error: Error): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(error);
    signal.addEventListener("abort", () => reject(error));
  });
}

describe("a failing run", () => {
  it("awaits writes in flight and undoes them too", async () => {
    const { calls, write: tool } = world();
    const slow = deferred();
    const workflow = flow([
      { id: "both", parallel: [step("a", "slow", undoing()), step("b", "fail"), { id: "nap", sleep_ms: 9_000 }] },
    ]);
    const tools = [tool("slow", () => slow.promise), tool("undo"), tool("fail", refused)];
    const ended = run(workflow, { tools });
    await settled();
    expect(calls.sort()).toEqual(["both/a", "both/b"]);
    slow.resolve({ id: 1 });
    const { result } = await ended;
    expect(calls).toContain("both/a~undo");
    expect(result).toMatchObject({ error: { stepId: "b" }, writes: [{ stepId: "a", state: "undone" }, {}] });
  });

  it("withdraws approvals and asks of the forward phase", async () => {
    const store = memoryStore();
    const { write: tool, read: look } = world();
    const late = deferred();
    const workflow = flow([
      step("first", "act", undoing("undo")),
      { id: "all", parallel: [step("a", "act"), { id: "name", ask: { prompt: "?" } }, step("look", "look")] },
    ]);
    const ended = run(workflow, {
      store,
      tools: [tool("act"), tool("undo"), look("look", () => late.promise)],
      policy: ({ path, purpose }) => (purpose === "undo" || path === "all/a" ? "ask" : "approve"),
    });
    await settled();
    late.reject(new Error("down"));
    const { result } = await ended;
    expect(result).toMatchObject({ status: "waiting", phase: "undoing", questions: [{ id: "first~undo?1" }] });
    expect(result.questions).toHaveLength(1);
  });

  it("tells in its failed event whether something will be undone", async () => {
    const { write: tool } = world();
    const tools = [tool("act"), tool("undo"), tool("fail", refused)];
    for (const [steps, willUndo] of [
      [[step("a", "act", undoing()), step("b", "fail")], true],
      [[step("a", "act"), step("b", "fail")], false],
      [[step("b", "fail", undoing())], false],
    ] as const) {
      const { events } = await run(flow(steps), { tools });
      expect(events.find((event) => event.type === "step" && event.status === "failed")).toMatchObject({ willUndo });
    }
  });
});
