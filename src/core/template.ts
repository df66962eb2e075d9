import { type CompiledTemplate, compileTemplate, type TemplateNode } from "./compile-template.js";
import { DefinitionError, ToolweaveError } from "./errors.js";
import { copyJson, isJsonArray, type JsonValue, setOwn } from "./json.js";
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

/** A template that led nowhere. */
export interface Missing {
  /** A JSON Pointer to the string that holds it. */
  readonly pointer: string;
  /** Names the template, how far it led, and the keys that are there; never a value. */
  readonly message: string;
}

/**
 * Puts the scope's values in. What holds no template is given as it was compiled, a whole template gives the scope's
 * very value; what is built is frozen.
 *
 * @throws ToolweaveError `UNRESOLVED_REFERENCE`, with the pointer, for the first template that leads nowhere and does
 *   not allow for it.
 */
export function resolveCompiled(compiled: CompiledTemplate, scope: TemplateScope): JsonValue {
  return resolve(compiled.node, scope, strict) ?? null;
}

/** As `resolveCompiled`, but a template that leads nowhere is reported, and then read as though it had a `?`. */
export function resolveLeniently(
  compiled: CompiledTemplate,
  scope: TemplateScope,
): { value: JsonValue; missing: readonly Missing[] } {
  const missing: Missing[] = [];
  const value = resolve(compiled.node, scope, { ...strict, report: (each) => void missing.push(each) });
  return { value: value ?? null, missing };
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

/** What is done with a value that is taken, one that is built, and a template that leads nowhere. */
interface Mode {
  take(value: JsonValue): JsonValue;
  seal<T extends JsonValue>(built: T): T;
  report(missing: Missing): void;
}

/** Shares what is frozen. */
const strict: Mode = {
  take: (value) => value,
  seal: Object.freeze,
  report({ message, pointer }) {
    throw new ToolweaveError("UNRESOLVED_REFERENCE", message, { pointer });
  },
};

/** Shares nothing. */
const isolating: Mode = { ...strict, take: copyJson, seal: (built) => built };

/** `undefined` where there is nothing to put in: each kind of place has its own way to do without. */
function resolve(node: TemplateNode, scope: TemplateScope, mode: Mode): JsonValue | undefined {
  switch (node.kind) {
    case "literal":
      return mode.take(node.value);
    case "whole":
      return read(node.reference, scope, mode);
    case "text": {
      let text = "";
      for (const part of node.parts) text += typeof part === "string" ? part : asText(read(part, scope, mode));
      return text;
    }
    case "array": {
      const array: JsonValue[] = [];
      for (const element of node.elements) {
        if (element.kind === "whole" && element.reference.spread) spread(element.reference, array, scope, mode);
        else array.push(resolve(element, scope, mode) ?? null);
      }
      return mode.seal(array);
    }
    case "object": {
      const object: Record<string, JsonValue> = {};
      for (const [key, property] of node.properties) {
        const value = resolve(property, scope, mode);
        if (value !== undefined) setOwn(object, key, value);
      }
      return mode.seal(object);
    }
  }
}

function read(reference: Reference, scope: TemplateScope, mode: Mode): JsonValue | undefined {
  const value = lookUp(reference, scope);
  if (value !== undefined && (value !== null || reference.fallback === undefined)) return mode.take(value);
  if (!reference.optional) mode.report(nowhere(reference, scope));
  return reference.fallback;
}

function spread(reference: Reference, array: JsonValue[], scope: TemplateScope, mode: Mode): void {
  const value = read(reference, scope, mode);
  if (value === undefined) return;
  if (isJsonArray(value)) {
    for (const element of value) array.push(element);
  } else {
    const message = `Template ${clip(reference.text)} spreads what ${describe(value)}: it needs an array.`;
    mode.report({ pointer: reference.pointer, message });
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
  return { pointer, message };
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
 *   `RESULT_TOO_LARGE` for a value of the scope that is nested too deep.
 */
export function resolveTemplate(value: JsonValue, scope: PlainScope): JsonValue {
  const compiled = typeof value === "string" ? compileString(value) : compileTemplate(value, plainRoots);
  const [fault] = compiled.faults;
  if (fault !== undefined) {
    const problems = compiled.faults.map((each) => ({ code: "INVALID_TEMPLATE" as const, ...each }));
    throw new DefinitionError(fault.message, problems);
  }
  return resolve(compiled.node, new ScopeOfPlain(scope), isolating) ?? null;
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
