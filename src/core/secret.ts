import type { Schema as LooseSchema } from "@cfworker/json-schema";
import { isJsonArray, type JsonValue } from "./json.js";
import { type JsonSchema, subschemas } from "./json-schema.js";
import { compileJsonSchema, type JsonValidator, type Part } from "./json-validator.js";
import { pointerTo, step } from "./path.js";

/**
 * The JSON Pointers of what must not be shown of a value: where its schema says `writeOnly: true` or
 * `format: "password"`, in any of its branches, whether or not the value fits it.
 */
export function secretPointers(schema: JsonSchema, value: JsonValue): readonly string[] {
  const validator = compileJsonSchema(schema);
  const search: Search = { validator, applied: new Map<Part, Set<string>>(), found: new Set<string>() };
  visit(validator.root, value, "", search);
  return [...search.found];
}

interface Search {
  readonly validator: JsonValidator;
  /** Where each schema was applied: one that refers to itself at one place ends there. */
  readonly applied: Map<Part, Set<string>>;
  readonly found: Set<string>;
}

function visit(part: Part, value: JsonValue, pointer: string, search: Search): void {
  if (typeof part === "boolean") return;
  const places = search.applied.get(part) ?? new Set();
  if (places.has(pointer)) return;
  search.applied.set(part, places.add(pointer));
  if (part.writeOnly === true || part.format === "password") {
    search.found.add(pointer);
    return;
  }
  const referenced = search.validator.referenced(part);
  if (referenced !== undefined) visit(referenced, value, pointer, search);
  for (const { path, schema } of subschemas(part)) {
    const [keyword = "", name] = path;
    if (appliedToTheSame.has(keyword)) visit(schema, value, pointer, search);
    for (const key of keysFor(part, keyword, name, value)) {
      visit(schema, step(value, key) ?? null, pointer + pointerTo([key]), search);
    }
  }
}

const appliedToTheSame: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependencies",
]);

/** The keys of the value that a keyword's schema, be it that of a `name`, is for. */
function keysFor(part: LooseSchema, keyword: string, name: string | undefined, value: JsonValue): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const isArray = isJsonArray(value);
  switch (isArray ? keyword.replace(/^(?:additional|unevaluated)Items$/, "items") : keyword) {
    case "items":
    case "prefixItems":
      if (!isArray) return [];
      return name === undefined ? Object.keys(value) : [name].filter((index) => Object.hasOwn(value, index));
    case "properties":
      return isArray || name === undefined || !Object.hasOwn(value, name) ? [] : [name];
    case "patternProperties":
      return isArray ? [] : Object.keys(value).filter((key) => new RegExp(name ?? "", "u").test(key));
    case "additionalProperties":
    case "unevaluatedProperties":
      return isArray ? [] : Object.keys(value).filter((key) => !Object.hasOwn(part.properties ?? {}, key));
    default:
      return [];
  }
}
