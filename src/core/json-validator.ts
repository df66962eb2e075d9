import { dereference, type OutputUnit, validate } from "@cfworker/json-schema";
import { errorText } from "./errors.js";
import { property } from "./foreign.js";
import { copyJson, defaultJsonLimits, type JsonValue, normalizeJson } from "./json.js";
import { invalidSchema, isJsonSchema, type JsonSchema, keywordFault, type Part, subschemas } from "./json-schema.js";
import { pointerTo } from "./path.js";
import { plainFits } from "./plain-schema.js";
import { boundAddresses, boundApplications, boundKeywords } from "./schema-bounds.js";
import { Meter, TooMuchWork } from "./schema-meter.js";

export type { Part } from "./json-schema.js";

/** What of a value does not fit. */
export interface Issue {
  /** A JSON Pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}

/** A JSON Schema that is ready to be used. */
export interface JsonValidator {
  /** The schema as it was given, frozen. */
  readonly schema: JsonSchema;
  /** What does not fit: the first hundred faults. */
  check(value: JsonValue): readonly Issue[];
  /** The same schema with its references resolved; `checkPart` and `referenced` take the schemas within it. */
  readonly root: Part;
  checkPart(part: Part, value: JsonValue): readonly Issue[];
  /** What the `$ref` of a part leads to. */
  referenced(part: Part): Part | undefined;
}

type Lookup = Readonly<Record<string, Part>>;

/**
 * Prepares a JSON Schema of draft 2020-12. Nothing is fetched, and no `default` is filled in. `format` asks for
 * `checkedFormats`, and is a note otherwise.
 *
 * A check takes a bounded amount of work: about `maxWork`, and more for each value within the value. Beyond it the value
 * has an issue, as has a list of more than 2,000 items under `uniqueItems`.
 *
 * @throws ToolweaveError `INVALID_SCHEMA`, with the pointer of the first fault: a keyword whose value is none, a `$ref`
 *   that leads nowhere or back to its own schema, `$dynamicRef`, `$recursiveRef`, a regular expression whose work may grow
 *   without bound (see `boundPattern`), or more schemas for one value than can be held against it (see
 *   `boundApplications`).
 */
export function compileJsonSchema(given: unknown): JsonValidator {
  const isKept = typeof given === "object" && given !== null && Object.isFrozen(given);
  const known = isKept ? validators.get(given) : undefined;
  if (known !== undefined) return known;
  const validator = compile(readSchema(given));
  if (isKept) validators.set(given, validator);
  if (typeof validator.schema === "object") validators.set(validator.schema, validator);
  return validator;
}

/** By frozen schema: what can still be changed is read anew. */
const validators = new WeakMap<object, JsonValidator>();

function compile(schema: JsonSchema): JsonValidator {
  // A mutable copy, since the library writes the addresses of references into it.
  const root: Part = copyJson(schema);
  const lookup = addresses(root);
  const meter = prepare(root, lookup);
  const fits = plainFits(root);
  const checkPart = (part: Part, value: JsonValue) => issuesOf(part, value, lookup, meter);
  return {
    schema,
    root,
    checkPart,
    check: (value) => (fits?.(value) ? noIssues : checkPart(root, value)),
    referenced: (part) => target(part, lookup),
  };
}

const noIssues: readonly Issue[] = Object.freeze([]);

function readSchema(given: unknown): JsonSchema {
  try {
    const schema = normalizeJson(given, defaultJsonLimits);
    if (isJsonSchema(schema)) return schema;
  } catch (error) {
    throw invalidSchema(String(property(error, "pointer")), errorText(error));
  }
  throw invalidSchema("", "A schema must be an object or a boolean.");
}

function addresses(root: Part): Lookup {
  boundAddresses(root);
  try {
    return dereference(root);
  } catch (error) {
    throw invalidSchema("", `The schema's $id, $anchor or $ref can't be read: ${errorText(error)}`);
  }
}

function target(part: Part, lookup: Lookup): Part | undefined {
  if (typeof part === "boolean" || part.$ref === undefined) return undefined;
  return lookup[part.__absolute_ref__ ?? part.$ref];
}

/** Checks every schema that can be reached, and bounds the work of checking by it. */
function prepare(root: Part, lookup: Lookup): Meter {
  const reached = new Map<Exclude<Part, boolean>, string>();
  const waiting: { part: Part; pointer: string }[] = [{ part: root, pointer: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { part, pointer } = next;
    if (typeof part === "boolean" || reached.has(part)) continue;
    reached.set(part, pointer);
    for (const [keyword, value] of Object.entries<JsonValue>(part)) {
      const reason = keywordFault(keyword, value);
      if (reason !== undefined)
        throw invalidSchema(pointer + pointerTo([keyword]), `${JSON.stringify(keyword)} ${reason}.`);
    }
    for (const { keyword, name, schema } of subschemas(part)) {
      const path = name === undefined ? [keyword] : [keyword, name];
      waiting.push({ part: schema, pointer: pointer + pointerTo(path) });
    }
    if (part.$ref !== undefined) {
      const referenced = target(part, lookup);
      if (referenced === undefined) throw invalidSchema(`${pointer}/$ref`, `"$ref" leads nowhere: ${clip(part.$ref)}.`);
      waiting.push({ part: referenced, pointer: `${pointer}/$ref` });
    }
    boundKeywords(part, pointer);
  }
  boundApplications(reached, (part) => target(part, lookup));
  return new Meter(reached.keys());
}

const maxIssues = 100;

function issuesOf(part: Part, value: JsonValue, lookup: Lookup, meter: Meter): readonly Issue[] {
  const run = (stopsEarly: boolean) => meter.run(value, () => validate(value, part, "2020-12", lookup, stopsEarly));
  let first: OutputUnit[];
  try {
    const { valid, errors } = run(true);
    if (valid) return [];
    first = errors;
  } catch (error) {
    // Besides too much work: values too deep within schemas, or a key that is no well-formed text.
    const reason = error instanceof TooMuchWork ? ": that takes too much work" : "";
    return [{ pointer: "", message: `The value can't be checked against the schema${reason}.` }];
  }
  try {
    return readErrors(run(false).errors);
  } catch {
    // To find every fault can be too much where the first one is not.
    return readErrors(first);
  }
}

/** Keywords that only say that a schema within them has faults, which follow. */
const wrappers: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "if",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "dependentSchemas",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
]);
/** Keywords whose schemas are alternatives: their faults say little. */
const alternatives: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains"]);

function readErrors(errors: readonly OutputUnit[]): Issue[] {
  const issues: Issue[] = [];
  let passedOver: string | undefined;
  for (const [index, { keyword, keywordLocation, instanceLocation, error }] of errors.entries()) {
    if (passedOver !== undefined && keywordLocation.startsWith(passedOver)) continue;
    passedOver = alternatives.has(keyword) ? `${keywordLocation}/` : undefined;
    // What does not fit has an issue, whatever the library should come to say.
    if (wrappers.has(keyword) && index < errors.length - 1) continue;
    issues.push({ pointer: decodeURIComponent(instanceLocation.slice(1)), message: wording(keyword, error) });
    if (issues.length === maxIssues) break;
  }
  return issues;
}

function wording(keyword: string, error: string): string {
  if (keyword === "false") return "Nothing may stand here.";
  // What the library says of numbers begins with the value itself.
  const text = error.replace(/^(?:Instance|-?[\d.]+(?:e[+-]\d+)?)(?= )/u, "The value");
  return clip(text);
}

const maxTextLength = 300;

function clip(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
