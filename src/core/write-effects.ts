import type { Definition } from "./define.js";
import type { StepPlan } from "./plan.js";

/** What steps do to the world, and whether all of it can be undone. */
export interface Effect {
  readonly writes: boolean;
  /** Whether a write of theirs is left as it is when the run fails after it: nothing undoes it. */
  readonly strands: boolean;
}

export const noEffect: Effect = { writes: false, strands: false };

/** What is known of what a step calls. */
export interface Effects {
  isWrite(tool: string): boolean;
  effectOfWorkflow(name: string, caller: Definition): Effect;
}

export function effectOfSteps(definition: Definition, steps: readonly StepPlan[], effects: Effects): Effect {
  return union(steps.map((step) => effectOfStep(definition, step, effects)));
}

export function effectOfStep(definition: Definition, step: StepPlan, effects: Effects): Effect {
  return union([effectOfBody(definition, step, effects), effectOfFallback(step, effects)]);
}

/** Of the step without its fallback. */
export function effectOfBody(definition: Definition, { action, compensate }: StepPlan, effects: Effects): Effect {
  const { writes, strands } = effectOfAction(definition, action, effects);
  return { writes, strands: strands && compensate === undefined };
}

export function effectOfFallback({ fallback }: StepPlan, effects: Effects): Effect {
  if (fallback === undefined) return noEffect;
  const { writes, strands } = effectOfTool(fallback.tool, effects);
  return { writes, strands: strands && fallback.compensate === undefined };
}

function effectOfAction(definition: Definition, action: StepPlan["action"], effects: Effects): Effect {
  switch (action.kind) {
    case "tool":
      return effectOfTool(action.tool, effects);
    case "workflow":
    case "repeat":
    case "for_each":
      return effects.effectOfWorkflow(action.workflow, definition);
    case "parallel":
      return effectOfSteps(definition, action.steps, effects);
    case "tool_dispatch":
      return union(
        [...action.handlers.values()].map((handler) =>
          handler.kind === "tool"
            ? effectOfTool(handler.tool, effects)
            : effects.effectOfWorkflow(handler.workflow, definition),
        ),
      );
    default:
      return noEffect;
  }
}

function effectOfTool(tool: string, effects: Effects): Effect {
  const isWrite = effects.isWrite(tool);
  return { writes: isWrite, strands: isWrite };
}

function union(effects: readonly Effect[]): Effect {
  return { writes: effects.some(({ writes }) => writes), strands: effects.some(({ strands }) => strands) };
}
