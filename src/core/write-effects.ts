import { ownCalls } from "./call-sites.js";
import type { Definition } from "./define.js";
import type { CompensationPlan, StepPlan } from "./plan.js";

/** What steps do to the world, and whether all of it can be undone. */
export interface Effect {
  readonly writes: boolean;
  /** Whether a write of theirs is left as it is when the run fails after it: nothing undoes it. */
  readonly strands: boolean;
}

export const noEffect: Effect = { writes: false, strands: false };
const write: Effect = { writes: true, strands: true };

/** What is known of what a step calls. */
export interface Effects {
  isWrite(tool: string): boolean;
  effectOfWorkflow(name: string, caller: Definition): Effect;
}

export function effectOfSteps(definition: Definition, steps: readonly StepPlan[], effects: Effects): Effect {
  return union(steps.map((step) => effectOfStep(definition, step, effects)));
}

export function effectOfStep(definition: Definition, step: StepPlan, effects: Effects): Effect {
  const body = effectOfBody(definition, step, effects);
  return step.fallback === undefined ? body : both(body, effectOfFallback(step, effects));
}

/** Of the step without its fallback. */
export function effectOfBody(definition: Definition, step: StepPlan, effects: Effects): Effect {
  return undoneBy(step.compensate, effectOfAction(definition, step, effects));
}

export function effectOfFallback({ fallback }: StepPlan, effects: Effects): Effect {
  if (fallback === undefined) return noEffect;
  return undoneBy(fallback.compensate, effectOfTool(fallback.tool, effects));
}

function undoneBy(compensate: CompensationPlan | undefined, effect: Effect): Effect {
  return compensate === undefined ? effect : { writes: effect.writes, strands: false };
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
  return effects.isWrite(tool) ? write : noEffect;
}

function union(effects: readonly Effect[]): Effect {
  return effects.reduce(both, noEffect);
}

function both(left: Effect, right: Effect): Effect {
  return { writes: left.writes || right.writes, strands: left.strands || right.strands };
}
