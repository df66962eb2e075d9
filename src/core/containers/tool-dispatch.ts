import { contextOf } from "../context.js";
import { entriesOf, failureOfEntries, mapReference, selectResult, sixKeys } from "../dispatch.js";
import { ToolweaveError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json.js";
import type { DispatchPlan } from "../plan.js";
import type { CallSnapshot } from "../record.js";
import { newCall, newFlow, type Step } from "../state.js";
import { attemptPath, type Container, childrenOf, planNamed } from "./container.js";

/** One child for each call of a model's turn: a workflow, or a tool. Its result is the six keys. */
export function toolDispatch(plan: DispatchPlan): Container {
  const entries = (step: Step) => entriesOf(plan, childrenOf(step).calls, childrenOf(step).outcomes);
  return {
    concurrency: plan.maxConcurrent,
    letsChildrenFail: plan.ignoreErrors,
    awaitsChildren: true,
    open(step) {
      const context = contextOf(step.flow);
      const key = plan.sourceKey ?? "";
      if (Object.hasOwn(context, key)) return { kind: "read_calls", node: step, raw: context[key] ?? null, context };
      throw new ToolweaveError("UNRESOLVED_REFERENCE", `The context has no key "${key}" that holds the calls.`);
    },
    allowed: (children) => children.count,
    child(state, step, index) {
      const handler = plan.handlers.get(callAt(step, index).name);
      const path = `${attemptPath(step)}[${index}]`;
      if (handler?.kind === "flow") return newFlow(`${path}/`, planNamed(state, handler.workflow), step, index);
      return newCall(path, "step", step, step.plan.id, handler?.tool ?? "", { index });
    },
    input: (step, flow) => handlerInput(step, plan, flow.index),
    callInput: (step, index) => handlerInput(step, plan, index),
    beside: (step, flow) => callMetadata(callAt(step, flow.index)),
    childResult: (flow, value, failed) =>
      selectResult(
        contextOf(flow, failed ? undefined : value),
        flow.plan.output === undefined || failed ? undefined : value,
      ),
    failure: (step) => failureOfEntries(entries(step)),
    close: () => ({}),
    result: (step) => sixKeys(plan.outputKey, entries(step)),
  };
}

/** The inputs of the handler of a call: what its mapping selects, or, of a tool without one, the arguments. */
export function handlerInput(step: Step, plan: DispatchPlan, index: number): JsonObject {
  const call = callAt(step, index);
  const handler = plan.handlers.get(call.name);
  if (handler?.input === undefined) return call.arguments ?? {};
  return mapReference(handler.input, call, contextOf(step.flow));
}

/** What every handler workflow is told of its call. */
export function callMetadata(call: CallSnapshot): JsonObject {
  return {
    tool_call: snapshotJson(call),
    tool_name: call.name,
    tool_arguments: call.arguments,
    tool_call_id: call.id,
    tool_call_index: call.index,
  };
}

function snapshotJson(call: CallSnapshot): JsonValue {
  const { error, ...rest } = call;
  return error === undefined ? rest : { ...rest, error: { ...error } };
}

function callAt(step: Step, index: number): CallSnapshot {
  const call = childrenOf(step).calls[index];
  if (call === undefined) throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} has no call ${index}.`);
  return call;
}
