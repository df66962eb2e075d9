import { ToolweaveError } from "../errors.js";
import type { Step } from "../node.js";
import type { ActionPlan, ContainerPlan } from "../plan.js";
import type { ChildFlows, Container } from "./container.js";
import { forEach } from "./for-each.js";
import { parallel } from "./parallel.js";
import { repeat } from "./repeat.js";
import { toolDispatch } from "./tool-dispatch.js";
import { workflowCall } from "./workflow.js";

/** Whether a step that does this runs others. */
export function isContainer(action: ActionPlan): action is ContainerPlan {
  const { kind } = action;
  return kind !== "tool" && kind !== "run" && kind !== "ask" && kind !== "sleep";
}

const made = new WeakMap<ContainerPlan, Container>();

/** The container that a step is, made once for each plan. @throws ToolweaveError `INVALID_JOURNAL` for any other step */
export function containerOf({ plan: { action }, path }: Step): Container {
  if (!isContainer(action)) throw new ToolweaveError("INVALID_JOURNAL", `Step ${path} runs no others.`);
  const container = made.get(action) ?? makeContainer(action);
  made.set(action, container);
  return container;
}

/** What the step does with the workflows below it. @throws ToolweaveError `INVALID_JOURNAL` for a step that runs none */
export function flowsOf(step: Step): ChildFlows {
  const { flows } = containerOf(step);
  if (flows === undefined) throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} runs no workflows.`);
  return flows;
}

function makeContainer(plan: ContainerPlan): Container {
  switch (plan.kind) {
    case "workflow":
      return workflowCall(plan);
    case "parallel":
      return parallel(plan);
    case "for_each":
      return forEach(plan);
    case "repeat":
      return repeat(plan);
    case "tool_dispatch":
      return toolDispatch(plan);
  }
}
