import { deepestNesting } from "./json.js";
import { isJsonArray, type JsonValue } from "./json-value.js";

export interface JsonSize {
  /** The UTF-16 units of the value's compact JSON text, escapes not counted. */
  readonly length: number;
  /** Arrays and objects within each other; a scalar has depth 0. */
  readonly depth: number;
}

/** By frozen value: one that shares parts, as values built of each other do, may be small in memory and endless as text. */
const sizes = new WeakMap<object, JsonSize>();

/**
 * How large a value is; `undefined` where it is longer than `maxLength`, or nested deeper than `deepestNesting`. What is
 * frozen, all the way down, is walked once; of nothing more is walked than `maxLength` allows.
 */
export function sizeOf(value: JsonValue, maxLength: number): JsonSize | undefined {
  const pass: Pass = { left: maxLength };
  const depth = measure(value, 0, pass);
  if (pass.left < 0) return undefined;
  const size = { length: maxLength - pass.left, depth };
  if (typeof value === "object" && value !== null && !sizes.has(value) && Object.isFrozen(value))
    sizes.set(value, size);
  return size;
}

interface Pass {
  /** What the text may still come to; below 0, nothing more has to be known. */
  left: number;
}

/** @returns the depth */
function measure(value: JsonValue, above: number, pass: Pass): number {
  if (typeof value !== "object" || value === null) {
    pass.left -= typeof value === "string" ? value.length + 2 : String(value).length;
    return 0;
  }
  const known = sizes.get(value);
  if (known !== undefined) {
    pass.left -= known.length;
    return known.depth;
  }
  if (above === deepestNesting) {
    pass.left = -1;
    return 0;
  }
  let deepest = 0;
  let separators = 0;
  pass.left -= 2;
  const isList = isJsonArray(value);
  for (const key in value) {
    if (pass.left < 0) break;
    pass.left -= separators + (isList ? 0 : key.length + 3);
    separators = 1;
    deepest = Math.max(deepest, measure(isList ? (value[Number(key)] ?? null) : (value[key] ?? null), above + 1, pass));
  }
  return deepest + 1;
}
