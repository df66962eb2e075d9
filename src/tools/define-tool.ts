import { ToolweaveError } from "../core/errors.js";
import type { JsonObject, JsonValue } from "../core/json.js";
import type { InferOutput, JsonSchema, Schema } from "../core/schema.js";
import type { Tool, ToolCallContext, ToolInfo } from "../ports/tool-adapter.js";
import { checkTool, toolSubject } from "../ports/tool-info.js";

/** What `execute` is given: the schema's output, as JSON. A `Date` that the schema makes arrives as its text. */
export type ToolInputs<S> = AsJson<InferOutput<S>>;

type AsJson<T> = T extends JsonValue
  ? T
  : T extends { toJSON(): infer Json }
    ? Json
    : T extends object
      ? { [Key in keyof T]: AsJson<T[Key]> }
      : T;

/** The fields of `ToolInfo`, and the work itself. */
export interface ToolOptions<S extends Schema> extends Omit<ToolInfo, "inputSchema"> {
  /** JSON Schema (2020-12) or any Standard Schema: `execute`'s inputs are typed from it. @default any object */
  inputSchema?: S;
  /**
   * Does the work. What it returns is the result, as JSON; what it throws is its failure: a `ToolError` says what that
   * means, see `readFailure` for any other. The inputs have been checked; they are its own to change.
   */
  execute(inputs: ToolInputs<S>, context: ToolCallContext): Promise<unknown> | unknown;
}

const optionNames: ReadonlySet<string> = new Set<keyof ToolOptions<Schema>>([
  "name",
  "title",
  "description",
  "inputSchema",
  "version",
  "effect",
  "idempotent",
  "site",
  "preview",
  "execute",
]);

/**
 * Makes a tool, typed from its schema. It is frozen, and goes wherever tools are wanted.
 *
 * @throws ToolweaveError `INVALID_OPTIONS` for an option that is missing, unknown or of the wrong kind,
 *   `INVALID_SCHEMA` for an `inputSchema` that is none.
 */
export function defineTool<S extends Schema = JsonSchema>(options: ToolOptions<S>): Tool {
  const { info } = checkTool(options, "defineTool");
  const subject = toolSubject(info.name);
  const unknown = Object.keys(options).find((key) => !optionNames.has(key));
  if (unknown !== undefined) {
    throw new ToolweaveError(
      "INVALID_OPTIONS",
      `${subject}: unknown option ${JSON.stringify(unknown)}. Known are ${[...optionNames].join(", ")}.`,
    );
  }
  if (typeof options.execute !== "function") {
    throw new ToolweaveError(
      "INVALID_OPTIONS",
      `${subject}: execute must be a function of the inputs and the call's context.`,
    );
  }
  return Object.freeze({
    ...info,
    // The inputs are the schema's output: every route to a tool checks them first, which no type can tell.
    execute: (inputs: JsonObject, context: ToolCallContext) => options.execute(inputs as ToolInputs<S>, context),
  });
}
