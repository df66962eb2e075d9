import { evaluateCondition } from "../condition.js";
import { resolveInputs, scopeOf } from "../context.js";
import { ToolweaveError } from "../errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.js";
import { newFlow } from "../new-node.js";
import type { Step } from "../node.js";
import type { RepeatPlan } from "../plan.js";
import type { Completed, Turned } from "../record.js";
import { resolveCompiled } from "../template.js";
import { attemptPath, type Container, childrenOf, planNamed, resultAt } from "./container.js";

/** A child workflow again and again, handing a state on. Its result is `{ state, iterations, result }` of the last turn. */
export function repeat(plan: RepeatPlan): Container {
  return {
    concurrency: 1,
    onChildFailure: "fail",
    allowed: 1,
    open: (step) => ({ kind: "opened", path: step.path, attempt: step.attempt, count: plan.maxIterations }),
    child: (state, step, index) =>
      newFlow(`${attemptPath(step)}[${index}]/`, planNamed(state, plan.workflow), step, index),
    flows: {
      input: (step, flow) => ({
        ...resolveInputs(plan.inputs, scopeOf(step.flow)),
        ...turnState(step, plan, flow.index),
      }),
      // A schema that leaves out what it does not name keeps neither from the turn.
      lay: (step, flow, checked) => ({ ...turnState(step, plan, flow.index), ...checked }),
    },
    close(step): Turned | Pick<Completed, "warnings"> {
      const { started } = childrenOf(step);
      const result = resultAt(step, started - 1);
      if (isDone(step, plan, result)) return {};
      if (own(result, "state") === undefined) {
        throw new ToolweaveError("INVALID_TURN", `Turn ${started} has to give the next state as its property "state".`);
      }
      if (started < plan.maxIterations) return { kind: "turned", path: step.path, index: started };
      throw new ToolweaveError(
        "ITERATIONS_EXHAUSTED",
        `Not done after ${started} turns, which max_iterations allows. Allow more, or let it end sooner.`,
      );
    },
    result(step) {
      const { started } = childrenOf(step);
      const result = resultAt(step, started - 1);
      const state = own(result, "state") ?? stateOf(step, plan, started - 1);
      return Object.freeze({ state, iterations: started, result });
    },
  };
}

function isDone(step: Step, plan: RepeatPlan, result: JsonValue): boolean {
  if (plan.until !== undefined) return evaluateCondition(plan.until, { ...scopeOf(step.flow), result });
  const done = own(result, "done");
  if (typeof done === "boolean") return done;
  const expected = 'has to give { "done": true or false, "state": … }, or the step a condition "until"';
  throw new ToolweaveError("INVALID_TURN", `Turn ${childrenOf(step).started} ${expected}.`);
}

function turnState(step: Step, plan: RepeatPlan, index: number): JsonObject {
  return { state: stateOf(step, plan, index), iteration: index + 1 };
}

/** The state that a turn begins with: what the one before gave. */
function stateOf(step: Step, plan: RepeatPlan, index: number): JsonValue {
  const given = index === 0 ? undefined : own(resultAt(step, index - 1), "state");
  return given ?? resolveCompiled(plan.state, scopeOf(step.flow));
}

function own(value: JsonValue, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
