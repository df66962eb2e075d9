import { ownCalls } from "./call-sites.js";
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
export function effectOfBody(definition: Definition, step: StepPlan, effects: Effects): Effect {
  const { writes, strands } = effectOfAction(definition, step, effects);
  return { writes, strands: strands && step.compensate === undefined };
}

export function effectOfFallback({ fallback }: StepPlan, effects: Effects): Effect {
  if (fallback === undefined) return noEffect;
  const { writes, strands } = effectOfTool(fallback.tool, effects);
  return { writes, strands: strands && fallback.compensate === undefined };
}

function effectOfAction(definition: Definition, step: StepPlan, effects: Effects): Effect {
  if (step.action.kind === "parallel") return effectOfSteps(definition, step.action.steps, effects);
  return union(
    ownCalls(step).map(({ kind, name }) =>
      kind === "tool" ? effectOfTool(name, effects) : effects.effectOfWorkflow(name, definition),
    ),
  );
}

function effectOfTool(tool: string, effects: Effects): Effect {
  const isWrite = effects.isWrite(tool);
  return { writes: isWrite, strands: isWrite };
}

function union(effects: readonly Effect[]): Effect {
  return { writes: effects.some(({ writes }) => writes), strands: effects.some(({ strands }) => strands) };
}
