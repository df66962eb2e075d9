import {
  format,
  ignoredKeyword,
  type Schema as LooseSchema,
  schemaArrayKeyword,
  schemaMapKeyword,
} from "@cfworker/json-schema";
import { inPlaceKeywords, invalidSchema, type Part, subschemas } from "./json-schema.js";
import { pointerTo } from "./path.js";
import { boundPattern } from "./pattern.js";

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
/** Each key is tried with each pattern. */
const maxKeyPatterns = 100;

/** Bounds the work of single keywords, some by what it puts in their place. */
export function boundKeywords(part: LooseSchema, pointer: string): void {
  // The library looks a format up among its own, inherited names included.
  if (part.format !== undefined && part.format in format && !checkedFormats.has(part.format)) delete part.format;
  const keyPatterns = Object.keys(part.patternProperties ?? {});
  if (keyPatterns.length > maxKeyPatterns) {
    throw invalidSchema(
      `${pointer}/patternProperties`,
      `"patternProperties" has more than ${maxKeyPatterns} patterns.`,
    );
  }
  for (const pattern of keyPatterns) {
    const { maxLength, refused } = boundPattern(pattern);
    const reason = refused ?? (maxLength === undefined ? undefined : "takes more than linear work: begin it with ^");
    if (reason !== undefined)
      throw invalidSchema(pointer + pointerTo(["patternProperties", pattern]), `The pattern ${reason}.`);
  }
  if (part.pattern !== undefined) {
    const { maxLength, refused } = boundPattern(part.pattern);
    if (refused !== undefined) throw invalidSchema(`${pointer}/pattern`, `The pattern ${refused}.`);
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

/** The library walks what is below an `$id` once more for each of those above it: the work doubles with each. */
const maxNestedIds = 4;
/** The length of all addresses together. Each holds the keys that lead to its schema, so a long key counts often. */
const maxAddressLength = 32 * 1024 * 1024;

/** Bounds the work of listing the addresses of a schema, which the library does by walking it as this does. */
export function boundAddresses(root: Part): void {
  const waiting: Addressed[] = [{ value: root, pointer: "", ids: 0 }];
  let total = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, pointer } = next;
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    // The library also reads the `id` of draft 4.
    const ids = next.ids + (Reflect.get(value, "$id") || Reflect.get(value, "id") ? 1 : 0);
    if (ids > maxNestedIds) throw invalidSchema(pointer, `The schema has "$id" at more than ${maxNestedIds} levels.`);
    total += pointer.length;
    if (total > maxAddressLength) {
      throw invalidSchema("", "The schema's keys are too long for what is nested below them: shorten them.");
    }
    for (const [keyword, holder] of Object.entries(value)) {
      const place = pointer + pointerTo([keyword]);
      if (keyword in ignoredKeyword) continue;
      if (Array.isArray(holder) ? !(keyword in schemaArrayKeyword) : !(keyword in schemaMapKeyword)) {
        waiting.push({ value: holder, pointer: place, ids });
      } else if (typeof holder === "string") {
        // The library takes each of its characters for a schema.
        throw invalidSchema(place, `${JSON.stringify(keyword)} must be an object of schemas.`);
      } else {
        for (const [name, schema] of Object.entries(Object(holder))) {
          waiting.push({ value: schema, pointer: place + pointerTo([name]), ids });
        }
      }
    }
  }
}

interface Addressed {
  readonly value: unknown;
  readonly pointer: string;
  /** How many of the schemas above have an `$id`. */
  readonly ids: number;
}

/** Schemas that stand one below the other and are held against the same value, by `allOf`, `$ref` and the like. */
const maxChain = 200;
/** Schemas that are held against the same value, each as often as it is. */
const maxApplications = 100_000;

/**
 * Bounds how many schemas are held against one value because one schema is. `$ref`s alone can double that number with
 * each further line.
 *
 * @param pointers each schema, and where it stands.
 * @throws ToolweaveError `INVALID_SCHEMA` also for a schema that leads back to itself at the same value.
 */
export function boundApplications(
  pointers: ReadonlyMap<LooseSchema, string>,
  referenced: (part: LooseSchema) => Part | undefined,
): void {
  const known = new Map<LooseSchema, Applied>();
  const applied = (part: Part, above: number, start: string): Applied => {
    if (typeof part === "boolean") return one;
    const before = known.get(part);
    const chain = above + (before?.chain ?? 1);
    if (chain > maxChain) {
      const message = `The schema leads back to itself, or through more than ${maxChain} schemas, for one and the same value.`;
      throw invalidSchema(start, message);
    }
    if (before !== undefined) return before;
    const below = [...inPlace(part, referenced)].map((each) => applied(each, above + 1, start));
    const total = {
      count: below.reduce((sum, { count }) => sum + count, 1),
      chain: below.reduce((longest, each) => Math.max(longest, each.chain + 1), 1),
    };
    if (total.count > maxApplications) {
      const message = `The schema holds more than ${maxApplications} schemas against one and the same value: refer to fewer.`;
      throw invalidSchema(start, message);
    }
    known.set(part, total);
    return total;
  };
  for (const [part, pointer] of pointers) applied(part, 0, pointer);
}

interface Applied {
  readonly count: number;
  readonly chain: number;
}

const one: Applied = { count: 1, chain: 1 };

function* inPlace(part: LooseSchema, referenced: (part: LooseSchema) => Part | undefined): Generator<Part> {
  const target = referenced(part);
  if (target !== undefined) yield target;
  for (const { keyword, schema } of subschemas(part)) if (inPlaceKeywords.has(keyword)) yield schema;
}
