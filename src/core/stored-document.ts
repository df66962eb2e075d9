import { isWorkflow, type Workflow } from "./document.js";
import { ToolweaveError } from "./errors.js";
import { deepFreeze } from "./freeze.js";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { isStandardSchema } from "./schema.js";

/** A workflow's document as a journal keeps it: code in it is `null`, and a workflow that it holds is its name. */
export function documentJson(workflow: Workflow): JsonValue {
  const text = JSON.stringify(workflow, (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && value !== workflow && isWorkflow(value)) return value.name;
    return typeof value === "function" || isStandardSchema(value) ? null : value;
  });
  return deepFreeze<JsonValue>(JSON.parse(text));
}

/** @throws ToolweaveError `INVALID_JOURNAL` for what is no document. */
export function storedDocument(stored: JsonValue): JsonObject {
  if (isJsonObject(stored)) return stored;
  throw new ToolweaveError("INVALID_JOURNAL", "The journal holds a workflow document that is no object.");
}

/** A document whose code is not at hand, fit to read its runs by: its functions can't be called, its schemas check nothing. */
export function withoutCode(stored: JsonValue): object {
  const { steps, ...rest } = withoutNull(storedDocument(stored), "input_schema");
  return { ...rest, steps: stepsWithoutCode(steps) };
}

function stepsWithoutCode(steps: JsonValue | undefined): unknown {
  return isJsonArray(steps) ? steps.map(stepWithoutCode) : steps;
}

function stepWithoutCode(step: JsonValue): unknown {
  if (!isJsonObject(step)) return step;
  if (step.run === null) return { ...step, run: notAtHand };
  if (isJsonObject(step.ask)) return { ...step, ask: withoutNull(step.ask, "schema") };
  return step.parallel === undefined ? step : { ...step, parallel: stepsWithoutCode(step.parallel) };
}

function withoutNull(object: JsonObject, key: string): JsonObject {
  if (object[key] !== null) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

function notAtHand(): never {
  throw new ToolweaveError("CODE_REQUIRED", "A run that is only read calls no function.");
}
