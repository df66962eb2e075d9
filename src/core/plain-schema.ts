import type { JsonValue } from "./json.js";
import { isJsonArray, isJsonObject } from "./json.js";
import type { Part } from "./json-schema.js";

/** Whether a value fits. */
export type Fits = (value: JsonValue) => boolean;

/**
 * The quick check of a plain schema: one type each, `properties`, `required`, `items` and a boolean
 * `additionalProperties`, as most tools declare. It agrees with the whole validator, which says what is wrong.
 *
 * @returns `undefined` for any other schema.
 */
export function plainFits(part: Part | undefined): Fits | undefined {
  if (typeof part !== "object" || typeof part.type !== "string" || !isPlain(part)) return undefined;
  switch (part.type) {
    case "object":
      return objectFits(part);
    case "array":
      return arrayFits(part.items);
    default:
      return scalars.get(part.type);
  }
}

const scalars: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
]);

type SchemaObject = Exclude<Part, boolean>;

const checked: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items"],
};

const notes: ReadonlySet<string> = new Set(["type", "title", "description", "default", "examples", "$schema"]);

function isPlain(part: SchemaObject): boolean {
  const known = checked[String(part.type)] ?? [];
  // The validator's library writes the addresses of schemas into them.
  return Object.keys(part).every((key) => known.includes(key) || notes.has(key) || key.startsWith("__"));
}

function objectFits({ properties = {}, required = [], additionalProperties = true }: SchemaObject): Fits | undefined {
  if (typeof additionalProperties !== "boolean") return undefined;
  const known = new Map<string, Fits>();
  for (const [name, part] of Object.entries<Part>(properties)) {
    const fits = plainFits(part);
    if (fits === undefined || name in Object.prototype) return undefined;
    known.set(name, fits);
  }
  if (required.some((name: string) => name in Object.prototype)) return undefined;
  return (value) => {
    if (!isJsonObject(value)) return false;
    for (const name of required) if (!Object.hasOwn(value, name)) return false;
    for (const [name, fits] of known) {
      const property = Object.hasOwn(value, name) ? value[name] : undefined;
      if (property !== undefined && !fits(property)) return false;
    }
    return additionalProperties || Object.keys(value).every((name) => known.has(name));
  };
}

function arrayFits(items: Part | undefined): Fits | undefined {
  if (items === undefined) return isJsonArray;
  const fits = plainFits(items);
  return fits && ((value) => isJsonArray(value) && value.every(fits));
}
