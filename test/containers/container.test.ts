import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { flow, read, run, write } from "../driver/harness.js";

/** What holds of every step that runs others. */

const inner: StepDocument[] = [
  { id: "book", tool: "book", compensate: { tool: "free", inputs: { id: "{{steps.book.result.id}}" } } },
  { id: "check", tool: "check" },
];
const sub = defineWorkflow({ name: "sub", steps: inner });

/** Each kind of container around the same two steps. */
const containers: [string, Partial<StepDocument>, string][] = [
  ["workflow", { workflow: "sub" }, "box/"],
  ["repeat", { repeat: { workflow: "sub", state: 0, max_iterations: 1, until: { equals: [1, 1] } } }, "box[0]/"],
  ["for_each", { for_each: { items: ["x"], workflow: "sub" } }, "box[0]/"],
  ["tool_dispatch", { tool_dispatch: { source_key: "turn", tools: { sub: { flow: sub } } } }, "box[0]/"],
];

const turn = [{ id: "t", name: "sub", arguments: {} }];
const second = (path: string) => path.replace("box", "box#2");

function tools(check: Parameters<typeof read>[1] = ["ok"]) {
  return {
    book: write("book", [{ id: 1 }, { id: 2 }]),
    free: write("free"),
    check: read("check", check),
    other: write("other"),
  };
}

describe.each(containers)("a %s step", (_kind, action, below) => {
  const box = (more: Partial<StepDocument> = {}): StepDocument => ({ id: "box", ...action, ...more });
  const go = (steps: StepDocument[], all: ReturnType<typeof tools>, more: object = {}) =>
    run(flow(steps), { tools: Object.values(all), workflows: sub, input: { turn }, ...more });

  it("is undone by its children's compensations when a later step fails", async () => {
    const all = tools();
    const { result } = await go([box(), { id: "bad", tool: "check", inputs: { x: "{{input.missing}}" } }], all);
    expect(result.status).toBe("failed");
    expect(all.free.calls).toMatchObject([{ path: `${below}book~undo`, inputs: { id: 1 } }]);
    expect(result.writes).toMatchObject([{ path: `${below}book`, state: "undone" }]);
  });

  it("is undone by its own compensation, which then stands for them all", async () => {
    const all = tools();
    const compensate = { tool: "other", inputs: { whole: "{{steps.box.result}}" } };
    const { result } = await go(
      [box({ compensate }), { id: "bad", tool: "check", inputs: { x: "{{input.missing}}" } }],
      all,
    );
    expect(all.free.calls).toEqual([]);
    expect(all.other.calls).toMatchObject([{ path: "box~undo" }]);
    expect(JSON.stringify(all.other.calls[0]?.inputs)).toContain("ok");
    expect(result.writes).toMatchObject([{ path: `${below}book`, state: "undone", undo: { tool: "other" } }]);
  });

  it("that fails is undone by its children's, not by its own, which was for the whole", async () => {
    const all = tools([new Error("no")]);
    const { result } = await go([box({ compensate: { tool: "other" } })], all);
    expect(result.status).toBe("failed");
    expect(all.free.calls).toHaveLength(1);
    expect(all.other.calls).toEqual([]);
  });

  it("is tried again once all that it did is undone, under paths and keys of their own", async () => {
    const all = tools([new Error("once"), "ok"]);
    const { result, labels } = await go([box({ retries: 1 })], all);
    expect(result.status).toBe("completed");
    expect(labels.filter((label) => label.startsWith("box "))).toEqual([
      "box started",
      "box retrying",
      "box started",
      "box completed",
    ]);
    expect(all.book.calls.map(({ path, idempotencyKey }) => [path, idempotencyKey])).toEqual([
      [`${below}book`, `run-1:${below}book`],
      [`${second(below)}book`, `run-1:${second(below)}book`],
    ]);
    expect(all.free.calls.map(({ inputs }) => inputs.id)).toEqual([1]);
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "done"]);
  });

  it("is not tried again where a write is left", async () => {
    const all = {
      ...tools([new Error("once"), "ok"]),
      free: write("free", [new ToolError("locked", { outcome: "refused" })]),
    };
    const { result } = await go([box({ retries: 2, fallback: { tool: "other" } })], all);
    expect(result.status).toBe("failed");
    expect(result.undoErrors).toMatchObject([{ path: `${below}book~undo` }]);
    expect([all.book.calls.length, all.other.calls.length]).toEqual([1, 0]);
    expect(result.writes).toMatchObject([{ state: "undo_failed" }]);
  });

  it("uses its fallback where all that it did is undone, and is then undone by the fallback's alone", async () => {
    const all = tools([new Error("no"), "ok"]);
    const fallback = { tool: "other", compensate: { tool: "free", inputs: { id: "fallback" } } };
    const { result } = await go(
      [box({ fallback }), { id: "bad", tool: "check", inputs: { x: "{{input.missing}}" } }],
      all,
    );
    expect(all.other.calls).toMatchObject([{ path: "box~fallback" }]);
    expect(all.free.calls.map(({ inputs, path }) => [inputs.id, path])).toEqual([
      [1, `${below}book~undo`],
      ["fallback", "box~fallback~undo"],
    ]);
    expect(result.error?.code).toBe("UNRESOLVED_REFERENCE");
  });

  it("does not fall back after a rejection, nor is it tried again", async () => {
    const all = tools();
    const { result } = await go([box({ retries: 2, fallback: { tool: "other" } })], all, {
      policy: ({ tool }: { tool: string }) => (tool === "book" ? "reject" : "approve"),
    });
    expect(result.status).toBe("failed");
    expect(result.writes).toMatchObject([{ path: `${below}book`, state: "rejected" }]);
    expect(all.other.calls).toEqual([]);
  });

  it("is not tried again where that is useless", async () => {
    const all = { ...tools(), check: read("check", [new ToolError("closed", { outcome: "refused" })]) };
    await go([box({ retries: 2 })], all);
    expect(all.check.calls).toHaveLength(1);
  });

  it("has one budget of time, which ends what is in flight below it", async () => {
    const clock = fakeClock();
    const signals: AbortSignal[] = [];
    const slow = read("check", [
      (_inputs, { signal }) => {
        signals.push(signal);
        return clock.sleep(60_000, signal).then(() => "late");
      },
    ]);
    const all = { ...tools(), check: slow };
    const { result } = await go([box({ timeout_ms: 5_000, retries: 2 })], all, { clock });
    expect(result.error).toMatchObject({ code: "TIMED_OUT", stepId: "box", path: "box" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(all.free.calls).toHaveLength(1);
    expect(all.book.calls).toHaveLength(1);
  });

  it("stands still in time while all that is left waits for a person", async () => {
    const clock = fakeClock();
    const all = tools();
    const answerLate = async () => {
      await clock.sleep(60_000, new AbortController().signal);
      return { decision: "approve" as const };
    };
    const { result } = await go([box({ timeout_ms: 5_000 })], all, {
      clock,
      policy: undefined,
      onQuestion: answerLate,
    });
    expect(result.status).toBe("completed");
  });

  it("is skipped by its condition", async () => {
    const all = tools();
    const { result, labels } = await go(
      [{ id: "first", tool: "check" }, box({ when: { equals: ["{{steps.first.result}}", "no"] } })],
      all,
    );
    expect(labels).toContain("box skipped");
    expect(all.book.calls).toEqual([]);
    expect(result.status).toBe("completed");
  });
});

describe("a workflow step", () => {
  it("gives what its workflow gives: its output, else the last step's result", async () => {
    const look = read("look", [{ n: 1 }]);
    const steps: StepDocument[] = [{ id: "look", tool: "look", inputs: "{{input}}" }];
    const workflows = [
      flow(steps, { name: "plain" }),
      flow(steps, { name: "told", output: { got: "{{steps.look.result.n}}" } }),
    ];
    const outer = flow([
      { id: "a", workflow: "plain", inputs: { x: "{{input.x}}" } },
      { id: "b", workflow: "told" },
    ]);
    const { result } = await run(outer, { tools: look, workflows, input: { x: 5 } });
    expect(result.output).toEqual({ got: 1 });
    expect(look.calls.map(({ inputs, path }) => [path, inputs])).toEqual([
      ["a/look", { x: 5 }],
      ["b/look", {}],
    ]);
  });

  it("checks its input, and lets its inputs be read", async () => {
    const look = read("look");
    const workflows = flow([{ id: "look", tool: "look" }], {
      name: "typed",
      input_schema: { type: "object", properties: { n: { type: "number" } } },
    });
    const outer = flow([{ id: "a", workflow: "typed", inputs: { n: "{{input.n}}" } }], {
      output: "{{steps.a.inputs.n}}",
    });
    expect((await run(outer, { tools: look, workflows, input: { n: 3 } })).result.output).toBe(3);
    const { result } = await run(outer, { tools: look, workflows, input: { n: "three" } });
    expect(result.error).toMatchObject({ code: "INVALID_INPUT", stepId: "a" });
    expect(look.calls).toHaveLength(1);
  });
});
