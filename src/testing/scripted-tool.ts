import { ToolweaveError } from "../core/errors.js";
import type { JsonObject, JsonValue } from "../core/json.js";
import { copyJson } from "../core/json.js";
import type { Tool, ToolCallContext, ToolInfo } from "../ports/tool-adapter.js";
import { checkTool, toolSubject } from "../ports/tool-info.js";

/** What one call comes to: a value is returned, an error thrown, a function called. */
export type ScriptEntry = JsonValue | undefined | Error | ((inputs: JsonObject, context: ToolCallContext) => unknown);

export interface ScriptedToolOptions extends ToolInfo {
  /** One entry for each call, in order; the last one repeats. */
  script: readonly ScriptEntry[];
}

/** A call that a scripted tool got. */
export interface ScriptedCall extends Pick<ToolCallContext, "attempt" | "idempotencyKey" | "path"> {
  readonly inputs: JsonObject;
}

export interface ScriptedTool extends Tool {
  /** Every call so far, in order. */
  readonly calls: readonly ScriptedCall[];
}

/**
 * A tool that does what its script says, and remembers its calls.
 *
 * @throws ToolweaveError what `defineTool` throws, and `INVALID_OPTIONS` for a script without an entry.
 */
export function scriptedTool({ script, ...published }: ScriptedToolOptions): ScriptedTool {
  const { info } = checkTool(published, "scriptedTool");
  if (script.length === 0) {
    throw new ToolweaveError("INVALID_OPTIONS", `${toolSubject(info.name)}: script must have at least one entry.`);
  }
  const calls: ScriptedCall[] = [];
  return Object.freeze({
    ...info,
    calls,
    execute(inputs: JsonObject, context: ToolCallContext): unknown {
      const { attempt, idempotencyKey, path } = context;
      const entry = script[Math.min(calls.length, script.length - 1)];
      calls.push({ inputs: copyJson(inputs), attempt, idempotencyKey, path });
      if (typeof entry === "function") return entry(inputs, context);
      if (entry instanceof Error) throw entry;
      return entry;
    },
  });
}
