import { errorText, isToolweaveError, ToolweaveError } from "../core/errors.js";
import type { JsonObject } from "../core/json.js";
import type { Schema, Validator } from "../core/schema.js";
import { compileSchema } from "../core/schema.js";
import type { ToolInfo } from "./tool-adapter.js";

/** What a tool publishes of itself, read once and checked, with its defaults filled in. */
export interface CheckedTool {
  readonly info: Readonly<ToolInfo & Required<Pick<ToolInfo, "effect" | "idempotent">>>;
  /** Absent where any object will do. */
  readonly schema?: Validator;
}

/**
 * Checks what a tool publishes of itself, wherever it comes from.
 *
 * @param place what to call a tool that has no name: `tools[2]`.
 * @throws ToolweaveError `INVALID_OPTIONS` for a field that is missing or of the wrong kind, `INVALID_SCHEMA` for an
 *   `inputSchema` that is none; both name the tool.
 */
export function checkTool(published: ToolInfo, place: string): CheckedTool {
  if (typeof published !== "object" || published === null) {
    throw invalid(place, "a tool is an object with at least a name");
  }
  const info = snapshot(published, place);
  if (typeof info.name !== "string" || info.name === "") throw invalid(place, "name must be a text that is not empty");
  const subject = toolSubject(info.name);
  if (info.effect !== "read" && info.effect !== "write") throw invalid(subject, 'effect must be "read" or "write"');
  for (const key of ["title", "description", "version", "site"] as const) {
    if (info[key] !== undefined && typeof info[key] !== "string") throw invalid(subject, `${key} must be a text`);
  }
  if (typeof info.idempotent !== "boolean") throw invalid(subject, "idempotent must be true or false");
  if (info.preview !== undefined && typeof info.preview !== "function") {
    throw invalid(subject, "preview must be a function of the inputs");
  }
  return info.inputSchema === undefined ? { info } : { info, schema: compile(info.inputSchema, subject) };
}

function snapshot(published: ToolInfo, place: string): CheckedTool["info"] {
  try {
    const { name, title, description, inputSchema, version, effect = "write", idempotent = false, site } = published;
    const method = published.preview;
    // A method may want its object.
    const preview = typeof method === "function" ? (inputs: JsonObject) => method.call(published, inputs) : method;
    return Object.freeze({ name, title, description, inputSchema, version, effect, idempotent, site, preview });
  } catch (error) {
    throw invalid(place, `what it publishes can't be read: ${errorText(error)}`);
  }
}

function compile(schema: Schema, subject: string): Validator {
  try {
    return compileSchema(schema);
  } catch (error) {
    const pointer = isToolweaveError(error) ? error.pointer : undefined;
    throw new ToolweaveError("INVALID_SCHEMA", `${subject}: ${errorText(error)}`, { pointer, cause: error });
  }
}

/** How a message names a tool, whatever its name is made of. */
export function toolSubject(name: string): string {
  return `Tool ${JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)}`;
}

function invalid(subject: string, expected: string): ToolweaveError {
  return new ToolweaveError("INVALID_OPTIONS", `${subject}: ${expected}.`);
}
