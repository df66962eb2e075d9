import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, WorkflowDocument } from "../../src/core/document.js";
import type { RunOptions } from "../../src/driver/options.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import type { ScriptEntry } from "../../src/testing/scripted-tool.js";
import { flow, read, run, write } from "../driver/harness.js";

type Repeat = NonNullable<StepDocument["repeat"]>;

/** One turn: a tool is given all that the turn's workflow is given, and its answer is the turn's. */
function turnOf(more: Partial<WorkflowDocument> = {}) {
  return defineWorkflow({ name: "turn", steps: [{ id: "work", tool: "work", inputs: "{{input}}" }], ...more });
}

function again(repeat: Partial<Repeat>, given: Partial<RunOptions>, more: Partial<StepDocument> = {}) {
  const step = { id: "again", repeat: { workflow: "turn", state: 0, max_iterations: 5, ...repeat }, ...more };
  return run(flow([step]), { workflows: turnOf(), ...given });
}

describe("repeat", () => {
  it("hands the state on, and gives each turn its number, beside the inputs", async () => {
    const work = read("work", [
      { done: false, state: { n: 1 }, note: "lost" },
      { done: false, state: { n: 2 } },
      { done: true, state: { n: 3 }, why: "enough" },
    ]);
    const { result } = await again(
      { inputs: { goal: "{{input.goal}}" }, state: { n: 0 } },
      { tools: work, input: { goal: 3 } },
    );
    expect(work.calls.map(({ inputs }) => inputs)).toEqual([
      { goal: 3, state: { n: 0 }, iteration: 1 },
      { goal: 3, state: { n: 1 }, iteration: 2 },
      { goal: 3, state: { n: 2 }, iteration: 3 },
    ]);
    expect(work.calls.map(({ path }) => path)).toEqual(["again[0]/work", "again[1]/work", "again[2]/work"]);
    const last = { done: true, state: { n: 3 }, why: "enough" };
    expect(result.output).toEqual({ state: { n: 3 }, iterations: 3, result: last });
  });

  it.each<[string, Repeat["until"]]>([
    ["a template", "{{result.ready}}"],
    ["a comparison", { greater_than: ["{{result.state}}", "{{input.limit}}"] }],
    ["what may be missing", { not: { exists: "{{result.more}}" } }],
  ])("ends when its condition holds: %s", async (_name, until) => {
    const script: ScriptEntry[] = [
      { state: 1, ready: false, more: true },
      { state: 2, ready: 0, more: null },
      { state: 9, ready: "yes" },
    ];
    const { result } = await again({ until }, { tools: read("work", script), input: { limit: 5 } });
    expect(result.output).toEqual({ state: 9, iterations: 3, result: { state: 9, ready: "yes" } });
  });

  it("needs no next state where it ends", async () => {
    const { result } = await again({ state: "first" }, { tools: read("work", [{ done: true }]) });
    expect(result.output).toEqual({ state: "first", iterations: 1, result: { done: true } });
  });

  it.each<[string, Partial<Repeat>, unknown, string]>([
    ["done is missing", {}, { state: 1 }, "INVALID_TURN"],
    ["done is no boolean", {}, { done: "no", state: 1 }, "INVALID_TURN"],
    ["the turn gives no object", {}, null, "INVALID_TURN"],
    ["done is inherited", {}, JSON.parse('{"__proto__":{"done":true},"state":1}'), "INVALID_TURN"],
    ["the next state is missing", {}, { done: false }, "INVALID_TURN"],
    ["the next state is missing under until", { until: "{{result.ok}}" }, { ok: false }, "INVALID_TURN"],
    ["its condition reads what is not there", { until: "{{result.ok}}" }, { state: 1 }, "UNRESOLVED_REFERENCE"],
    ["it runs out", { max_iterations: 2 }, { done: false, state: 1 }, "ITERATIONS_EXHAUSTED"],
  ])("fails where %s", async (_name, repeat, answer, code) => {
    const { result } = await again(repeat, { tools: read("work", [answer as never]) });
    expect(result.error).toMatchObject({ code, stepId: "again", path: "again" });
  });

  it("fails with a failed turn, and undoes the turns before, newest first", async () => {
    const work = write("work", [{ done: false, state: 1 }, { done: false, state: 2 }, new Error("third")]);
    const back = write("back");
    const compensate = { tool: "back", inputs: { state: "{{steps.work.result.state}}" } };
    const workflows = turnOf({ steps: [{ id: "work", tool: "work", compensate }] });
    const { result } = await again({}, { tools: [work, back], workflows });
    expect(result.error).toMatchObject({ message: "third", path: "again[2]/work" });
    expect(back.calls.map(({ inputs }) => inputs.state)).toEqual([2, 1]);
  });

  it("undoes its turns also where it runs out by itself", async () => {
    const work = write("work", [{ done: false, state: 1 }]);
    const back = write("back");
    const workflows = turnOf({ steps: [{ id: "work", tool: "work", compensate: { tool: "back" } }] });
    const { result, labels } = await again({ max_iterations: 2 }, { tools: [work, back], workflows });
    expect(result.error?.code).toBe("ITERATIONS_EXHAUSTED");
    expect(back.calls).toHaveLength(2);
    expect(labels.filter((label) => label.startsWith("again "))).toEqual(["again started", "again failed"]);
  });

  it("waits between turns, not before the first nor after the last", async () => {
    const clock = fakeClock();
    const work = read("work", [
      { done: false, state: 1 },
      { done: false, state: 2 },
      { done: true, state: 3 },
    ]);
    await again({ delay_ms: 700 }, { tools: work, clock });
    expect(clock.waits.filter((ms) => ms > 0)).toEqual([700, 700]);
  });

  it("starts anew when it is tried again", async () => {
    const work = read("work", [{ done: false, state: 1 }, new Error("once"), { done: true, state: 5 }]);
    const { result } = await again({}, { tools: work }, { retries: 1 });
    expect(result.output).toMatchObject({ state: 5, iterations: 1 });
    expect(work.calls.map(({ path, inputs }) => [path, inputs.state])).toEqual([
      ["again[0]/work", 0],
      ["again[1]/work", 1],
      ["again#2[0]/work", 0],
    ]);
  });

  it("is checked as the turn's input: state and iteration too, and the turn gets what its schema gives", async () => {
    const input_schema = z.object({
      state: z.object({ n: z.number().default(7) }),
      iteration: z.number(),
      goal: z.string(),
    });
    const work = read("work", [
      { done: false, state: {} },
      { done: true, state: { n: 1 } },
    ]);
    const { result } = await again(
      { state: {}, inputs: { goal: "x" } },
      { tools: work, workflows: turnOf({ input_schema }) },
    );
    expect(result.status).toBe("completed");
    expect(work.calls.map(({ inputs }) => inputs)).toEqual([
      { goal: "x", state: { n: 7 }, iteration: 1 },
      { goal: "x", state: { n: 7 }, iteration: 2 },
    ]);

    const wrong = read("work", [{ done: false, state: "text" }]);
    const failed = await again(
      { state: {}, inputs: { goal: "x" } },
      { tools: wrong, workflows: turnOf({ input_schema }) },
    );
    expect(failed.result.error).toMatchObject({ code: "INVALID_INPUT", stepId: "again" });
  });

  it("gives the turn its state also where the schema leaves unknown keys out", async () => {
    const work = read("work", [{ done: true, state: 1 }]);
    const workflows = turnOf({ input_schema: z.object({ goal: z.string() }) });
    await again({ state: 4, inputs: { goal: "x" } }, { tools: work, workflows });
    expect(work.calls[0]?.inputs).toEqual({ goal: "x", state: 4, iteration: 1 });
  });
});
