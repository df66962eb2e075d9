import { ToolweaveError } from "../errors.js";
import { type JsonValue, setOwn } from "../json.js";
import { newStep } from "../new-node.js";
import type { ParallelPlan } from "../plan.js";
import { attemptPath, type Container } from "./container.js";

/** Steps side by side, in the workflow of the container. Its result is an object by their ids, without those that were skipped. */
export function parallel(plan: ParallelPlan): Container {
  return {
    concurrency: plan.steps.length,
    onChildFailure: "fail",
    open: (step) => ({ kind: "opened", path: step.path, attempt: step.attempt, count: plan.steps.length }),
    child(_state, step, index) {
      const inner = plan.steps[index];
      if (inner === undefined) throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} has no child ${index}.`);
      return newStep(`${attemptPath(step)}/${inner.id}`, inner, step.flow, step, index);
    },
    result(step) {
      const result: Record<string, JsonValue> = {};
      for (const { id } of plan.steps) {
        const inner = step.flow.results.get(id)?.result;
        if (inner !== undefined) setOwn(result, id, inner);
      }
      return Object.freeze(result);
    },
  };
}
