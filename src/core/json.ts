import { ToolweaveError } from "./errors.js";
import { isJsonArray, type JsonArray, type JsonObject, type JsonValue } from "./json-value.js";
import { pointerTo } from "./path.js";

export { isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "./json-value.js";

export interface JsonLimits {
  /** Bytes of the value's compact JSON text in UTF-8, counted exactly. */
  readonly maxBytes: number;
  /** Arrays and objects within each other; a scalar has depth 0. More than `deepestNesting` is read as that. */
  readonly maxDepth: number;
}

export const defaultJsonLimits: JsonLimits = { maxBytes: 16 * 1024 * 1024, maxDepth: 200 };

/** The greatest `maxDepth`: what the call stack surely holds, in here and in `JSON.stringify`. */
export const deepestNesting = 1_000;

/**
 * Any value as JSON: a fresh, deeply frozen copy of what `JSON.stringify` sees. A property that is `undefined` is left
 * out; elsewhere `undefined` is `null`, as are non-finite numbers; `toJSON` is honoured; -0 is 0.
 *
 * @throws ToolweaveError `RESULT_NOT_JSON`, with the pointer of the place, for a BigInt, a cycle, a function, a symbol,
 *   binary data (a `Buffer` too, whose own `toJSON` would spell out every byte), a map, a set, a promise, and for a
 *   getter or `toJSON` that throws. `RESULT_TOO_LARGE`, with the pointer, beyond a limit.
 */
export function normalizeJson(value: unknown, limits: JsonLimits): JsonValue {
  const { maxBytes } = limits;
  const maxDepth = Math.min(limits.maxDepth, deepestNesting);
  const pass: Pass = { maxBytes, maxDepth, bytes: 0, depth: 0, path: [], ancestors: [], fault: undefined };
  try {
    const normal = normalize(value, pass);
    if (normal !== undefined) return normal;
    count(4, pass);
    return null;
  } catch (error) {
    // What the value's own code throws, a ToolweaveError included, says nothing about the value's JSON.
    throw error === pass.fault ? error : fault("RESULT_NOT_JSON", "reading it failed", pass, error);
  }
}

/** One normalizing on its way: `path` and `ancestors` are valid up to `depth`. */
interface Pass {
  readonly maxBytes: number;
  readonly maxDepth: number;
  bytes: number;
  depth: number;
  readonly path: (string | number)[];
  readonly ancestors: object[];
  fault: ToolweaveError | undefined;
}

function normalize(value: unknown, pass: Pass): JsonValue | undefined {
  switch (typeof value) {
    case "string":
      countText(value, pass);
      return value;
    case "number":
      if (!Number.isFinite(value)) return normalize(null, pass);
      count(String(value).length, pass);
      return value === 0 ? 0 : value;
    case "boolean":
      count(value ? 4 : 5, pass);
      return value;
    case "undefined":
      return undefined;
    case "object":
      if (value !== null) return normalizeObject(value, pass);
      count(4, pass);
      return null;
    default:
      throw notJson(typeof value, pass);
  }
}

function normalizeObject(value: object, pass: Pass): JsonValue | undefined {
  if (!("toJSON" in value) || typeof value.toJSON !== "function" || ArrayBuffer.isView(value)) {
    return normalizeContainer(value, pass);
  }
  const key = pass.depth === 0 ? "" : String(pass.path[pass.depth - 1]);
  const replaced: unknown = value.toJSON(key);
  // Its own `toJSON` is not asked: JSON.stringify calls it once for each place.
  return typeof replaced === "object" && replaced !== null
    ? normalizeContainer(replaced, pass)
    : normalize(replaced, pass);
}

function normalizeContainer(value: object, pass: Pass): JsonValue | undefined {
  if (Array.isArray(value)) return normalizeArray(value, pass);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return normalizeProperties(value, pass);
  const type = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (type === "Number") return normalize(Number(value), pass);
  if (type === "String") return normalize(String(value), pass);
  if (type === "Boolean") return normalize(Boolean.prototype.valueOf.call(value), pass);
  if (refusedTypes.has(type) || ArrayBuffer.isView(value)) throw notJson(type, pass);
  return normalizeProperties(value, pass);
}

/** Objects that JSON.stringify would empty without a word. */
const refusedTypes: ReadonlySet<string> = new Set([
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "Promise",
  "ArrayBuffer",
  "SharedArrayBuffer",
  "BigInt",
  "Symbol",
]);

function normalizeArray(value: readonly unknown[], pass: Pass): JsonArray {
  const { length } = value;
  // The brackets and commas come first: a sparse array of any length is refused unread.
  count(length === 0 ? 2 : length + 1, pass);
  const depth = enter(value, pass);
  const copy: JsonValue[] = [];
  for (let index = 0; index < length; index++) {
    pass.path[depth] = index;
    let element = normalize(value[index], pass);
    if (element === undefined) {
      count(4, pass);
      element = null;
    }
    copy.push(element);
  }
  pass.depth = depth;
  return Object.freeze(copy);
}

function normalizeProperties(value: object, pass: Pass): JsonObject {
  const keys = Object.keys(value);
  // Any object may be read by key; Reflect.get needs no cast, but is slower on this hot path.
  const properties = value as Readonly<Record<string, unknown>>;
  count(2, pass);
  const depth = enter(value, pass);
  const copy: Record<string, JsonValue> = {};
  let separator = 0;
  for (const key of keys) {
    pass.path[depth] = key;
    const property = normalize(properties[key], pass);
    if (property === undefined) continue;
    count(separator + 1, pass);
    countText(key, pass);
    separator = 1;
    setOwn(copy, key, property);
  }
  pass.depth = depth;
  return Object.freeze(copy);
}

/** Goes one level down, and gives the depth to come back to. */
function enter(value: object, pass: Pass): number {
  const { depth, ancestors } = pass;
  for (let index = 0; index < depth; index++) {
    if (ancestors[index] === value) throw fault("RESULT_NOT_JSON", "it contains itself", pass);
  }
  if (depth >= pass.maxDepth) {
    throw fault("RESULT_TOO_LARGE", `it is nested deeper than the ${pass.maxDepth} levels allowed`, pass);
  }
  ancestors[depth] = value;
  pass.depth = depth + 1;
  return depth;
}

function count(bytes: number, pass: Pass): void {
  pass.bytes += bytes;
  if (pass.bytes > pass.maxBytes) throw tooManyBytes(pass);
}

function countText(text: string, pass: Pass): void {
  // What no counting of characters can lower comes first: a text far too long is not read through.
  count(text.length + 2, pass);
  let surplus = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      if (unit < 0x20) surplus += hasShortEscape(unit) ? 1 : 5;
      else if (unit === 0x22 || unit === 0x5c) surplus += 1;
    } else if (unit < 0x800) surplus += 1;
    else if (unit < 0xd800 || unit > 0xdfff) surplus += 2;
    else if (isPair(unit, text.charCodeAt(index + 1))) {
      surplus += 2;
      index++;
    } else surplus += 5;
  }
  if (surplus > 0) count(surplus, pass);
}

/** Whether JSON writes the control as a backslash and a letter: `\b`, `\t`, `\n`, `\f`, `\r`. */
function hasShortEscape(unit: number): boolean {
  return unit >= 8 && unit <= 13 && unit !== 11;
}

function isPair(high: number, low: number): boolean {
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

function notJson(type: string, pass: Pass): ToolweaveError {
  return fault("RESULT_NOT_JSON", `its type is ${type}`, pass);
}

function tooManyBytes(pass: Pass): ToolweaveError {
  return fault("RESULT_TOO_LARGE", `the whole exceeds the ${pass.maxBytes} bytes allowed`, pass);
}

const maxPointerLength = 200;

function fault(code: "RESULT_NOT_JSON" | "RESULT_TOO_LARGE", reason: string, pass: Pass, cause?: unknown) {
  const pointer = pointerTo(pass.path.slice(0, pass.depth));
  const place = pointer === "" ? "The value" : `The value at ${pointer.slice(0, maxPointerLength)}`;
  const text =
    code === "RESULT_NOT_JSON"
      ? `${place} is not JSON: ${reason}. Give text, finite numbers, booleans, null, arrays and plain objects.`
      : `${place} is too large: ${reason}. Give less, or raise the limit.`;
  pass.fault = new ToolweaveError(code, text, { pointer, cause });
  return pass.fault;
}

/** Defines an own property whatever its name, `__proto__` included. */
export function setOwn(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

/**
 * A mutable deep copy, to hand to foreign code.
 *
 * @throws ToolweaveError `RESULT_TOO_LARGE` when it is nested deeper than `deepestNesting`.
 */
export function copyJson<T extends JsonValue>(value: T): T;
export function copyJson(value: JsonValue): JsonValue {
  return copyNested(value, 0);
}

function copyNested(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepestNesting) {
    throw new ToolweaveError(
      "RESULT_TOO_LARGE",
      `The value is nested deeper than ${deepestNesting} levels. Give less.`,
    );
  }
  if (isJsonArray(value)) {
    const copy: JsonValue[] = [];
    for (const element of value) copy.push(copyNested(element, depth + 1));
    return copy;
  }
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyNested(value[key] ?? null, depth + 1));
  return copy;
}

/** The one JSON text of a value, whatever the order of its keys (RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let text = "";
  if (isJsonArray(value)) {
    for (const element of value) text += `${text === "" ? "[" : ","}${canonicalJson(element)}`;
    return text === "" ? "[]" : `${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}
