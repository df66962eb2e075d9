import { resolveInputs, scopeOf } from "../context.js";
import { newFlow } from "../new-node.js";
import type { WorkflowCallPlan } from "../plan.js";
import { attemptPath, type Container, planNamed, resultAt } from "./container.js";

/** One child workflow; its result is the step's. */
export function workflowCall(plan: WorkflowCallPlan): Container {
  return {
    concurrency: 1,
    onChildFailure: "fail",
    open: (step) => ({ kind: "opened", path: step.path, attempt: step.attempt, count: 1 }),
    child: (state, step) => newFlow(`${attemptPath(step)}/`, planNamed(state, plan.workflow), step, 0),
    flows: {
      input: (step) => resolveInputs(plan.inputs, scopeOf(step.flow)),
      lay: (_step, _flow, checked) => checked,
    },
    result: (step) => resultAt(step, 0),
  };
}
