import type { Schema as LooseSchema } from "@cfworker/json-schema";
import { ToolweaveError } from "./errors.js";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, setOwn } from "./json.js";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = boolean | JsonObject;

/** A schema within one that is prepared. */
export type Part = LooseSchema | boolean;

export function invalidSchema(pointer: string, message: string): ToolweaveError {
  return new ToolweaveError("INVALID_SCHEMA", message, { pointer });
}

export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value));
}

type Way = "schema" | "list" | "map" | "names";

/** Where a keyword holds schemas: in itself, in a list, by name, or (older drafts) in more than one of these ways. */
const holders: ReadonlyMap<string, readonly Way[]> = new Map<string, readonly Way[]>([
  ["not", ["schema"]],
  ["if", ["schema"]],
  ["then", ["schema"]],
  ["else", ["schema"]],
  ["contains", ["schema"]],
  ["propertyNames", ["schema"]],
  ["additionalProperties", ["schema"]],
  ["unevaluatedProperties", ["schema"]],
  ["additionalItems", ["schema"]],
  ["unevaluatedItems", ["schema"]],
  ["allOf", ["list"]],
  ["anyOf", ["list"]],
  ["oneOf", ["list"]],
  ["prefixItems", ["list"]],
  ["properties", ["map"]],
  ["patternProperties", ["map"]],
  ["dependentSchemas", ["map"]],
  ["$defs", ["map"]],
  ["definitions", ["map"]],
  ["items", ["schema", "list"]],
  ["dependencies", ["map", "names"]],
]);

/** Keywords whose schemas are held against the very value that their own schema is held against. */
export const inPlaceKeywords: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependencies",
]);

/** A schema within another: under a keyword, and there by name or index where the keyword holds several. */
export interface Subschema {
  readonly keyword: string;
  readonly name?: string;
  readonly schema: JsonSchema;
}

/** The schemas directly within a schema, in its order. */
export function* subschemas(schema: JsonObject): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    const ways = holders.get(keyword);
    if (ways === undefined) continue;
    if (ways.includes("schema") && isJsonSchema(value)) yield { keyword, schema: value };
    else yield* within(keyword, value);
  }
}

function* within(keyword: string, holder: JsonValue): Generator<Subschema> {
  for (const [name, schema] of Object.entries<JsonValue>(Object(holder))) {
    if (isJsonSchema(schema)) yield { keyword, name, schema };
  }
}

type Shape = readonly [test: (value: JsonValue) => boolean, expected: string];

const typeNames: ReadonlySet<JsonValue> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
]);
const text: Shape = [(value) => typeof value === "string", "text"];
const flag: Shape = [(value) => typeof value === "boolean", "true or false"];
const number: Shape = [(value) => typeof value === "number", "a number"];
const count: Shape = [(value) => Number.isInteger(value) && Number(value) >= 0, "a whole number of at least 0"];
const names: Shape = [isNames, "a list of property names"];

/** What the value of a keyword must be. What holds schemas is checked by `holders`. */
const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["type", [isType, 'a type ("object", "string", …) or a list of types']],
  ["enum", [(value) => isJsonArray(value), "a list of values"]],
  ["required", names],
  ["dependentRequired", [(value) => isJsonObject(value) && Object.values(value).every(isNames), "lists by name"]],
  ["multipleOf", [(value) => typeof value === "number" && value > 0, "a number above 0"]],
  ["uniqueItems", flag],
  ["writeOnly", flag],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((keyword) => [keyword, number] as const),
  ...[
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
  ].map((keyword) => [keyword, count] as const),
  ...["pattern", "format", "$ref", "$id", "$anchor", "title", "description"].map((keyword) => [keyword, text] as const),
]);

function isType(value: JsonValue): boolean {
  return isJsonArray(value) ? value.length > 0 && value.every((name) => typeNames.has(name)) : typeNames.has(value);
}

function isNames(value: JsonValue | undefined): boolean {
  return isJsonArray(value) && value.every((name) => typeof name === "string");
}

/** What is wrong with the value of a keyword, whose own schemas are not looked into; or nothing. */
export function keywordFault(keyword: string, value: JsonValue): string | undefined {
  if (keyword === "$dynamicRef" || keyword === "$recursiveRef") return `is not supported; use "$ref"`;
  const shape = shapes.get(keyword);
  if (shape !== undefined) return shape[0](value) ? undefined : `must be ${shape[1]}`;
  const ways = holders.get(keyword);
  if (ways === undefined) return undefined;
  const isSchemaOrNames = ways.includes("names")
    ? (entry: JsonValue) => isJsonSchema(entry) || isNames(entry)
    : isJsonSchema;
  if (ways.includes("schema") && isJsonSchema(value)) return undefined;
  if (ways.includes("list") && isJsonArray(value) && value.every(isJsonSchema)) return undefined;
  if (ways.includes("map") && isJsonObject(value) && Object.values(value).every(isSchemaOrNames)) return undefined;
  if (ways.includes("map")) return "must be an object of schemas";
  return ways.includes("schema") ? "must be a schema (an object or a boolean)" : "must be a list of schemas";
}

const forPeople: ReadonlySet<string> = new Set(["title", "description", "examples", "$comment"]);

/** The schema without what is for people only, such as titles and descriptions: what an approval is bound to. */
export function bareSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema === "boolean") return schema;
  const bare: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (forPeople.has(keyword)) continue;
    const ways = holders.get(keyword);
    setOwn(bare, keyword, ways === undefined ? value : bareHolder(value, ways));
  }
  return Object.freeze(bare);
}

function bareHolder(value: JsonValue, ways: readonly Way[]): JsonValue {
  const bare = (entry: JsonValue) => (isJsonSchema(entry) ? bareSchema(entry) : entry);
  if (isJsonArray(value)) return Object.freeze(value.map(bare));
  if (!isJsonObject(value) || ways.includes("schema")) return bare(value);
  const copy: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(value)) setOwn(copy, name, bare(schema));
  return Object.freeze(copy);
}
