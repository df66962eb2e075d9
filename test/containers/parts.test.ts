import { describe, expect, it } from "vitest";
import { asObject, childrenOf, planNamed, resultAt } from "../../src/core/containers/container.js";
import { containerOf } from "../../src/core/containers/index.js";
import { defineWorkflow, planOf } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { beginRun, readSettings } from "../../src/core/fold.js";
import { newFlow, newStep } from "../../src/core/new-node.js";
import type { Children, Step } from "../../src/core/node.js";
import type { JournalRecord } from "../../src/core/record.js";

/** A step as the journal of a run would have it, and children that the journal does not tell of. */
function stepOf(document: StepDocument, children?: Partial<Children>): Step {
  const plan = planOf(defineWorkflow({ name: "w", steps: [document] }));
  const flow = newFlow("", plan, undefined, 0);
  const [first] = plan.steps;
  if (first === undefined) throw new Error("There is no step.");
  const step = newStep("box", first, flow, flow);
  const none = { live: new Set<never>(), count: 0, outcomes: [], started: 0, allowed: 0, calls: [], items: undefined };
  if (children !== undefined) step.children = { ...none, failure: undefined, ...children };
  return step;
}

const plain = defineWorkflow({ name: "w", steps: [{ id: "a", tool: "t" }] });
const started: JournalRecord = {
  ...{ kind: "run_started", version: 1, runId: "r", documents: [{ name: "w", document: null }] },
  ...{ input: {}, identity: "i", driver: "d", at: 0 },
};
const state = beginRun(started, new Map([["w", planOf(plain)]]), readSettings);
const box: StepDocument = { id: "box", parallel: [{ id: "a", tool: "t" }] };
const serve: StepDocument = { id: "box", tool_dispatch: { source_key: "calls", tools: { t: { tool: "t" } } } };

describe("a journal that can't be", () => {
  it.each<[string, () => unknown]>([
    ["a child of a step that was not opened", () => childrenOf(stepOf(box))],
    ["a workflow that it does not hold", () => planNamed(state, "other")],
    ["a branch that the document has not", () => containerOf(stepOf(box))?.child(state, stepOf(box), 1)],
    ["a call that it does not tell of", () => containerOf(stepOf(serve))?.child(state, stepOf(serve, {}), 0)],
  ])("is refused: %s", (_name, read) => {
    expect(read).toThrowError(expect.objectContaining({ code: "INVALID_JOURNAL" }));
  });

  it("has no workflow within a parallel", () => {
    const step = stepOf(box, {});
    const container = containerOf(step);
    expect(() => container?.input(step, step.flow)).toThrowError(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(container?.lay(step, step.flow, { a: 1 })).toEqual({ a: 1 });
  });

  it("may hold a call whose handler is gone: it is then a call of no tool", () => {
    const call = {
      id: "c",
      index: 0,
      type: "function",
      name: "gone",
      arguments: {},
      raw_arguments: "{}",
      raw_call: {},
    } as const;
    const step = stepOf(serve, { calls: [call] });
    expect(containerOf(step)?.child(state, step, 0)).toMatchObject({ kind: "call", tool: undefined });
  });

  it("may hold a kind of step that is not known", () => {
    const step = stepOf(box);
    Object.defineProperty(step, "plan", { value: { action: { kind: "later" } } });
    expect(containerOf(step)).toEqual({ kind: "later" });
  });
});

describe("the parts of containers", () => {
  it("make one container for each plan, and none for what runs no others", () => {
    const step = stepOf(box);
    expect(containerOf(step)).toBe(containerOf(step));
    for (const one of [{ tool: "t" }, { sleep_ms: 1 }, { ask: { prompt: "?" } }, { run: () => 1 }]) {
      expect(containerOf(stepOf({ id: "box", ...one }))).toBeUndefined();
    }
  });

  it("read the result of a child that has none as null", () => {
    const step = stepOf(box, {
      outcomes: [{ result: 1 }, undefined, { error: { code: "TOOL_FAILED", message: "x" } }],
    });
    expect([0, 1, 2, 3].map((index) => resultAt(step, index))).toEqual([1, null, null, null]);
  });

  it.each([[[]], ["text"], [null], [1]])("take no inputs but an object: %j", (value) => {
    expect(() => asObject(value)).toThrowError(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(asObject({ a: 1 })).toEqual({ a: 1 });
  });
});
