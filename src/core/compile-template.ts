import { deepestNesting, isJsonArray, type JsonValue } from "./json.js";
import { clip, parseText, type Reference, type Root } from "./parse-template.js";
import { pointerTo } from "./path.js";

export interface TemplateFault {
  /** A JSON Pointer to the string at fault. */
  readonly pointer: string;
  readonly message: string;
}

/** A value whose strings are parsed. */
export interface CompiledTemplate {
  /** Every template that is well-formed, in the order of the document. */
  readonly references: readonly Reference[];
  /** What is wrong. A value with a fault is not to be resolved. */
  readonly faults: readonly TemplateFault[];
  readonly node: TemplateNode;
}

/** A part of a compiled value. Whatever holds no template is one literal, the very value that was compiled. */
export type TemplateNode =
  | { readonly kind: "literal"; readonly value: JsonValue }
  | { readonly kind: "whole"; readonly reference: Reference }
  | { readonly kind: "text"; readonly parts: readonly (string | Reference)[] }
  | { readonly kind: "array"; readonly elements: readonly TemplateNode[] }
  | { readonly kind: "object"; readonly properties: readonly Property[] };

type Property = readonly [key: string, node: TemplateNode];

/**
 * Parses every string of a value, once and for all. Keys are no templates. Never throws: see `faults`.
 *
 * @param roots what may be read at this place.
 * @param base the JSON Pointer of the value itself, which all pointers begin with. @default ""
 */
export function compileTemplate(value: JsonValue, roots: readonly Root[], base = ""): CompiledTemplate {
  const compilation: Compilation = { roots, references: [], faults: [] };
  const node = compile(value, { pointer: base, depth: 0, inArray: false }, compilation);
  return { references: compilation.references, faults: compilation.faults, node };
}

interface Compilation {
  readonly roots: readonly Root[];
  readonly references: Reference[];
  readonly faults: TemplateFault[];
}

interface Place {
  readonly pointer: string;
  readonly depth: number;
  /** Whether the value is an element of an array, where a spread may stand. */
  readonly inArray: boolean;
}

function compile(value: JsonValue, place: Place, compilation: Compilation): TemplateNode {
  if (typeof value === "string") return compileText(value, place, compilation);
  const literal: TemplateNode = { kind: "literal", value };
  if (typeof value !== "object" || value === null) return literal;
  const { pointer, depth } = place;
  if (depth === deepestNesting) {
    compilation.faults.push({ pointer, message: `The value is nested deeper than ${deepestNesting} levels.` });
    return literal;
  }
  const inArray = isJsonArray(value);
  let isLiteral = true;
  const properties: Property[] = [];
  for (const [key, child] of Object.entries<JsonValue>(value)) {
    const node = compile(child, { pointer: pointer + pointerTo([key]), depth: depth + 1, inArray }, compilation);
    isLiteral &&= node.kind === "literal" && node.value === child;
    properties.push([key, node]);
  }
  if (isLiteral) return literal;
  return inArray ? { kind: "array", elements: properties.map(([, node]) => node) } : { kind: "object", properties };
}

function compileText(
  text: string,
  { pointer, inArray }: Place,
  { roots, references, faults }: Compilation,
): TemplateNode {
  const parsed = parseText(text, roots, pointer);
  const [first = ""] = parsed.parts;
  const isAlone = parsed.parts.length <= 1;
  for (const message of parsed.faults) faults.push({ pointer, message });
  for (const part of parsed.parts) {
    if (typeof part === "string") continue;
    references.push(part);
    if (part.spread && !(isAlone && inArray)) {
      const message = `Template ${clip(part.text)} spreads a list where none can stand: make it an element of an array, alone in its string.`;
      faults.push({ pointer, message });
    }
  }
  if (!isAlone) return { kind: "text", parts: parsed.parts };
  return typeof first === "string" ? { kind: "literal", value: first } : { kind: "whole", reference: first };
}
