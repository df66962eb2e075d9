import type { JsonValue } from "./json.js";

/** JSON as TypeScript types a literal or an imported file: a property may also be `undefined`, and is then left out. */
export type JsonLiteral =
  | null
  | boolean
  | number
  | string
  | undefined
  | readonly JsonLiteral[]
  | { readonly [key: string]: JsonLiteral };

/** What was copied is JSON, whatever its type allowed: `undefined` was left out, or stands where a fault was taken out. */
export function toJson(literal: JsonLiteral): JsonValue {
  return (literal ?? null) as JsonValue;
}
