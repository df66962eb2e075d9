import type { Step } from "../node.js";
import type { ContainerPlan } from "../plan.js";
import type { Container } from "./container.js";
import { forEach } from "./for-each.js";
import { parallel } from "./parallel.js";
import { repeat } from "./repeat.js";
import { toolDispatch } from "./tool-dispatch.js";
import { workflowCall } from "./workflow.js";

const made = new WeakMap<ContainerPlan, Container>();

/** The container that a step is; `undefined` when it is none. Made once for each plan. */
export function containerOf(step: Step): Container | undefined {
  const { action } = step.plan;
  switch (action.kind) {
    case "tool":
    case "run":
    case "ask":
    case "sleep":
      return undefined;
    default: {
      let container = made.get(action);
      if (container === undefined) {
        container = makeContainer(action);
        made.set(action, container);
      }
      return container;
    }
  }
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
    default:
      return plan satisfies never;
  }
}
