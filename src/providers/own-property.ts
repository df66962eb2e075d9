import type { JsonValue } from "../core/json.js";

/** An own property of a foreign value, never an inherited one; undefined where there is none. */
export function own(value: JsonValue | undefined, key: string): JsonValue | undefined;
export function own(value: unknown, key: string): unknown;
export function own(value: unknown, key: string): unknown {
  return hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

export function hasOwn(value: unknown, key: string): value is object {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

/** A non-empty list under the key; undefined for anything else. */
export function ownList(value: unknown, key: string): readonly unknown[] | undefined {
  const list = own(value, key);
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/** Whether the value under the key is one of these words. */
export function isOneOf(words: readonly string[], value: unknown): boolean {
  return typeof value === "string" && words.includes(value);
}
