import type { CauseData, ErrorData } from "../core/errors.js";
import { type JsonObject, type JsonValue, setOwn } from "../core/json.js";

/** Takes the secrets out of a text or value. */
export interface Scrubber {
  text(text: string): string;
  value<T extends JsonValue>(value: T): T;
  error(error: ErrorData): ErrorData;
  /** Whether a value holds a secret. */
  finds(value: JsonValue): boolean;
}

const removed = "[secret removed]";

const nothing: Scrubber = {
  text: (text) => text,
  value: (value) => value,
  error: (error) => error,
  finds: () => false,
};

/**
 * Scrubs secrets out of whatever tools give back: as they are, JSON-escaped, URL-encoded, and in base64 at any offset.
 */
export function scrubber(secrets: readonly string[]): Scrubber {
  if (secrets.length === 0) return nothing;
  // The longest first, so that no part of one is left when another is contained in it.
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const text = (given: string) => forms.reduce((rest, form) => rest.split(form).join(removed), given);
  const finds = (value: JsonValue): boolean => {
    if (typeof value === "string") return forms.some((form) => value.includes(form));
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, inner]) => finds(key) || finds(inner));
  };
  const value = <T extends JsonValue>(given: T): T => (finds(given) ? (replace(given, text) as T) : given);
  const cause = (given: CauseData): CauseData => ({
    ...given,
    message: text(given.message),
    ...(given.cause === undefined ? {} : { cause: cause(given.cause) }),
  });
  const error = (given: ErrorData): ErrorData => ({
    ...given,
    message: text(given.message),
    ...(given.details === undefined ? {} : { details: value(given.details) }),
    ...(given.cause === undefined ? {} : { cause: cause(given.cause) }),
  });
  return { text, value, error, finds };
}

function replace(value: JsonValue, text: (text: string) => string): JsonValue {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => replace(item, text)));
  const copy: Record<string, JsonValue> = {};
  for (const [key, inner] of Object.entries(value as JsonObject)) setOwn(copy, text(key), replace(inner, text));
  return Object.freeze(copy);
}

function formsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, encodeURIComponent(secret), ...base64Forms(secret)];
}

/** The base64 of a text depends on where in a triple of bytes it begins: what is the same whatever stands around it. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const forms: string[] = [];
  for (let offset = 0; offset < 3; offset++) {
    const binary = "\0".repeat(offset) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    const encoded = btoa(binary).replace(/=+$/, "");
    const firstWhole = Math.ceil((offset * 8) / 6);
    const lastWhole = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = encoded.slice(firstWhole, lastWhole);
    forms.push(form, form.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}
