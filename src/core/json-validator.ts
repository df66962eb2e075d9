import { dereference, format, type Schema as LooseSchema, type OutputUnit, validate } from "@cfworker/json-schema";
import { errorText, ToolweaveError } from "./errors.js";
import { property } from "./foreign.js";
import { copyJson, defaultJsonLimits, type JsonValue, normalizeJson } from "./json.js";
import { isJsonSchema, type JsonSchema, keywordFault, subschemas } from "./json-schema.js";
import { pointerTo } from "./path.js";
import { boundPattern } from "./pattern.js";

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

/** A schema within `root`. */
export type Part = LooseSchema | boolean;

type Lookup = Readonly<Record<string, Part>>;

/**
 * Prepares a JSON Schema of draft 2020-12. Nothing is fetched, and no `default` is filled in. `format` asks for
 * `checkedFormats`, and is a note otherwise.
 *
 * @throws ToolweaveError `INVALID_SCHEMA`, with the pointer of the first fault: a keyword whose value is none, a `$ref`
 *   that leads nowhere, `$dynamicRef`, or a regular expression whose work may grow without bound (see `boundPattern`).
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
  const root: Part = typeof schema === "boolean" ? schema : copyJson(schema);
  const lookup = addresses(root);
  prepare(root, lookup);
  const checkPart = (part: Part, value: JsonValue) => issuesOf(part, value, lookup);
  return {
    schema,
    root,
    checkPart,
    check: (value) => checkPart(root, value),
    referenced: (part) => target(part, lookup),
  };
}

function readSchema(given: unknown): JsonSchema {
  try {
    const schema = normalizeJson(given, defaultJsonLimits);
    if (isJsonSchema(schema)) return schema;
  } catch (error) {
    throw fault(String(property(error, "pointer")), errorText(error));
  }
  throw fault("", "A schema must be an object or a boolean.");
}

function addresses(root: Part): Lookup {
  try {
    return dereference(root);
  } catch (error) {
    throw fault("", `The schema's $id, $anchor or $ref can't be read: ${errorText(error)}`);
  }
}

function target(part: Part, lookup: Lookup): Part | undefined {
  if (typeof part === "boolean" || part.$ref === undefined) return undefined;
  return lookup[part.__absolute_ref__ ?? part.$ref];
}

/** Checks every schema that can be reached, and makes the checks of some keywords bounded. */
function prepare(root: Part, lookup: Lookup): void {
  const reached = new Set<Part>();
  const waiting: { part: Part; pointer: string }[] = [{ part: root, pointer: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { part, pointer } = next;
    if (typeof part === "boolean" || reached.has(part)) continue;
    reached.add(part);
    for (const [keyword, value] of Object.entries<JsonValue>(part)) {
      const reason = keywordFault(keyword, value);
      if (reason !== undefined) throw fault(pointer + pointerTo([keyword]), `${JSON.stringify(keyword)} ${reason}.`);
    }
    for (const { keyword, name, schema } of subschemas(part)) {
      const path = name === undefined ? [keyword] : [keyword, name];
      waiting.push({ part: schema, pointer: pointer + pointerTo(path) });
    }
    if (part.$ref !== undefined) {
      const referenced = target(part, lookup);
      if (referenced === undefined) throw fault(`${pointer}/$ref`, `"$ref" leads nowhere: ${clip(part.$ref)}.`);
      waiting.push({ part: referenced, pointer: `${pointer}/$ref` });
    }
    bound(part, pointer);
  }
}

/** The formats that a value is checked for, each in linear time. `url` and `regex` are not among them. */
const checkedFormats: ReadonlySet<string> = new Set([
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uri-template",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
]);

/** Each item is compared with each other. */
const maxUniqueItems = 2_000;

function bound(part: LooseSchema, pointer: string): void {
  // The library looks a format up among its own, inherited names included.
  if (part.format !== undefined && part.format in format && !checkedFormats.has(part.format)) delete part.format;
  for (const pattern of Object.keys(part.patternProperties ?? {})) {
    const { maxLength, refused } = boundPattern(pattern);
    const reason = refused ?? (maxLength === undefined ? undefined : "takes more than linear work: begin it with ^");
    if (reason !== undefined)
      throw fault(pointer + pointerTo(["patternProperties", pattern]), `The pattern ${reason}.`);
  }
  if (part.pattern !== undefined) {
    const { maxLength, refused } = boundPattern(part.pattern);
    if (refused !== undefined) throw fault(`${pointer}/pattern`, `The pattern ${refused}.`);
    if (maxLength !== undefined) {
      guard(part, { maxLength }, { pattern: part.pattern });
      delete part.pattern;
    }
  }
  if (part.uniqueItems === true) {
    guard(part, { maxItems: maxUniqueItems }, { uniqueItems: true });
    delete part.uniqueItems;
  }
}

/** Asks for both, and looks at the second only where the first holds. */
function guard(part: LooseSchema, first: LooseSchema, second: LooseSchema): void {
  part.allOf = [...(part.allOf ?? []), first, { if: { not: first }, else: second }];
}

const maxIssues = 100;

function issuesOf(part: Part, value: JsonValue, lookup: Lookup): readonly Issue[] {
  try {
    const { valid, errors } = validate(value, part, "2020-12", lookup, false);
    return valid ? [] : readErrors(errors);
  } catch {
    // So many faults, a schema that refers to itself at the same value, or a key that is no well-formed text.
    return [{ pointer: "", message: "The value can't be checked against the schema." }];
  }
}

/** Keywords that only say that a schema within them has faults, which follow. */
const wrappers: ReadonlySet<string> = new Set([
  "$ref",
  "$recursiveRef",
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
  const text = error.replace(/^(?:Instance|-?[\d.]+(?:e[+-]?\d+)?)(?= )/u, "The value");
  return clip(text);
}

const maxTextLength = 300;

function clip(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}

function fault(pointer: string, message: string): ToolweaveError {
  return new ToolweaveError("INVALID_SCHEMA", message, { pointer });
}
