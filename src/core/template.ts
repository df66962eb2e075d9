import { type CompiledTemplate, compileTemplate, type TemplateNode } from "./compile-template.js";
import { DefinitionError, type ErrorCode, ToolweaveError } from "./errors.js";
import { copyJson, deepestNesting, defaultJsonLimits, isJsonArray, type JsonValue, setOwn } from "./json.js";
import { sizeOf } from "./json-size.js";
import { clip, pathText, type Reference, type Root } from "./parse-template.js";
import { step, walk } from "./path.js";

export { type CompiledTemplate, compileTemplate, type TemplateFault } from "./compile-template.js";
export type { Reference, Root } from "./parse-template.js";

/** What can be read of a step: absent before it is known, and for ever where the step is skipped. */
export interface StepValues {
  readonly result?: JsonValue;
  readonly inputs?: JsonValue;
}

/** What templates read. The values are deeply frozen, so that what is resolved may share them. */
export interface TemplateScope {
  readonly input?: JsonValue;
  step(id: string): StepValues | undefined;
  readonly error?: JsonValue;
  readonly item?: JsonValue;
  readonly index?: number;
  /** The turn's result, in the `until` of a `repeat`. */
  readonly result?: JsonValue;
}

/** A template that led nowhere, or whose value is too large for where it stands. */
export interface Missing {
  readonly code: ErrorCode;
  /** A JSON Pointer to the string that holds it. */
  readonly pointer: string;
  /** Names the template and, of one that led nowhere, how far it led and the keys that are there; never a value. */
  readonly message: string;
}

/**
 * Puts the scope's values in. What holds no template is given as it was compiled, a whole template gives the scope's
 * very value; what is built is frozen.
 *
 * @throws ToolweaveError `UNRESOLVED_REFERENCE`, with the pointer, for the first template that leads nowhere and does
 *   not allow for it. `RESULT_TOO_LARGE`, with the pointer, where what is built is longer than `maxBuiltLength` as JSON,
 *   or nested deeper than `deepestNesting`: values that are built of each other, turn by turn, can double each time.
 */
export function resolveCompiled(compiled: CompiledTemplate, scope: TemplateScope): JsonValue {
  return build(compiled, scope, strict);
}

/** As `resolveCompiled`, but a template that leads nowhere is reported, and then read as though it had a `?`. */
export function resolveLeniently(
  compiled: CompiledTemplate,
  scope: TemplateScope,
): { value: JsonValue; missing: readonly Missing[] } {
  const missing: Missing[] = [];
  const value = build(compiled, scope, { ...strict, report: (each) => void missing.push(each) });
  return { value, missing };
}

/** What the reference leads to; `undefined` where it leads nowhere. `?` and `??` play no part. */
export function lookUp(reference: Reference, scope: TemplateScope): JsonValue | undefined {
  let value = originOf(reference, scope);
  for (const segment of reference.segments) value = step(value, segment);
  return value;
}

function originOf(reference: Reference, scope: TemplateScope): JsonValue | undefined {
  return reference.root === "steps" ? scope.step(reference.stepId)?.[reference.field] : scope[reference.root];
}

/** The JSON text of what templates build, in UTF-16 units. What a host's limits say is asked of the whole, once it is sent. */
const maxBuiltLength = 4 * defaultJsonLimits.maxBytes;

/** What is done with a value that is taken, one that is built, and a template that gives no value. */
interface Mode {
  /** Whether a value is given as it is, and not as a copy. */
  readonly isShared: boolean;
  take(value: JsonValue): JsonValue;
  seal<T extends JsonValue>(built: T): T;
  report(missing: Missing): void;
}

/** Shares what is frozen. */
const strict: Mode = {
  isShared: true,
  take: (value) => value,
  seal: Object.freeze,
  report({ code, message, pointer }) {
    throw new ToolweaveError(code, message, { pointer });
  },
};

/** Shares nothing. */
const isolating: Mode = { ...strict, isShared: false, take: copyJson, seal: (built) => built };

/** One value that is being built. */
interface Building {
  readonly scope: TemplateScope;
  readonly mode: Mode;
  /** What may still be added to its text. */
  left: number;
}

function build({ node }: CompiledTemplate, scope: TemplateScope, mode: Mode): JsonValue {
  // What is given as it is was there before: nothing is built of it.
  if (node.kind === "whole" && mode.isShared) return read(node.reference, scope, mode) ?? null;
  return resolve(node, { scope, mode, left: maxBuiltLength }, 0) ?? null;
}

/** `undefined` where there is nothing to put in: each kind of place has its own way to do without. */
function resolve(node: TemplateNode, building: Building, depth: number): JsonValue | undefined {
  const { mode } = building;
  switch (node.kind) {
    case "literal":
      return mode.take(node.value);
    case "whole":
      return put(node.reference, building, depth);
    case "text": {
      let text = "";
      for (const part of node.parts) {
        // Text has no depth, so that of what it is made of does not matter.
        if (typeof part !== "string") text += asText(put(part, building, 0));
        else {
          building.left -= part.length;
          text += part;
        }
      }
      return text;
    }
    case "array": {
      const array: JsonValue[] = [];
      for (const element of node.elements) {
        if (element.kind === "whole" && element.reference.spread) spread(element.reference, array, building, depth);
        else array.push(resolve(element, building, depth + 1) ?? null);
      }
      return mode.seal(array);
    }
    case "object": {
      const object: Record<string, JsonValue> = {};
      for (const [key, property] of node.properties) {
        const value = resolve(property, building, depth + 1);
        if (value !== undefined) setOwn(object, key, value);
      }
      return mode.seal(object);
    }
  }
}
function read(reference: Reference, scope: TemplateScope, mode: Mode): JsonValue | undefined {
  const value = lookUp(reference, scope);
  if (value !== undefined && (value !== null || reference.fallback === undefined)) return value;
  if (!reference.optional) mode.report(nowhere(reference, scope));
  return reference.fallback;
}

/** What is read, to stand within what is built: there must be room for it. */
function put(reference: Reference, building: Building, depth: number): JsonValue | undefined {
  const { scope, mode } = building;
  const value = read(reference, scope, mode);
  if (value === undefined) return undefined;
  const size = sizeOf(value, building.left);
  if (size !== undefined && depth + size.depth <= deepestNesting) {
    building.left -= size.length;
    return mode.take(value);
  }
  const message = `Template ${clip(reference.text)} makes a value too large: more than ${maxBuiltLength} characters as JSON, or nested deeper than ${deepestNesting} levels. Hand on less.`;
  mode.report({ code: "RESULT_TOO_LARGE", pointer: reference.pointer, message });
  return undefined;
}

function spread(reference: Reference, array: JsonValue[], building: Building, depth: number): void {
  const value = put(reference, building, depth);
  if (value === undefined) return;
  if (isJsonArray(value)) {
    for (const element of value) array.push(element);
  } else {
    const message = `Template ${clip(reference.text)} spreads what ${describe(value)}: it needs an array.`;
    building.mode.report({ code: "UNRESOLVED_REFERENCE", pointer: reference.pointer, message });
  }
}

function asText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function nowhere(reference: Reference, scope: TemplateScope): Missing {
  const { pointer, segments } = reference;
  const origin = originOf(reference, scope);
  const { reached, at } = walk(origin, segments);
  const start = pathText(reference, segments.slice(0, reached));
  const reason =
    at === undefined
      ? `there is no ${start}${reference.root === "steps" ? ", the step was skipped or has not run" : ""}`
      : `${start} ${describe(at)} and has no ${JSON.stringify(clip(String(segments[reached])))}`;
  const message = `Template ${clip(reference.text)} leads nowhere: ${reason}. Read what is there, or allow for its absence with ? or ??.`;
  return { code: "UNRESOLVED_REFERENCE", pointer, message };
}

const maxKeysShown = 20;

/** What a value is, without its content: of an object the keys. */
function describe(value: JsonValue): string {
  if (value === null) return "is null";
  if (typeof value !== "object") return `is a ${typeof value}`;
  if (isJsonArray(value)) return `is an array of length ${value.length}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "is an object without keys";
  const shown = keys.slice(0, maxKeysShown).map((key) => JSON.stringify(clip(key)));
  const more = keys.length > maxKeysShown ? ` and ${keys.length - maxKeysShown} more` : "";
  return `is an object with the keys ${shown.join(", ")}${more}`;
}

/** The values that `resolveTemplate` reads, as plain JSON. */
export interface PlainScope {
  readonly input?: JsonValue;
  readonly steps?: Readonly<Record<string, StepValues>>;
  readonly error?: JsonValue;
  readonly item?: JsonValue;
  readonly index?: number;
}

/**
 * Puts a scope's values into the templates of a value. The result shares nothing with either, and is the caller's.
 *
 * @throws DefinitionError for malformed templates and unknown roots: `problems`, each `INVALID_TEMPLATE`.
 * @throws ToolweaveError `UNRESOLVED_REFERENCE` for a template that leads nowhere and does not allow for it;
 *   `RESULT_TOO_LARGE` for what is nested too deep, or too large.
 */
export function resolveTemplate(value: JsonValue, scope: PlainScope): JsonValue {
  const compiled = typeof value === "string" ? compileString(value) : compileTemplate(value, plainRoots);
  const [fault] = compiled.faults;
  if (fault !== undefined) {
    const problems = compiled.faults.map((each) => ({ code: "INVALID_TEMPLATE" as const, ...each }));
    throw new DefinitionError(fault.message, problems);
  }
  return build(compiled, new ScopeOfPlain(scope), isolating);
}

class ScopeOfPlain implements TemplateScope {
  readonly input;
  readonly error;
  readonly item;
  readonly index;

  constructor(private readonly plain: PlainScope) {
    this.input = plain.input;
    this.error = plain.error;
    this.item = plain.item;
    this.index = plain.index;
  }

  step(id: string): StepValues | undefined {
    const { steps } = this.plain;
    return steps !== undefined && Object.hasOwn(steps, id) ? steps[id] : undefined;
  }
}

const plainRoots: readonly Root[] = ["input", "steps", "error", "item", "index"];

/** Strings compiled before: hosts resolve the same few again and again. */
const compiledStrings = new Map<string, CompiledTemplate>();
const maxCompiledStrings = 200;
const maxCachedLength = 1_000;

function compileString(text: string): CompiledTemplate {
  const known = compiledStrings.get(text);
  if (known !== undefined) return known;
  const compiled = compileTemplate(text, plainRoots);
  if (text.length > maxCachedLength) return compiled;
  if (compiledStrings.size === maxCompiledStrings) compiledStrings.clear();
  compiledStrings.set(text, compiled);
  return compiled;
}
