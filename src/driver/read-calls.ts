import { mapReference } from "../core/dispatch.js";
import { type ErrorData, ToolweaveError } from "../core/errors.js";
import type { JsonObject, JsonValue } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { DispatchPlan, HandlerPlan, WorkflowPlan } from "../core/plan.js";
import type { CallSnapshot } from "../core/record.js";
import type { Validator } from "../core/schema.js";
import type { RunState, Step } from "../core/state.js";
import { normalizeToolCalls } from "../providers/index.js";
import type { Route } from "./call-tool.js";

/** The calls of a dispatch step, each checked before any handler starts: what is wrong with a call is its `error`. */
export async function readCalls(
  { state, route }: { state: RunState; route: Route },
  step: Step,
  raw: JsonValue,
  context: JsonObject,
): Promise<CallSnapshot[]> {
  const { action } = step.plan;
  if (action.kind !== "tool_dispatch") return [];
  return checkCalls(action, normalizeToolCalls(raw), context, { plans: state.plans, route });
}

export async function checkCalls(
  plan: Pick<DispatchPlan, "handlers" | "maxCalls">,
  calls: readonly CallSnapshot[],
  context: JsonObject,
  known: { plans: ReadonlyMap<string, WorkflowPlan>; route: Pick<Route, "tools" | "limits"> },
): Promise<CallSnapshot[]> {
  if (calls.length > plan.maxCalls) {
    throw new ToolweaveError(
      "TOO_MANY_CALLS",
      `The model asked for ${calls.length} calls, and max_calls allows ${plan.maxCalls}. None was run.`,
    );
  }
  return Promise.all(calls.map((call) => checkCall(call, plan.handlers.get(call.name), context, known)));
}

async function checkCall(
  call: CallSnapshot,
  handler: HandlerPlan | undefined,
  context: JsonObject,
  { plans, route }: Parameters<typeof checkCalls>[3],
): Promise<CallSnapshot> {
  if (call.error !== undefined || call.arguments === null) return call;
  if (handler === undefined) return { ...call, error: unknownTool(call.name) };
  const input = handler.input === undefined ? call.arguments : mapReference(handler.input, call, context);
  const tool = handler.kind === "tool" ? route.tools.get(handler.tool) : undefined;
  if (handler.kind === "tool" && tool === undefined) return { ...call, error: unknownTool(handler.tool) };
  const schema: Validator | undefined = handler.kind === "tool" ? tool?.schema : plans.get(handler.workflow)?.input;
  const validation = await schema?.validate(input, route.limits);
  if (validation === undefined || !("issues" in validation)) return call;
  const { message } = inputMismatch(`Tool ${call.name}`, validation.issues);
  return { ...call, error: { code: "INVALID_ARGUMENTS", message } };
}

function unknownTool(name: string): Pick<ErrorData, "code" | "message"> {
  return { code: "UNKNOWN_TOOL", message: `There is no tool named ${JSON.stringify(name)}.` };
}
