import { isJsonArray, isJsonObject, type JsonValue, setOwn } from "./json.js";

const encoder = new TextEncoder();

/** The bytes of a value's JSON text in UTF-8. */
export function jsonBytes(value: JsonValue): number {
  return encoder.encode(JSON.stringify(value)).length;
}

/**
 * The beginning of a value that is larger than it may be: the first elements and properties that fit, the last of them
 * cut itself. A text that is cut ends with "…".
 *
 * @param maxBytes about how large the JSON text of what is left may be.
 */
export function cut(value: JsonValue, maxBytes: number): JsonValue {
  return take(value, { left: maxBytes });
}

interface Room {
  left: number;
}

function take(value: JsonValue, room: Room): JsonValue {
  if (typeof value === "string") return takeText(value, room);
  if (isJsonArray(value)) {
    room.left -= 2;
    const items: JsonValue[] = [];
    for (const item of value) {
      if (room.left <= 0) break;
      items.push(take(item, room));
    }
    return items;
  }
  if (!isJsonObject(value)) {
    room.left -= jsonBytes(value) + 1;
    return value;
  }
  room.left -= 2;
  const properties: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries<JsonValue>(value)) {
    room.left -= jsonBytes(key) + 2;
    if (room.left <= 0) break;
    setOwn(properties, key, take(item, room));
  }
  return properties;
}

function takeText(text: string, room: Room): string {
  const { left } = room;
  room.left -= jsonBytes(text) + 1;
  if (room.left >= 0) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, left)));
  return `${text.slice(0, read)}…`;
}
