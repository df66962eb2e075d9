import type { CallTool } from "../core/effect.js";
import { errorToJson, isToolweaveError, ToolweaveError } from "../core/errors.js";
import { isJsonObject, type JsonObject } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { Validation } from "../core/schema.js";
import { outcome, type Prepared, type Route } from "./route.js";
import { refuseSecrets, type Scrubber } from "./scrub.js";
import type { ListedTool } from "./tool-list.js";
import { failed } from "./tool-result.js";

export function withInputs(
  route: Route,
  tool: ListedTool,
  effect: CallTool,
  go: (inputs: JsonObject) => Prepared | Promise<Prepared>,
): Prepared | Promise<Prepared> {
  const validation = tool.schema?.validate(effect.inputs, route.limits) ?? { value: effect.inputs };
  if (!(validation instanceof Promise)) return withValid(route, tool, validation, go);
  return validation.then((settled) => withValid(route, tool, settled, go));
}

function withValid(
  route: Route,
  tool: ListedTool,
  validation: Validation,
  go: (inputs: JsonObject) => Prepared | Promise<Prepared>,
): Prepared | Promise<Prepared> {
  try {
    return go(fitting(tool, validation, route.scrub));
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return outcome(failed(route, { outcome: "not_applied", error: errorToJson(error) }));
  }
}

function fitting({ name }: ListedTool, validation: Validation, scrub: Scrubber): JsonObject {
  if ("issues" in validation) throw inputMismatch(`Tool ${name}`, validation.issues);
  const { value } = validation;
  if (!isJsonObject(value)) {
    throw new ToolweaveError("INVALID_INPUT", `Tool ${name}: its schema has to give an object.`);
  }
  refuseSecrets(scrub, value, `The input of tool ${name}`);
  return value;
}
