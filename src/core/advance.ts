import { startClock } from "./clock.js";
import { childrenOf } from "./containers/container.js";
import { containerOf, isContainer } from "./containers/index.js";
import { resolveInputs, scopeOf } from "./context.js";
import type { JsonObject } from "./json.js";
import { newCall, newStep } from "./new-node.js";
import type { Flow, Step, ToolCall } from "./node.js";
import type { ToolPlan } from "./plan.js";
import { queue } from "./queue.js";
import type { RunState } from "./state.js";
import { attach } from "./tree.js";

/** Starting what comes next: a workflow's next step, a container's next children. */

export function enterFlow(state: RunState, flow: Flow, input: JsonObject): void {
  flow.input = input;
  flow.clock = startClock(state, flow, flow.plan.timeoutMs);
  startStep(state, flow);
}

/** Starts the step at the flow's cursor; a flow without one is asked what it came to. */
export function startStep(state: RunState, flow: Flow): void {
  const plan = flow.plan.steps[flow.cursor];
  if (plan === undefined) return queue(state, flow);
  const step = newStep(`${flow.path}${plan.id}`, plan, flow, flow);
  flow.current = step;
  addStep(state, step);
}

function addStep(state: RunState, step: Step): void {
  attach(state, step);
  const { action } = step.plan;
  if (!isContainer(action)) {
    step.call = newCall(step.path, "step", step, action.kind === "tool" ? toolCall(step, action) : action);
  }
  queue(state, step);
}

function toolCall({ flow }: Step, { kind, tool, inputs }: ToolPlan): ToolCall {
  return { kind, tool, inputs: () => resolveInputs(inputs, scopeOf(flow)) };
}

/** Starts as many children as may run; a container with none left is asked what it came to. */
export function startChildren(state: RunState, step: Step): void {
  const children = childrenOf(step);
  const container = containerOf(step);
  while (children.started < children.allowed && children.live.size < container.concurrency) {
    const index = children.started++;
    if (children.outcomes[index] !== undefined) continue;
    const child = container.child(state, step, index);
    children.live.add(child);
    if (child.kind === "step") {
      addStep(state, child);
    } else {
      attach(state, child);
      queue(state, child);
    }
  }
  if (children.live.size === 0) queue(state, step);
}
