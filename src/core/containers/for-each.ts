import { resolveInputs, scopeOf } from "../context.js";
import { ToolweaveError } from "../errors.js";
import type { JsonValue } from "../json.js";
import { newFlow } from "../new-node.js";
import type { Step } from "../node.js";
import type { ForEachPlan } from "../plan.js";
import type { Warning } from "../record.js";
import { resolveCompiled } from "../template.js";
import { attemptPath, type Container, childrenOf, planNamed, resultAt } from "./container.js";

/** One child workflow for each item. Its result is theirs, in the order of the items. */
export function forEach(plan: ForEachPlan): Container {
  return {
    concurrency: plan.maxConcurrent,
    onChildFailure: plan.ignoreErrors ? "record" : "fail",
    open: (step) => ({
      kind: "opened",
      path: step.path,
      attempt: step.attempt,
      count: resolveItems(step, plan).length,
    }),
    child: (state, step, index) =>
      newFlow(`${attemptPath(step)}[${index}]/`, planNamed(state, plan.workflow), step, index),
    flows: {
      input(step, flow) {
        const children = childrenOf(step);
        children.items ??= resolveItems(step, plan);
        const scope = { item: children.items[flow.index] ?? null, index: flow.index, ...scopeOf(step.flow) };
        return resolveInputs(plan.inputs, scope);
      },
      lay: (_step, _flow, checked) => checked,
    },
    close(step) {
      const warnings: Warning[] = [];
      childrenOf(step).outcomes.forEach((outcome, index) => {
        if (outcome?.error === undefined) return;
        const { code, message } = outcome.error;
        const path = `${attemptPath(step)}[${index}]`;
        warnings.push({ code: "ITEM_FAILED", message: `Item ${index} failed and is null: ${code}: ${message}`, path });
      });
      return warnings.length > 0 ? { warnings } : {};
    },
    result: (step) =>
      Object.freeze(Array.from({ length: childrenOf(step).count }, (_, index) => resultAt(step, index))),
  };
}

function resolveItems(step: Step, plan: ForEachPlan): readonly JsonValue[] {
  const items = resolveCompiled(plan.items, scopeOf(step.flow));
  if (Array.isArray(items)) return items;
  throw new ToolweaveError("INVALID_ITEMS", "The items have to be an array.", { pointer: "/items" });
}
