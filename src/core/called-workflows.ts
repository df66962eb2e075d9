import type { StepPlan, WorkflowPlan } from "./plan.js";

/** The names of the workflows that a workflow's own steps call. */
export function calledWorkflows(plan: WorkflowPlan): Set<string> {
  const names = new Set<string>();
  for (const step of plan.steps) collect(step, names);
  return names;
}

function collect({ action }: StepPlan, names: Set<string>): void {
  switch (action.kind) {
    case "workflow":
    case "repeat":
    case "for_each":
      names.add(action.workflow);
      break;
    case "parallel":
      for (const inner of action.steps) collect(inner, names);
      break;
    case "tool_dispatch":
      for (const handler of action.handlers.values()) if (handler.kind === "flow") names.add(handler.workflow);
      break;
    default:
  }
}
