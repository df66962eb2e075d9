import { contextOf } from "../context.js";
import { callMetadata, dispatchError, entriesOf, handlerInput, resultOfFlow, sixKeys } from "../dispatch.js";
import { ToolweaveError } from "../errors.js";
import { newCall, newFlow } from "../new-node.js";
import type { ChildOutcome, Step } from "../node.js";
import type { DispatchPlan } from "../plan.js";
import type { RunState } from "../state.js";
import type { NormalizedCall } from "../tool-call.js";
import { attemptPath, type Container, childrenOf, planNamed } from "./container.js";

/** One child for each call of a model's turn: a workflow, or a tool. Its result is the six keys. */
export function toolDispatch(plan: DispatchPlan): Container {
  const entries = (step: Step) => entriesOf(plan, childrenOf(step).calls, childrenOf(step).outcomes);
  const input = (step: Step, index: number) => handlerInput(plan, callAt(step, index), contextOf(step.flow));
  return {
    concurrency: plan.maxConcurrent,
    onChildFailure: plan.ignoreErrors ? "record" : "await",
    open(step) {
      const { sourceKey: key } = plan;
      const context = contextOf(step.flow);
      if (key !== undefined && Object.hasOwn(context, key)) {
        return { kind: "read_calls", node: step, raw: context[key] ?? null, context };
      }
      const why =
        key === undefined ? "The dispatch has no source_key" : `The context has no key ${JSON.stringify(key)}`;
      throw new ToolweaveError("UNRESOLVED_REFERENCE", `${why}: it is where the calls stand.`);
    },
    child(state, step, index) {
      const path = `${attemptPath(step)}[${index}]`;
      const { name } = callAt(step, index);
      const handler = plan.handlers.get(name);
      if (handler === undefined)
        throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} has no handler ${name}.`);
      if (handler.kind === "flow") return newFlow(`${path}/`, planNamed(state, handler.workflow), step, index);
      const { kind, tool } = handler;
      return newCall(path, "step", step, { kind, tool, inputs: () => input(step, index) }, index);
    },
    flows: {
      input: (step, flow) => input(step, flow.index),
      lay: (step, flow, checked) => ({ ...checked, ...callMetadata(callAt(step, flow.index)) }),
      result: (flow, value, failed) => resultOfFlow(flow, failed ? undefined : value),
    },
    failure(step) {
      const error = dispatchError(entries(step), childrenOf(step).outcomes);
      return { ...error.toJSON(), stepId: step.plan.id, path: step.path };
    },
    result(step, state) {
      const { calls, outcomes } = childrenOf(step);
      const told = outcomes.map((outcome, index) => withUndoErrors(outcome, `${attemptPath(step)}[${index}]/`, state));
      return sixKeys(plan.outputKey, entriesOf(plan, calls, told));
    },
  };
}

/** A child that failed was undone by itself: what of that failed belongs to it. */
function withUndoErrors(outcome: ChildOutcome | undefined, path: string, { undoErrors }: RunState) {
  if (outcome?.error === undefined || undoErrors.length === 0) return outcome;
  return { ...outcome, undoErrors: undoErrors.filter((error) => error.path?.startsWith(path)) };
}

function callAt(step: Step, index: number): NormalizedCall {
  const call = childrenOf(step).calls[index];
  if (call === undefined) throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} has no call ${index}.`);
  return call;
}
