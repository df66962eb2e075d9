import { contextOf } from "./context.js";
import { type ErrorData, ToolweaveError } from "./errors.js";
import { deepFreeze } from "./freeze.js";
import { type JsonObject, type JsonValue, setOwn } from "./json.js";
import type { Flow } from "./node.js";
import type { DispatchPlan, HandlerPlan } from "./plan.js";
import { resolveReference } from "./reference.js";
import type { CallError, NormalizedCall } from "./tool-call.js";

/** What became of one call of a dispatch. */
export interface DispatchEntry {
  success: boolean;
  id: string;
  name: string;
  /** `null` where they could not be read. */
  arguments: JsonObject | null;
  /** The workflow or tool that served it; `null` where none is mapped to its name. */
  flow: string | null;
  result: JsonValue;
  /** The result as the text that the model gets: well-formed Unicode, never cut. */
  content: string;
  /** Of a call without success: which steps failed and why, at most 2,000 characters. */
  error?: string;
}

/** What answers one call, in the shape of a chat. */
export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** What came of a call's handler, or, where none ran, why not. */
export interface HandlerOutcome {
  readonly result?: JsonValue;
  readonly error?: ErrorData | CallError;
  /** What of it could not be undone. */
  readonly undoErrors?: readonly ErrorData[];
}

/** A dispatch that failed: the text is that of its first bad call, whose error is the cause. `entries` tells of every call. */
export class ToolDispatchError extends ToolweaveError {
  override readonly name = "ToolDispatchError";
  readonly entries: readonly DispatchEntry[];

  constructor(message: string, entries: readonly DispatchEntry[], cause?: ErrorData | CallError) {
    super("DISPATCH_FAILED", message, { details: { entries: entries.map(entryJson) }, cause });
    this.entries = entries;
  }
}

/** What a handler is given: what its mapping selects or, of a tool without one, the arguments. */
export function handlerInput(
  plan: Pick<DispatchPlan, "handlers">,
  call: NormalizedCall,
  context: JsonObject,
): JsonObject {
  const mapping = plan.handlers.get(call.name)?.input;
  if (mapping === undefined) return call.arguments ?? {};
  const { arguments: given, name: tool_name, id: tool_call_id } = call;
  const scope = { arguments: given, call: callJson(call), tool_name, tool_call_id, ctx: context };
  const input: Record<string, JsonValue> = {};
  for (const [key, reference] of Object.entries(mapping)) setOwn(input, key, resolveReference(reference, scope));
  return deepFreeze(input);
}

/** What is laid beside the input of every handler workflow: the call. */
export function callMetadata(call: NormalizedCall): JsonObject {
  return {
    tool_call: callJson(call),
    tool_name: call.name,
    tool_arguments: call.arguments,
    tool_call_id: call.id,
    tool_call_index: call.index,
  };
}

/** The call as data. */
export function callJson(call: NormalizedCall): JsonObject {
  const { id, index, type, name, raw_arguments, raw_call, error } = call;
  const json: JsonObject = { id, index, type, name, arguments: call.arguments, raw_arguments, raw_call };
  return Object.freeze(error === undefined ? json : { ...json, error: Object.freeze({ ...error }) });
}

/**
 * The result of a handler workflow, out of its context: `tool_result_value`, else `tool_result_text`, else the output
 * that it declares, else the context without the keys that begin with `_`.
 *
 * @param value what the workflow gave; absent where it failed.
 */
export function resultOfFlow(flow: Flow, value: JsonValue | undefined): JsonValue {
  const output = flow.plan.output === undefined ? undefined : value;
  const context = contextOf(flow, output);
  for (const key of ["tool_result_value", "tool_result_text"]) {
    if (Object.hasOwn(context, key)) return context[key] ?? null;
  }
  if (output !== undefined) return output;
  const shown: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(context)) if (!key.startsWith("_")) setOwn(shown, key, value);
  return Object.freeze(shown);
}

/** Why a call is not run though nothing is wrong with it. */
export const notRun: CallError = {
  code: "NOT_RUN",
  message: "NOT_RUN: this call was not run, since another call of the same turn failed first.",
};

export function tooManyCalls(count: number, maxCalls: number): CallError {
  const message = `${count} tools were called in one turn, and ${maxCalls} are allowed, so none was run. Call fewer at once.`;
  return { code: "TOO_MANY_CALLS", message };
}

const maxNamesTold = 20;

export function unknownTool(name: string, known: Iterable<string>): CallError {
  const names = [...known];
  const told = names.slice(0, maxNamesTold).map((each) => JSON.stringify(each));
  if (names.length > told.length) told.push("…");
  const hint = told.length === 0 ? "No tools can be called." : `Call one of ${told.join(", ")}.`;
  return { code: "UNKNOWN_TOOL", message: `There is no tool named ${JSON.stringify(name.slice(0, 200))}. ${hint}` };
}

/** What came of each call, in call order. */
export function entriesOf(
  plan: Pick<DispatchPlan, "handlers">,
  calls: readonly NormalizedCall[],
  outcomes: readonly (HandlerOutcome | undefined)[],
): DispatchEntry[] {
  return calls.map((call, index) => {
    const outcome = outcomes[index] ?? { error: call.error ?? notRun };
    return entryOf(plan.handlers.get(call.name), call, outcome);
  });
}

function entryOf(handler: HandlerPlan | undefined, call: NormalizedCall, outcome: HandlerOutcome): DispatchEntry {
  const tool = handler?.kind === "tool" ? handler.tool : undefined;
  const flow = handler?.kind === "flow" ? handler.workflow : (tool ?? null);
  const base = { id: call.id, name: call.name, arguments: call.arguments, flow };
  if (outcome.error === undefined) {
    const { result = null } = outcome;
    return Object.freeze({ success: true, ...base, result, content: contentOf(result) });
  }
  const error = failureText([outcome.error, ...(outcome.undoErrors ?? [])], tool);
  const result = outcome.result ?? Object.freeze({ error });
  return Object.freeze({ success: false, ...base, result, content: contentOf(result), error });
}

/** A result as text: a string as it is, anything else as compact JSON. */
export function contentOf(result: JsonValue): string {
  // JSON has lone surrogates escaped.
  return typeof result === "string" ? result.toWellFormed() : JSON.stringify(result);
}

const maxFailureText = 2_000;
const maxReasons = 5;

/**
 * What a model and a person are told of a failed call: steps and reasons; where none says one, that it failed.
 *
 * @param tool the one tool that was called, which is then the only step.
 */
function failureText(errors: readonly (ErrorData | CallError)[], tool?: string): string {
  const reasons = errors.filter(({ message }) => message.trim() !== "").map((error) => reasonOf(error, tool));
  if (reasons.length === 0) return "The call failed.";
  const more = reasons.length > maxReasons ? `; and ${reasons.length - maxReasons} more` : "";
  const text = reasons.slice(0, maxReasons).join("; ") + more;
  return (text.length <= maxFailureText ? text : `${text.slice(0, maxFailureText - 1)}…`).toWellFormed();
}

function reasonOf(error: ErrorData | CallError, tool: string | undefined): string {
  // A model that takes doubt for failure does the thing a second time.
  const text = error.code === "TOOL_IN_DOUBT" ? `${error.message} (it may have been done)` : error.message;
  return "stepId" in error && error.stepId !== undefined ? `${tool ?? error.stepId}: ${text}` : text;
}

/** The error of a dispatch that failed: its first bad call, in call order, tells why. */
export function dispatchError(
  entries: readonly DispatchEntry[],
  outcomes: readonly (HandlerOutcome | undefined)[],
): ToolDispatchError {
  const first = outcomes.findIndex((outcome) => outcome?.error !== undefined && outcome.error.code !== notRun.code);
  return new ToolDispatchError(entries[first]?.error ?? failureText([]), entries, outcomes[first]?.error);
}

/** The six keys that a dispatch writes. */
export function sixKeys(outputKey: string, entries: readonly DispatchEntry[]): JsonObject {
  const list: JsonObject[] = [];
  const byId: Record<string, JsonValue> = {};
  for (const entry of entries) {
    const json = entryJson(entry);
    list.push(json);
    setOwn(byId, entry.id, json);
  }
  const errors = entries.filter(({ success }) => !success).length;
  return Object.freeze({
    [outputKey]: Object.freeze(list),
    [`${outputKey}_count`]: entries.length,
    [`${outputKey}_errors`]: errors,
    [`${outputKey}_all_succeeded`]: errors === 0,
    [`${outputKey}_messages`]: Object.freeze(toolMessages(entries).map((message) => Object.freeze({ ...message }))),
    [`${outputKey}_by_id`]: Object.freeze(byId),
  });
}

/** One message for each call, in call order, whatever happened to it. */
export function toolMessages(entries: readonly DispatchEntry[]): ToolMessage[] {
  return entries.map(({ id, content }) => ({ role: "tool", tool_call_id: id, content }));
}

function entryJson(entry: DispatchEntry): JsonObject {
  return Object.freeze({ ...entry });
}
