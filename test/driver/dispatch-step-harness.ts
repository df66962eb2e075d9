import type { DispatchConfig, StepDocument } from "../../src/core/document.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/core/json.js";
import type { RunOptions } from "../../src/driver/options.js";
import { flow, run } from "./harness.js";

/** A call as data. */
export function call(id: string, name: string, given: JsonObject = {}) {
  return { id, name, arguments: given };
}

/** A workflow that dispatches what its input holds under `turn`. */
export function agent(
  config: Partial<DispatchConfig>,
  more: Partial<StepDocument> = {},
  before: readonly StepDocument[] = [],
) {
  const tool_dispatch = { source_key: "turn", tools: {}, ...config };
  return flow([...before, { id: "serve", tool_dispatch, ...more }]);
}

export function serve(
  config: Partial<DispatchConfig>,
  turn: unknown,
  given: Partial<RunOptions>,
  more: Partial<StepDocument> = {},
) {
  return run(agent(config, more), { ...given, input: { turn } });
}

export function entriesIn(value: JsonValue | undefined): JsonValue {
  return isJsonObject(value) ? (value.tool_results ?? null) : null;
}
