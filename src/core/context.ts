import { ToolweaveError } from "./errors.js";
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from "./json.js";
import type { Flow } from "./node.js";
import type { StepPlan } from "./plan.js";
import { type CompiledTemplate, resolveCompiled, type StepValues, type TemplateScope } from "./template.js";

/** What templates of a workflow's steps read. */
export function scopeOf(flow: Flow): TemplateScope {
  return { input: flow.input ?? null, step: (id) => flow.results.get(id) };
}

/** The scope in which a step's own values can be read too: that of its compensation. */
export function scopeWithOwn(flow: Flow, stepId: string, own: StepValues): TemplateScope {
  return { input: flow.input ?? null, step: (id) => (id === stepId ? own : flow.results.get(id)) };
}

/** Inputs, which one template may give as a whole. @throws ToolweaveError when they do not resolve, or to no object */
export function resolveInputs(inputs: CompiledTemplate, scope: TemplateScope): JsonObject {
  const value = resolveCompiled(inputs, scope);
  if (isJsonObject(value)) return value;
  throw new ToolweaveError("INVALID_INPUT", "Inputs have to be an object.");
}

/** The run's flat record: the input's fields, then each completed step's result under its key, in document order. */
export function contextOf(flow: Flow, output?: JsonValue): JsonObject {
  const context: Record<string, JsonValue> = {};
  lay(context, flow.input ?? {});
  for (const plan of flow.plan.steps) layStep(context, flow, plan);
  if (isJsonObject(output)) lay(context, output);
  return context;
}

function layStep(context: Record<string, JsonValue>, flow: Flow, plan: StepPlan): void {
  if (plan.action.kind === "parallel") for (const inner of plan.action.steps) layStep(context, flow, inner);
  const result = flow.results.get(plan.id)?.result;
  if (result === undefined) return;
  if (plan.action.kind === "tool_dispatch" && isJsonObject(result)) lay(context, result);
  else setOwn(context, plan.outputKey, result);
}

function lay(context: Record<string, JsonValue>, fields: JsonObject): void {
  for (const [key, value] of Object.entries(fields)) setOwn(context, key, value);
}
