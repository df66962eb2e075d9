import { scopeOf } from "../context.js";
import { newFlow } from "../new-node.js";
import type { WorkflowCallPlan } from "../plan.js";
import { resolveCompiled } from "../template.js";
import { asObject, attemptPath, type Container, planNamed, resultAt } from "./container.js";

/** One child workflow; its result is the step's. */
export function workflowCall(plan: WorkflowCallPlan): Container {
  return {
    concurrency: 1,
    letsChildrenFail: false,
    open: (step) => ({ kind: "opened", path: step.path, attempt: step.attempt, count: 1 }),
    allowed: (children) => children.count,
    child: (state, step) => newFlow(`${attemptPath(step)}/`, planNamed(state, plan.workflow), step, 0),
    input: (step) => asObject(resolveCompiled(plan.inputs, scopeOf(step.flow))),
    lay: (_step, _flow, checked) => checked,
    close: () => ({}),
    result: (step) => resultAt(step, 0),
  };
}
