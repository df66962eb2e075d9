import { ToolweaveError } from "./errors.js";
import { copyJson, deepestNesting, isJsonArray, type JsonObject, type JsonValue, setOwn } from "./json.js";
import { walk } from "./path.js";

/** What the references of a mapping select from: one tool call, and its parent's context. */
export interface ReferenceScope {
  /** The parsed arguments; `null` where the call has none that could be read. */
  readonly arguments: JsonValue;
  /** The normalized call. */
  readonly call: JsonValue;
  readonly tool_name: JsonValue;
  readonly tool_call_id: JsonValue;
  /** The parent's context; `null` where there is none. */
  readonly ctx: JsonObject | null;
}

/**
 * What a reference selects, as a copy. Objects and arrays are mapped value by value; numbers, booleans and `null` stay.
 *
 * - `tool_name` and `tool_call_id`; `arguments` and `call`, or a dotted path in them; a dotted path behind `ctx.`. A path
 *   that does not resolve as a whole, through own properties, selects `null`.
 * - Any other string: the parent context's own key of exactly that name, else the string itself. `ctx` alone is such a one.
 *
 * What is selected is never read as a reference again.
 *
 * @throws ToolweaveError `RESULT_TOO_LARGE` for a mapping or a selected value nested deeper than `deepestNesting`.
 */
export function resolveReference(reference: JsonValue, scope: ReferenceScope): JsonValue {
  return map(reference, scope, 0);
}

function map(reference: JsonValue, scope: ReferenceScope, depth: number): JsonValue {
  if (typeof reference === "string") return copyJson(select(reference, scope));
  if (typeof reference !== "object" || reference === null) return reference;
  if (depth === deepestNesting) {
    throw new ToolweaveError("RESULT_TOO_LARGE", `The mapping is nested deeper than ${deepestNesting} levels.`);
  }
  if (isJsonArray(reference)) return reference.map((element) => map(element, scope, depth + 1));
  const mapped: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(reference)) setOwn(mapped, key, map(value, scope, depth + 1));
  return mapped;
}

function select(reference: string, scope: ReferenceScope): JsonValue {
  if (reference === "tool_name" || reference === "tool_call_id") return scope[reference];
  const [root, ...path] = reference.split(".");
  if (root === "arguments" || root === "call" || (root === "ctx" && path.length > 0)) {
    return path.includes("") ? null : (walk(scope[root], path).value ?? null);
  }
  const { ctx } = scope;
  return ctx !== null && Object.hasOwn(ctx, reference) ? (ctx[reference] ?? null) : reference;
}
