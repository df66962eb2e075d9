import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, setOwn } from "./json.js";
import { pointerTo } from "./path.js";

import { type JsonSchema, secretPointers } from "./schema.js";

/** What people are not shown of a value that a record holds, since its schema keeps it from them. */
export interface Masked {
  /** JSON Pointers into the value, which is masked there in whatever people read. Absent: they see all of it. */
  masked?: readonly string[];
}

/**
 * What people see in place of what a schema keeps from them (`writeOnly: true`, `format: "password"`). Records hold the
 * value itself, since it is what runs.
 */
export const mask = "[masked]";

/** What a schema keeps of a value from people, to be spread into what holds the value: most keep nothing. */
export function maskedBy(schema: JsonSchema | undefined, value: JsonValue): Masked {
  if (schema === undefined || !mayMark(schema)) return {};
  const masked = secretPointers(schema, value);
  return masked.length === 0 ? {} : { masked };
}

const marking = new WeakMap<object, boolean>();

/** Whether a schema may mark anything at all, looked up once: most do not, and then no value has to be walked. */
function mayMark(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return false;
  const known = marking.get(schema) ?? /"writeOnly":true|"format":"password"/.test(JSON.stringify(schema));
  marking.set(schema, known);
  return known;
}

/** The value as people see it. An object that is kept from them as a whole still shows its keys. */
export function maskAt(value: JsonObject, masked: Masked["masked"]): JsonObject;
export function maskAt(value: JsonValue, masked: Masked["masked"]): JsonValue;
export function maskAt(value: JsonValue, masked: Masked["masked"]): JsonValue {
  if (masked === undefined) return value;
  const places = new Set(masked);
  if (places.delete("")) {
    if (!isJsonObject(value)) return mask;
    for (const key of Object.keys(value)) places.add(pointerTo([key]));
  }
  return maskBelow(value, "", places);
}

function maskBelow(value: JsonValue, pointer: string, places: ReadonlySet<string>): JsonValue {
  if (places.has(pointer)) return mask;
  if (isJsonArray(value)) return value.map((item, index) => maskBelow(item, `${pointer}/${index}`, places));
  if (!isJsonObject(value)) return value;
  const shown: Record<string, JsonValue> = {};
  for (const [key, inner] of Object.entries<JsonValue>(value)) {
    setOwn(shown, key, maskBelow(inner, pointer + pointerTo([key]), places));
  }
  return shown;
}

/** Whether a mask stands in a value that somebody gives: they can't mean what they were not shown. */
export function holdsMask(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return value === mask;
  return Object.values<JsonValue>(value).some(holdsMask);
}
