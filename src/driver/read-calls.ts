import { handlerInput, tooManyCalls, unknownTool } from "../core/dispatch.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { Step } from "../core/node.js";
import type { DispatchPlan, HandlerPlan, WorkflowPlan } from "../core/plan.js";
import type { Validation, Validator } from "../core/schema.js";
import type { RunState } from "../core/state.js";
import type { CallError, NormalizedCall } from "../core/tool-call.js";
import { normalizeToolCalls } from "../providers/index.js";
import type { Route } from "./route.js";

/** One call of a set that was checked: what its handler is given, or why it can't be run. */
export type CheckedCall =
  | { readonly handler: HandlerPlan; readonly input: JsonObject; readonly error?: undefined }
  | { readonly error: CallError };

/** What a set of calls is checked against. */
export interface Known {
  readonly plans: ReadonlyMap<string, WorkflowPlan>;
  readonly tools: Route["tools"];
  readonly limits: Route["limits"];
}

/**
 * The calls of a dispatch step, each checked before any handler starts: what is wrong with a call is its `error`.
 *
 * @throws ToolweaveError `UNKNOWN_CALL_SHAPE`, `DUPLICATE_CALL_ID`
 */
export async function readCalls(
  { state, route }: { state: RunState; route: Route },
  step: Step,
  raw: JsonValue,
  context: JsonObject,
): Promise<NormalizedCall[]> {
  const { action } = step.plan;
  if (action.kind !== "tool_dispatch") return [];
  const { tools, limits, scrub } = route;
  // A secret that was escaped in the text of a call stands plain in its arguments.
  const calls = normalizeToolCalls(raw).map((call): NormalizedCall => {
    if (!scrub.finds(call.arguments)) return call;
    return Object.freeze({ ...call, arguments: scrub.value(call.arguments), error: secretInCall });
  });
  const checked = await checkCalls(action, calls, context, { plans: state.plans, tools, limits });
  return calls.map((call, index) => {
    const error = checked[index]?.error;
    return error === undefined ? call : Object.freeze({ ...call, error });
  });
}

/** Checks each call of a set, and their count. No handler has started before all are checked. */
export async function checkCalls(
  plan: Pick<DispatchPlan, "handlers" | "maxCalls">,
  calls: readonly NormalizedCall[],
  context: JsonObject,
  known: Known,
): Promise<readonly CheckedCall[]> {
  if (calls.length > plan.maxCalls) {
    const error = tooManyCalls(calls.length, plan.maxCalls);
    return calls.map(() => ({ error }));
  }
  return Promise.all(calls.map((call) => checkCall(plan, call, context, known)));
}

async function checkCall(
  plan: Pick<DispatchPlan, "handlers">,
  call: NormalizedCall,
  context: JsonObject,
  known: Known,
): Promise<CheckedCall> {
  if (call.error !== undefined) return { error: call.error };
  const handler = plan.handlers.get(call.name);
  if (handler === undefined) return { error: unknownTool(call.name, plan.handlers.keys()) };
  const given = handlerInput(plan, call, context);
  const validation: Validation = (await schemaOf(handler, known)?.validate(given, known.limits)) ?? { value: given };
  if ("issues" in validation) return { error: unfit(inputMismatch(`Tool ${call.name}`, validation.issues).message) };
  const { value } = validation;
  if (!isJsonObject(value)) return { error: unfit(`Tool ${call.name}: its schema has to give an object.`) };
  return { handler, input: handler.kind === "tool" ? given : value };
}

function schemaOf(handler: HandlerPlan, { plans, tools }: Known): Validator | undefined {
  return handler.kind === "tool" ? tools.get(handler.tool)?.schema : plans.get(handler.workflow)?.input;
}

const secretInCall: CallError = {
  code: "SECRET_IN_DATA",
  message: "The arguments hold a secret. A tool gets its secrets from its host, never through a call.",
};

function unfit(message: string): CallError {
  return { code: "INVALID_ARGUMENTS", message };
}
