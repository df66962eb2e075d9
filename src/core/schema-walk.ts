import type { Schema as LooseSchema } from "@cfworker/json-schema";
import type { JsonValidator, Part } from "./json-validator.js";
import { pointerTo, type Segment } from "./path.js";

/** All that a schema asks of a value itself: the schema, what its `$ref` leads to, and what stands in its `allOf`. */
export function conjuncts(validator: JsonValidator, parts: readonly Part[]): LooseSchema[] {
  const all = new Set<LooseSchema>();
  const waiting = [...parts].reverse();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (typeof part === "boolean" || all.has(part)) continue;
    all.add(part);
    const referenced = validator.referenced(part);
    if (referenced !== undefined) waiting.push(referenced);
    for (const each of part.allOf ?? []) waiting.push(each);
  }
  return [...all];
}

/** What a schema says of one property. */
export interface PropertyRule {
  /** The schemas that its value must fit. */
  readonly parts: readonly Part[];
  /** Whether there can be no such property. */
  readonly isRefused: boolean;
  readonly isRequired: boolean;
}

export function propertyRule(schemas: readonly LooseSchema[], key: string): PropertyRule {
  const parts: Part[] = [];
  for (const schema of schemas) {
    const named = ownPart(schema.properties, key);
    const before = parts.length;
    if (named !== undefined) parts.push(named);
    for (const { pattern, part } of indexOf(schema).patterns) if (pattern.test(key)) parts.push(part);
    if (parts.length === before) parts.push(schema.additionalProperties ?? true);
  }
  const isRequired = schemas.some((schema) => indexOf(schema).required.has(key));
  return { parts, isRefused: parts.includes(false), isRequired };
}

/** The properties that one of the schemas asks for, each once. */
export function requiredBy(schemas: readonly LooseSchema[]): ReadonlySet<string> {
  const [first, ...others] = schemas;
  if (first === undefined || others.length > 0) return new Set(schemas.flatMap(({ required = [] }) => required));
  return indexOf(first).required;
}

/** What is asked of a schema for each property anew. */
interface Index {
  readonly required: ReadonlySet<string>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly part: Part }[];
}

const indexes = new WeakMap<LooseSchema, Index>();

function indexOf(schema: LooseSchema): Index {
  const known = indexes.get(schema);
  if (known !== undefined) return known;
  const patterns = Object.entries<Part>(schema.patternProperties ?? {});
  const index: Index = {
    required: new Set(schema.required),
    patterns: patterns.map(([pattern, part]) => ({ pattern: new RegExp(pattern, "u"), part })),
  };
  indexes.set(schema, index);
  return index;
}

/** How an input schema stands to a path. */
export type PathRule = "refused" | "optional" | "required" | "unknown";

/** Says it of any path; each is looked up once. */
export function pathRules(validator: JsonValidator): (segments: readonly Segment[]) => PathRule {
  const known = new Map<string, PathRule>();
  return (segments) => {
    const place = pointerTo(segments);
    const rule = known.get(place) ?? pathRule(validator, segments);
    known.set(place, rule);
    return rule;
  };
}

function pathRule(validator: JsonValidator, segments: readonly Segment[]): PathRule {
  let parts: readonly Part[] = [validator.root];
  let isRequired = true;
  for (const segment of segments) {
    const schemas = conjuncts(validator, parts);
    // Which elements there are, and which branch holds, only the value can tell.
    if (schemas.some(mayBeList)) return "unknown";
    const rule = propertyRule(schemas, segment);
    if (rule.isRefused) return "refused";
    if (schemas.some(hasBranches)) return "unknown";
    isRequired &&= rule.isRequired;
    parts = rule.parts;
  }
  return isRequired ? "required" : "optional";
}

function mayBeList({ type, items, prefixItems }: LooseSchema): boolean {
  return [type].flat().includes("array") || items !== undefined || prefixItems !== undefined;
}

function hasBranches({ anyOf, oneOf, if: condition, dependentSchemas, unevaluatedProperties }: LooseSchema): boolean {
  return [anyOf, oneOf, condition, dependentSchemas, unevaluatedProperties].some((each) => each !== undefined);
}

function ownPart(parts: Readonly<Record<string, Part>> | undefined, key: string): Part | undefined {
  return parts !== undefined && Object.hasOwn(parts, key) ? parts[key] : undefined;
}
