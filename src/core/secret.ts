import type { Schema as LooseSchema } from "@cfworker/json-schema";
import { isJsonArray, isJsonObject, type JsonValue } from "./json.js";
import { type JsonSchema, type Subschema, subschemas } from "./json-schema.js";
import { compileJsonSchema, type JsonValidator, type Part } from "./json-validator.js";
import { pointerTo } from "./path.js";

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
  for (const subschema of subschemas(part)) {
    if (appliedToTheSame.has(subschema.keyword)) visit(subschema.schema, value, pointer, search);
    for (const [key, child] of childrenFor(part, subschema, value)) {
      visit(subschema.schema, child, pointer + pointerTo([key]), search);
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

type Child = readonly [key: string, value: JsonValue];

/** What of a value a schema within its schema is for. */
function childrenFor(part: LooseSchema, { keyword, name }: Subschema, value: JsonValue): readonly Child[] {
  const isList = isJsonArray(value);
  if (!isList && !isJsonObject(value)) return [];
  const children = () => Object.entries<JsonValue>(value);
  const named = () =>
    name !== undefined && Object.hasOwn(value, name) ? children().filter(([key]) => key === name) : [];
  switch (keyword) {
    case "items":
    case "prefixItems":
    case "additionalItems":
    case "unevaluatedItems":
      if (!isList) return [];
      return name === undefined ? children() : named();
    case "properties":
      return isList ? [] : named();
    case "patternProperties":
      return isList ? [] : children().filter(([key]) => new RegExp(String(name), "u").test(key));
    case "additionalProperties":
    case "unevaluatedProperties":
      return isList ? [] : children().filter(([key]) => !Object.hasOwn(Object(part.properties), key));
    default:
      return [];
  }
}
