import { describe, expect, it } from "vitest";
import type { StepDocument } from "../../src/core/document.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { approveAll, deferred, drain, flow, options, read, resume, run, settled, write } from "../driver/harness.js";

const step = (id: string, more: Partial<StepDocument> = {}): StepDocument => ({ id, tool: id, ...more });

describe("parallel", () => {
  it("runs its steps side by side; its result is an object by their ids, which later steps read too", async () => {
    const [a, b, last] = [read("a", ["A"]), read("b", [{ n: 2 }]), read("last", [({ x, y }) => [x, y]])];
    const steps = [
      { id: "both", parallel: [step("a"), step("b")] },
      step("last", { inputs: { x: "{{steps.a.result}}", y: "{{steps.both.result.b.n}}" } }),
    ];
    const { result } = await run(
      flow(steps, { output: { both: "{{steps.both.result}}", last: "{{steps.last.result}}" } }),
      { tools: [a, b, last] },
    );
    expect(result.output).toEqual({ both: { a: "A", b: { n: 2 } }, last: ["A", 2] });
    expect(a.calls.map(({ path }) => path)).toEqual(["both/a"]);
  });

  it("starts all of them before the first is done", async () => {
    const gate = deferred();
    const started: string[] = [];
    const tools = ["a", "b", "c"].map((id) =>
      read(id, [
        () => {
          if (started.push(id) === 3) gate.resolve(1);
          return gate.promise;
        },
      ]),
    );
    const { result } = await run(flow([{ id: "all", parallel: tools.map(({ name }) => step(name)) }]), { tools });
    expect(started).toEqual(["a", "b", "c"]);
    expect(result.status).toBe("completed");
  });

  it("leaves a skipped step out of its result", async () => {
    const tools = [read("a"), read("b", [null])];
    const parallel = [step("a", { when: "{{input.wanted ?? false}}" }), step("b")];
    const { result } = await run(flow([{ id: "some", parallel }]), { tools });
    expect(result.output).toEqual({ b: null });
  });

  it("keeps the order of the document, and any id as data", async () => {
    const gate = deferred();
    const slow = read("slow", [() => gate.promise]);
    const quick = read("toString", [
      () => {
        gate.resolve("s");
        return "t";
      },
    ]);
    const { result } = await run(flow([{ id: "two", parallel: [step("slow"), step("toString")] }]), {
      tools: [slow, quick],
    });
    expect(JSON.stringify(result.output)).toBe('{"slow":"s","toString":"t"}');
  });

  it("fails with the first that fails: reads are dropped, writes in flight awaited, then all is undone", async () => {
    const gate = deferred();
    const begun = deferred();
    const pay = write("pay", [
      () => {
        begun.resolve(undefined);
        return gate.promise;
      },
    ]);
    const look = read("look", [() => new Promise(() => {})]);
    const bad = read("bad", [() => begun.promise.then(() => new Error("broken"))]);
    const back = write("back");
    const parallel = [step("pay", { compensate: { tool: "back" } }), step("look"), step("bad")];
    const pending = run(flow([{ id: "all", parallel }]), { tools: [pay, look, bad, back] });
    await settled();
    gate.resolve({ id: 1 });
    const { result, labels } = await pending;
    expect(result.error).toMatchObject({ message: "broken", path: "all/bad" });
    expect(labels).toContain("all/look stopped");
    expect(back.calls.map(({ path }) => path)).toEqual(["all/pay~undo"]);
    expect(result.writes).toMatchObject([{ path: "all/pay", state: "undone" }]);
  });

  it("starts no other once one failed by itself", async () => {
    const tools = [write("a"), write("b")];
    const parallel = [step("a", { inputs: { x: "{{input.missing}}" } }), step("b")];
    const { result } = await run(flow([{ id: "two", parallel }]), { tools });
    expect(result.error).toMatchObject({ code: "UNRESOLVED_REFERENCE", path: "two/a" });
    expect(tools.map(({ calls }) => calls.length)).toEqual([0, 0]);
  });

  it("asks of several branches at once, answered in any order; an answered one goes on", async () => {
    const [a, b, after] = [write("a"), write("b"), read("after")];
    const branch = (id: string): StepDocument => ({ id: `${id}-flow`, workflow: id });
    const workflows = ["a", "b"].map((id) => flow([step(id), { id: "after", tool: "after" }], { name: id }));
    const store = memoryStore();
    const given = options({ store, tools: [a, b, after], workflows, policy: undefined });
    const workflow = flow([{ id: "both", parallel: [branch("a"), branch("b")] }]);
    const seen: string[] = [];
    const first = await drain(runWorkflow(workflow, given), async (event) => {
      if (event.type !== "question") return;
      seen.push(event.path);
      if (event.path === "both/b-flow/b") await event.answer({ decision: "approve" });
    });
    expect(seen).toEqual(["both/a-flow/a", "both/b-flow/b"]);
    expect(first.result.status).toBe("waiting");
    expect(after.calls.map(({ path }) => path)).toEqual(["both/b-flow/after"]);
    const { result } = await drain(
      resume(store, { tools: [a, b, after], workflows, policy: approveAll }),
      async (event) => {
        if (event.type === "question") await event.answer({ decision: "approve" });
      },
    );
    expect(result.output).toEqual({ "a-flow": "found", "b-flow": "found" });
    expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
  });

  it("may stand in another", async () => {
    const tools = [read("a", [1]), read("b", [2]), read("c", [3])];
    const parallel = [step("a"), { id: "inner", parallel: [step("b"), step("c")] }];
    const { result } = await run(flow([{ id: "outer", parallel }]), { tools });
    expect(result.output).toEqual({ a: 1, inner: { b: 2, c: 3 } });
    expect(tools[2]?.calls[0]?.path).toBe("outer/inner/c");
  });
});
