import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, Workflow, WorkflowDocument } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";

/** A workflow of payments, and what the ledger must say after it. */
export interface Shape {
  readonly name: string;
  readonly workflow: Workflow;
  readonly workflows: readonly Workflow[];
  readonly input: JsonObject;
  /** How it ends where nobody cancels, and nobody says that a write did not happen. */
  readonly ends: "completed" | "failed";
  /** Who is paid, and stays paid, when it completes. */
  readonly pays: readonly string[];
  /** Who stays paid when it fails, since nothing undoes it. */
  readonly keeps: readonly string[];
  /** Whether a person, in another process, decides about its writes. */
  readonly asks: boolean;
  /** Whether another process cancels it. */
  readonly isCancelled: boolean;
}

type More = Partial<StepDocument>;

/** A payment that `void` undoes; neither is idempotent. */
const pay = (id: string, inputs: JsonObject = {}, more: More = {}): StepDocument => ({
  id,
  tool: "pay",
  inputs: { to: id, ...inputs },
  compensate: { tool: "void", inputs: { payment: `{{steps.${id}.result.id}}` } },
  ...more,
});

/** A payment that `void_once` undoes; both are idempotent. */
const payOnce = (id: string, inputs: JsonObject = {}): StepDocument =>
  pay(id, inputs, {
    tool: "pay_once",
    compensate: { tool: "void_once", inputs: { payment: `{{steps.${id}.result.id}}` } },
  });

const find = (id: string): StepDocument => ({ id, tool: "find", inputs: { to: id } });

const refused = (id: string): StepDocument => pay(id, { refuse: true });

interface Parts extends Partial<Pick<Shape, "input" | "pays" | "keeps" | "asks" | "isCancelled">> {
  readonly steps: WorkflowDocument["steps"];
  readonly children?: Readonly<Record<string, WorkflowDocument["steps"]>>;
}

function shape(name: string, ends: Shape["ends"], { steps, children = {}, ...more }: Parts): Shape {
  const read = steps.map(({ id }) => [id, `{{steps.${id}.result?}}`]);
  const workflow = defineWorkflow({ name, steps, output: Object.fromEntries(read) });
  const workflows = Object.entries(children).map(([child, steps]) => defineWorkflow({ name: child, steps }));
  return { name, workflow, workflows, input: {}, ends, pays: [], keeps: [], asks: false, isCancelled: false, ...more };
}

const each = (id: string, more: JsonObject = {}): StepDocument => ({
  id,
  for_each: { items: "{{input.items}}", workflow: "one", inputs: { to: "{{item}}" }, max_concurrent: 2, ...more },
});

const one = [find("look"), pay("settle", { to: "{{input.to}}" })];

export const shapes: readonly Shape[] = [
  shape("chain", "completed", {
    steps: [find("due"), pay("ada"), payOnce("bea"), pay("cleo")],
    pays: ["ada", "bea", "cleo"],
  }),
  shape("chain_fails", "failed", {
    steps: [pay("ada"), payOnce("bea"), pay("kept", {}, { compensate: undefined }), pay("cleo"), refused("dora")],
    keeps: ["kept"],
  }),
  shape("parallel", "completed", {
    steps: [{ id: "all", parallel: [pay("ada"), payOnce("bea"), find("due"), pay("cleo")] }, pay("dora")],
    pays: ["ada", "bea", "cleo", "dora"],
  }),
  shape("parallel_fails", "failed", {
    steps: [pay("ada"), { id: "all", parallel: [pay("bea"), payOnce("cleo"), refused("dora"), pay("emma")] }],
  }),
  shape("for_each", "completed", {
    input: { items: ["ada", "bea", "cleo"] },
    steps: [each("each"), payOnce("dora")],
    children: { one },
    pays: ["ada", "bea", "cleo", "dora"],
  }),
  shape("for_each_fails", "failed", {
    input: { items: ["ada", "bea", "cleo"] },
    steps: [payOnce("dora"), each("each"), refused("emma")],
    children: { one },
  }),
  shape("fallback", "failed", {
    steps: [
      pay(
        "ada",
        { refuse: true },
        {
          fallback: {
            tool: "pay_once",
            inputs: { to: "ada" },
            compensate: { tool: "void_once", inputs: { payment: "{{steps.ada.result.id}}" } },
          },
        },
      ),
      pay("bea"),
      refused("cleo"),
    ],
  }),
  shape("retries", "completed", {
    // What a process died over counts as an attempt, too.
    steps: [pay("ada", { flaky: true }, { retries: 3 }), pay("bea")],
    pays: ["ada", "bea"],
  }),
  shape("approved", "completed", {
    steps: [pay("ada"), { id: "both", parallel: [pay("bea"), payOnce("cleo")] }],
    pays: ["ada", "bea", "cleo"],
    asks: true,
  }),
  shape("approved_fails", "failed", { steps: [pay("ada"), payOnce("bea"), refused("cleo")], asks: true }),
  shape("cancelled", "completed", {
    steps: [pay("ada"), payOnce("bea"), { id: "both", parallel: [pay("cleo"), pay("dora")] }, pay("emma")],
    pays: ["ada", "bea", "cleo", "dora", "emma"],
    isCancelled: true,
  }),
];

export function shapeNamed(name: string): Shape {
  const found = shapes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no shape ${name}: ${shapes.map((one) => one.name).join(", ")}.`);
  return found;
}
