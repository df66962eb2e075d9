import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue, JsonLimits } from "./json.js";
import type { JsonSchema } from "./json-schema.js";
export type { JsonSchema } from "./json-schema.js";
import type { SchemaLiteral } from "./document.js";
export type Schema = JsonSchema | StandardSchemaV1;
/** What a value must be typed as to be given to the schema. A JSON Schema says no more than that it is an object. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : JsonObject;
/** What the schema gives. */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;
export interface Issue {
  /** A JSON Pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}
export type Validation = { readonly value: JsonValue } | { readonly issues: readonly Issue[] };
export interface Validator {
  readonly json?: JsonSchema;
  readonly jsonInput?: JsonSchema;
  readonly isCode: boolean;
  validate(value: JsonValue, limits: JsonLimits): Validation | Promise<Validation>;
  validateJson(value: JsonValue): readonly Issue[];
}
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  return false;
}
export function compileSchema(schema: Schema | SchemaLiteral): Validator { throw new Error("todo"); }
