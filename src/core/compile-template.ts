import { deepestNesting, isJsonArray, type JsonValue } from "./json.js";
import { clip, parseText, type Reference, type Root } from "./parse-template.js";
import { pointerBelow } from "./path.js";

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
  const compilation = new Compilation(roots);
  const node = compilation.compile(value, base, 0, false);
  // Copies, since a list that has grown keeps room for sixteen more, for as long as the workflow lives.
  return { references: [...compilation.references], faults: [...compilation.faults], node };
}

class Compilation {
  readonly references: Reference[] = [];
  readonly faults: TemplateFault[] = [];

  constructor(private readonly roots: readonly Root[]) {}

  /** @param inArray whether the value is an element of an array, where a spread may stand. */
  compile(value: JsonValue, pointer: string, depth: number, inArray: boolean): TemplateNode {
    if (typeof value === "string") return this.text(value, pointer, inArray);
    const literal: TemplateNode = { kind: "literal", value };
    if (typeof value !== "object" || value === null) return literal;
    if (depth === deepestNesting) {
      this.faults.push({ pointer, message: `The value is nested deeper than ${deepestNesting} levels.` });
      return literal;
    }
    const isArray = isJsonArray(value);
    let isLiteral = true;
    const properties = Object.entries<JsonValue>(value).map(([key, child]): Property => {
      const node = this.compile(child, pointerBelow(pointer, key), depth + 1, isArray);
      isLiteral &&= node.kind === "literal" && node.value === child;
      return [key, node];
    });
    if (isLiteral) return literal;
    return isArray ? { kind: "array", elements: properties.map(([, node]) => node) } : { kind: "object", properties };
  }

  private text(text: string, pointer: string, inArray: boolean): TemplateNode {
    const { parts, faults } = parseText(text, this.roots, pointer);
    const [first = ""] = parts;
    const isAlone = parts.length <= 1;
    for (const message of faults) this.faults.push({ pointer, message });
    for (const part of parts) {
      if (typeof part === "string") continue;
      this.references.push(part);
      if (part.spread && !(isAlone && inArray)) {
        const message = `Template ${clip(part.text)} spreads a list where none can stand: make it an element of an array, alone in its string.`;
        this.faults.push({ pointer, message });
      }
    }
    if (!isAlone) return { kind: "text", parts };
    return typeof first === "string" ? { kind: "literal", value: first } : { kind: "whole", reference: first };
  }
}
