import type { Schema as LooseSchema } from "@cfworker/json-schema";
import { isJsonArray, isJsonObject, type JsonValue } from "./json.js";
import { inPlaceKeywords, type JsonSchema, type Subschema, subschemas } from "./json-schema.js";
import { compileJsonSchema, type JsonValidator, type Part } from "./json-validator.js";
import { pointerTo, step } from "./path.js";

/**
 * The JSON Pointers of what must not be shown of a value: where its schema says `writeOnly: true` or
 * `format: "password"`, in any of its branches, whether or not the value fits it. Of a value that takes too much work to
 * search nothing may be shown: `[""]`.
 */
export function secretPointers(schema: JsonSchema, value: JsonValue): readonly string[] {
  const validator = compileJsonSchema(schema);
  const search: Search = { validator, applied: new Map(), found: new Set(), left: maxSteps };
  return visit(validator.root, value, "", search) ? [...search.found] : [""];
}

/** Characters of pointers, and as many for each schema that is held against a value. */
const maxSteps = 50_000_000;
const stepsPerVisit = 16;

interface Search {
  readonly validator: JsonValidator;
  /** Where each schema was applied: one that refers to itself at one place ends there. */
  readonly applied: Map<Part, Set<string>>;
  readonly found: Set<string>;
  left: number;
}

/** Whether the search could go on to its end. */
function visit(part: Part, value: JsonValue, pointer: string, search: Search): boolean {
  if (typeof part === "boolean") return true;
  search.left -= stepsPerVisit + pointer.length;
  if (search.left < 0) return false;
  const places = search.applied.get(part) ?? new Set();
  if (places.has(pointer)) return true;
  search.applied.set(part, places.add(pointer));
  if (part.writeOnly === true || part.format === "password") {
    search.found.add(pointer);
    return true;
  }
  const referenced = search.validator.referenced(part);
  if (referenced !== undefined && !visit(referenced, value, pointer, search)) return false;
  for (const subschema of subschemas(part)) {
    const { keyword, schema } = subschema;
    // What must not fit says nothing of what does.
    if (inPlaceKeywords.has(keyword) && keyword !== "not" && !visit(schema, value, pointer, search)) return false;
    for (const [key, child] of childrenFor(part, subschema, value)) {
      if (!visit(schema, child, pointer + pointerTo([key]), search)) return false;
    }
  }
  return true;
}

type Child = readonly [key: string, value: JsonValue];

/** What of a value a schema within its schema is for. */
function childrenFor(part: LooseSchema, { keyword, name }: Subschema, value: JsonValue): readonly Child[] {
  const isList = isJsonArray(value);
  if (!isList && !isJsonObject(value)) return [];
  const children = () => Object.entries<JsonValue>(value);
  switch (keyword) {
    case "items":
    case "prefixItems":
    case "additionalItems":
    case "unevaluatedItems":
      if (!isList) return [];
      return name === undefined ? children() : named(value, name);
    case "properties":
      return isList ? [] : named(value, name);
    case "patternProperties": {
      const pattern = new RegExp(String(name), "u");
      return isList ? [] : children().filter(([key]) => pattern.test(key));
    }
    case "additionalProperties":
    case "unevaluatedProperties":
      return isList ? [] : children().filter(([key]) => !Object.hasOwn(Object(part.properties), key));
    default:
      return [];
  }
}

function named(value: JsonValue, name = ""): readonly Child[] {
  const child = step(value, name);
  return child === undefined ? [] : [[name, child]];
}
