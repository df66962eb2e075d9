import { type ErrorData, ToolweaveError } from "./errors.js";
import { type JsonObject, type JsonValue, setOwn, wellFormed } from "./json.js";
import type { DispatchPlan } from "./plan.js";
import type { CallSnapshot } from "./record.js";
import { resolveReference } from "./reference.js";
import type { ChildOutcome } from "./state.js";

/** What became of one call of a dispatch, in call order. */
export interface DispatchEntry {
  success: boolean;
  id: string;
  name: string;
  arguments: JsonObject | null;
  /** The workflow or tool that served it; `null` where none is mapped to its name. */
  flow: string | null;
  result: JsonValue;
  /** The result as the text that the model gets: well-formed Unicode, never cut. */
  content: string;
  error?: string;
}

/** A dispatch that failed: the first bad call under `fail_fast`. `entries` tells of every call. */
export class ToolDispatchError extends ToolweaveError {
  override readonly name = "ToolDispatchError";
  readonly entries: readonly DispatchEntry[];

  constructor(message: string, entries: readonly DispatchEntry[]) {
    super("DISPATCH_FAILED", message, { details: { entries: entries.map(entryJson) } });
    this.entries = entries;
  }
}

/** What a handler's mapping selects for a call. */
export function mapReference(mapping: JsonObject, call: CallSnapshot, ctx: JsonObject): JsonObject {
  const scope = {
    arguments: call.arguments,
    call: { id: call.id, index: call.index, type: call.type, name: call.name, arguments: call.arguments },
    tool_name: call.name,
    tool_call_id: call.id,
    ctx,
  };
  const input: Record<string, JsonValue> = {};
  for (const [key, reference] of Object.entries(mapping)) setOwn(input, key, resolveReference(reference, scope));
  return input;
}

/**
 * The result of a handler workflow, out of its context: `tool_result_value`, else `tool_result_text`, else the output
 * that it declares, else the context without the keys that begin with `_`.
 */
export function selectResult(context: JsonObject, output: JsonValue | undefined): JsonValue {
  for (const key of ["tool_result_value", "tool_result_text"]) {
    if (Object.hasOwn(context, key)) return context[key] ?? null;
  }
  if (output !== undefined) return output;
  const shown: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(context)) if (!key.startsWith("_")) setOwn(shown, key, value);
  return Object.freeze(shown);
}

export function entriesOf(
  plan: Pick<DispatchPlan, "handlers">,
  calls: readonly CallSnapshot[],
  outcomes: readonly (ChildOutcome | undefined)[],
): DispatchEntry[] {
  return calls.map((call, index) => {
    const handler = plan.handlers.get(call.name);
    const flow = handler === undefined ? null : handler.kind === "flow" ? handler.workflow : handler.tool;
    return entryOf(call, flow, outcomes[index]);
  });
}

export const notRun: ErrorData = {
  code: "NOT_RUN",
  message: "NOT_RUN: this call was not run, since another call of the same turn failed first.",
};

function entryOf(call: CallSnapshot, flow: string | null, outcome: ChildOutcome | undefined): DispatchEntry {
  const base = { id: call.id, name: call.name, arguments: call.arguments, flow };
  if (outcome?.result !== undefined && outcome.error === undefined) {
    return { success: true, ...base, result: outcome.result, content: contentOf(outcome.result) };
  }
  const error = failureText(outcome?.error ?? call.error ?? notRun);
  const result = outcome?.result ?? { error };
  return { success: false, ...base, result, content: contentOf(result), error };
}

/** A result as text: a string as it is, anything else as compact JSON. */
export function contentOf(result: JsonValue): string {
  return wellFormed(typeof result === "string" ? result : JSON.stringify(result));
}

const maxFailureText = 2_000;

/** What a model and a person are told of a failed call: step and reason, at most 2,000 characters. */
export function failureText(error: { message: string; stepId?: string }): string {
  const text = error.stepId === undefined ? error.message : `${error.stepId}: ${error.message}`;
  return wellFormed(text.length <= maxFailureText ? text : `${text.slice(0, maxFailureText - 1)}…`);
}

/** The error of a dispatch that failed fast. */
export function failureOfEntries(entries: readonly DispatchEntry[]): ErrorData {
  const bad = entries.find((entry) => !entry.success && entry.error !== notRun.message);
  const text = bad === undefined ? "A call failed." : `Call ${bad.id} (${bad.name}) failed: ${bad.error ?? ""}`;
  return new ToolDispatchError(failureText({ message: text }), entries).toJSON();
}

/** The six keys that a dispatch writes. */
export function sixKeys(outputKey: string, entries: readonly DispatchEntry[]): JsonObject {
  const byId: Record<string, JsonValue> = {};
  for (const entry of entries) setOwn(byId, entry.id, entryJson(entry));
  const errors = entries.filter((entry) => !entry.success).length;
  return Object.freeze({
    [outputKey]: Object.freeze(entries.map(entryJson)),
    [`${outputKey}_count`]: entries.length,
    [`${outputKey}_errors`]: errors,
    [`${outputKey}_all_succeeded`]: errors === 0,
    [`${outputKey}_messages`]: Object.freeze(
      entries.map(({ id, content }) => Object.freeze({ role: "tool", tool_call_id: id, content })),
    ),
    [`${outputKey}_by_id`]: Object.freeze(byId),
  });
}

function entryJson(entry: DispatchEntry): JsonObject {
  return Object.freeze({ ...entry });
}
