import { isJsonArray, type JsonValue } from "./json-value.js";

/** A key of an object, or an index of an array as it is written: `0`, `17`. */
export type Segment = string;

/**
 * One step down: an object's own property, or an array's element where the segment is `0|[1-9][0-9]*`.
 * `undefined` when it leads nowhere: a missing key, an index out of range, a step into a scalar, an inherited name.
 */
export function step(value: JsonValue | undefined, segment: Segment): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!isJsonArray(value)) return Object.hasOwn(value, segment) ? value[segment] : undefined;
  // An element is an own property only by its canonical index, so `01` and `-1` fall out; `length`, which is one too,
  // is no number.
  return Object.hasOwn(value, segment) ? value[Number(segment)] : undefined;
}

/** How far a path led: `reached` segments were followed, to `at`; `value` is there when all of them were. */
export interface Walk {
  readonly value: JsonValue | undefined;
  readonly reached: number;
  readonly at: JsonValue | undefined;
}

export function walk(value: JsonValue | undefined, segments: readonly Segment[]): Walk {
  let at = value;
  for (const [reached, segment] of segments.entries()) {
    const next = step(at, segment);
    if (next === undefined) return { value: undefined, reached, at };
    at = next;
  }
  return { value: at, reached: segments.length, at };
}

/** The segments of a JSON Pointer (RFC 6901); `undefined` when it is malformed. */
export function parsePointer(text: string): Segment[] | undefined {
  if ((text !== "" && !text.startsWith("/")) || /~(?![01])/.test(text)) return undefined;
  return text
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The segments of a JSON Pointer in its URI fragment form (RFC 6901, section 6), without the `#`: percent-encoding is
 * undone first, so `%2F` separates as `/` does. `undefined` when it is malformed.
 */
export function parseFragment(text: string): Segment[] | undefined {
  try {
    return parsePointer(decodeURIComponent(text));
  } catch {
    return undefined;
  }
}

/** The JSON Pointer of a place: `/steps/1/inputs`. */
export function pointerTo(segments: readonly (string | number)[]): string {
  let pointer = "";
  for (const segment of segments) pointer = pointerBelow(pointer, segment);
  return pointer;
}

/** The JSON Pointer of what stands under the key or index at a place. */
export function pointerBelow(pointer: string, segment: string | number): string {
  const text = String(segment);
  const isPlain = !text.includes("~") && !text.includes("/");
  return `${pointer}/${isPlain ? text : text.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
