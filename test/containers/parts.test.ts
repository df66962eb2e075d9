import { describe, expect, it } from "vitest";
import { childrenOf, planNamed, resultAt } from "../../src/core/containers/container.js";
import { containerOf, flowsOf } from "../../src/core/containers/index.js";
import { resolveInputs } from "../../src/core/context.js";
import { defineWorkflow, planOf } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { beginRun, readSettings } from "../../src/core/fold.js";
import type { JsonValue } from "../../src/core/json.js";
import { newRoot, newStep } from "../../src/core/new-node.js";
import type { Children, Step } from "../../src/core/node.js";
import type { JournalRecord } from "../../src/core/record.js";
import { compileTemplate } from "../../src/core/template.js";
import type { NormalizedCall } from "../../src/core/tool-call.js";

/** A step as the journal of a run would have it, and children that the journal does not tell of. */
function stepOf(document: StepDocument, children?: Partial<Children>): Step {
  const plan = planOf(defineWorkflow({ name: "w", steps: [document] }));
  const flow = newRoot(plan);
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

const gone: NormalizedCall = {
  ...{ id: "c", index: 0, type: "function", name: "gone", arguments: {}, raw_arguments: "{}", raw_call: {} },
};

describe("a journal that can't be", () => {
  const child = (document: StepDocument, children: Partial<Children> | undefined, index: number) => () =>
    containerOf(stepOf(document)).child(state, stepOf(document, children), index);
  it.each<[name: string, read: () => unknown, message: string]>([
    ["a child of a step that was not opened", () => childrenOf(stepOf(box)), "Step box has not been opened."],
    ["a workflow that it does not hold", () => planNamed(state, "other"), "The journal holds no workflow named other."],
    ["a branch that the document has not", child(box, undefined, 1), "Step box has no child 1."],
    ["a call that it does not tell of", child(serve, {}, 0), "Step box has no call 0."],
    ["a call that nothing serves", child(serve, { calls: [gone] }, 0), "Step box has no handler gone."],
    [
      "children of a step that runs no others",
      () => containerOf(stepOf({ id: "box", tool: "t" })),
      "Step box runs no others.",
    ],
    ["a workflow within a parallel", () => flowsOf(stepOf(box)), "Step box runs no workflows."],
  ])("is refused: %s", (_name, read, message) => {
    expect(read).toThrowError(expect.objectContaining({ code: "INVALID_JOURNAL", message }));
  });
});

describe("the parts of containers", () => {
  it("are made once for each plan", () => {
    const step = stepOf(box);
    expect(containerOf(step)).toBe(containerOf(step));
  });

  it("read the result of a child that has none as null", () => {
    const step = stepOf(box, {
      outcomes: [{ result: 1 }, undefined, { error: { code: "TOOL_FAILED", message: "x" } }],
    });
    expect([0, 1, 2, 3].map((index) => resultAt(step, index))).toEqual([1, null, null, null]);
  });

  it.each([[[]], ["text"], [null], [1]])("take no inputs but an object: %j", (value) => {
    const inputs = compileTemplate("{{input}}", ["input"]);
    const scope = (input: JsonValue) => ({ input, step: () => undefined });
    expect(() => resolveInputs(inputs, scope(value))).toThrowError(
      expect.objectContaining({ code: "INVALID_INPUT", message: "Inputs have to be an object." }),
    );
    expect(resolveInputs(inputs, scope({ a: 1 }))).toEqual({ a: 1 });
  });
});
