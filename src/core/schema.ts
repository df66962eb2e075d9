import type { StandardSchemaV1 } from "@standard-schema/spec";
import { errorText } from "./errors.js";
import { attempt, property } from "./foreign.js";
import { copyJson, type JsonLimits, type JsonObject, type JsonValue, normalizeJson } from "./json.js";
import type { JsonLiteral } from "./json-literal.js";
import type { JsonSchema } from "./json-schema.js";
import { compileJsonSchema, type Issue, type JsonValidator } from "./json-validator.js";
import { pointerTo } from "./path.js";

export { bareSchema, type JsonSchema } from "./json-schema.js";
export type { Issue } from "./json-validator.js";
export { secretPointers } from "./secret.js";

/** A JSON Schema as a literal or an imported file is typed. */
export type SchemaLiteral = boolean | { readonly [key: string]: JsonLiteral };

/** JSON Schema (2020-12), or any schema that speaks Standard Schema (https://standardschema.dev), zod's included. */
export type Schema = JsonSchema | SchemaLiteral | StandardSchemaV1;

/** What a value must be typed as to be given to the schema. A JSON Schema says no more than that it is an object. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : JsonObject;

/** What the schema gives. */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;

/** A value that fits, as the schema gives it; or why it does not fit. */
export type Validation = { readonly value: JsonValue } | { readonly issues: readonly Issue[] };

/** The one face of every schema. */
export interface Validator {
  /** As JSON Schema: what values are like once they are validated. Absent where the schema can't say it. */
  readonly json?: JsonSchema;
  /** As JSON Schema: what is asked of values before. The same as `json` for a JSON Schema. */
  readonly jsonInput?: JsonSchema;
  /** Whether it is code: then what it gives may differ from what it was given, and it may be slow. */
  readonly isCode: boolean;
  /**
   * A JSON Schema answers at once, and gives the value itself; what a Standard Schema gives is normalized to JSON and
   * frozen. A schema that throws has an issue.
   */
  validate(value: JsonValue, limits: JsonLimits): Validation | Promise<Validation>;
  /** Against `json`, at once; `[]` where there is none. */
  validateJson(value: JsonValue): readonly Issue[];
}

/** Whether it is a Standard Schema. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if (typeof value !== "function" && (typeof value !== "object" || value === null)) return false;
  try {
    const standard: unknown = Reflect.get(value, "~standard");
    return typeof property(standard, "validate") === "function";
  } catch {
    return false;
  }
}

const ofCode = new WeakMap<object, Validator>();

/**
 * The schema's validator. It is kept for a Standard Schema, and for a JSON Schema that is frozen: what can still be
 * changed is read anew.
 *
 * @throws ToolweaveError `INVALID_SCHEMA`, with the pointer of the first fault of a JSON Schema: see `compileJsonSchema`.
 */
export function compileSchema(schema: Schema): Validator {
  if (!isStandardSchema(schema)) return ofJsonSchema(compileJsonSchema(schema));
  const validator = ofCode.get(schema) ?? ofStandardSchema(schema);
  ofCode.set(schema, validator);
  return validator;
}

function ofJsonSchema({ schema, check }: JsonValidator): Validator {
  return {
    json: schema,
    jsonInput: schema,
    isCode: false,
    validate(value) {
      const issues = check(value);
      return issues.length === 0 ? { value } : { issues };
    },
    validateJson: check,
  };
}

function ofStandardSchema(schema: StandardSchemaV1): Validator {
  const output = published(schema, "output");
  const input = published(schema, "input");
  return {
    ...(output && { json: output.schema }),
    ...(input && { jsonInput: input.schema }),
    isCode: true,
    validate(value, limits) {
      try {
        const result = schema["~standard"].validate(copyJson(value));
        return result instanceof Promise
          ? result.then((late) => readResult(late, limits)).catch(failed)
          : readResult(result, limits);
      } catch (error) {
        return failed(error);
      }
    },
    validateJson: output?.check ?? (() => []),
  };
}

/** What the schema publishes of itself (Standard JSON Schema); nothing where it can't be said, or not be checked. */
function published(schema: StandardSchemaV1, side: "input" | "output"): JsonValidator | undefined {
  const convert = property(
    property(
      attempt(() => schema["~standard"]),
      "jsonSchema",
    ),
    side,
  );
  if (typeof convert !== "function") return undefined;
  try {
    return compileJsonSchema(convert({ target: "draft-2020-12" }));
  } catch {
    return undefined;
  }
}

function readResult(result: StandardSchemaV1.Result<unknown>, limits: JsonLimits): Validation {
  if (result.issues === undefined) return normalized(result.value, limits);
  return { issues: result.issues.map(({ message, path = [] }) => ({ pointer: pointerOf(path), message })) };
}

function normalized(value: unknown, limits: JsonLimits): Validation {
  try {
    return { value: normalizeJson(value, limits) };
  } catch (error) {
    return { issues: [{ pointer: String(property(error, "pointer")), message: errorText(error) }] };
  }
}

function pointerOf(path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string {
  return pointerTo(path.map((segment) => String(typeof segment === "object" ? segment.key : segment)));
}

function failed(error: unknown): Validation {
  return { issues: [{ pointer: "", message: `The schema failed: ${errorText(error)}` }] };
}
