import { type CauseData, type ErrorData, ToolweaveError } from "../core/errors.js";
import { type JsonObject, type JsonValue, setOwn } from "../core/json.js";

/** Takes the secrets out of a text or value. */
export interface Scrubber {
  text(text: string): string;
  value<T extends JsonValue>(value: T): T;
  error(error: ErrorData): ErrorData;
  /** Whether a value holds a secret. */
  finds(value: JsonValue): boolean;
}

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
  const removed = removals.find((removal) => !forms.some((form) => meets(form, removal))) ?? "";
  const text = (given: string) => forms.reduce((rest, form) => rest.split(form).join(removed), given);
  const told = (given: string) => withoutCut(text(given), forms, removed);
  const finds = (value: JsonValue): boolean => {
    if (typeof value === "string") return forms.some((form) => value.includes(form));
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, inner]) => finds(key) || finds(inner));
  };
  const value = <T extends JsonValue>(given: T): T => (finds(given) ? (replace(given, text) as T) : given);
  const cause = (given: CauseData): CauseData => ({
    ...given,
    message: told(given.message),
    ...(given.name === undefined ? {} : { name: told(given.name) }),
    ...(given.code === undefined ? {} : { code: told(given.code) }),
    ...(given.cause === undefined ? {} : { cause: cause(given.cause) }),
  });
  const error = (given: ErrorData): ErrorData => ({
    ...given,
    message: told(given.message),
    // It may lead through keys that a tool chose.
    ...(given.pointer === undefined ? {} : { pointer: text(given.pointer) }),
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

const leastTold = 4;

/** A text that was cut to a length ends with "…": what stands before it may be the beginning of a secret. */
function withoutCut(text: string, forms: readonly string[], removed: string): string {
  if (!text.endsWith("…")) return text;
  const rest = text.slice(0, -1);
  for (const form of forms) {
    for (let length = Math.min(form.length - 1, rest.length); length >= leastTold; length--) {
      if (rest.endsWith(form.slice(0, length))) return `${rest.slice(0, -length)}${removed}…`;
    }
  }
  return text;
}

/** What stands where a secret stood: the first that makes no secret of itself and what it stands beside. */
const removals = ["[secret removed]", "█"];

/** Whether a form stands within a removal, or may stand across an end of it. */
function meets(form: string, removal: string): boolean {
  if (removal.includes(form)) return true;
  for (let length = 1; length < removal.length; length++) {
    if (form.endsWith(removal.slice(0, length)) || form.startsWith(removal.slice(-length))) return true;
  }
  return form.startsWith(removal) || form.endsWith(removal);
}

/** How a secret is written by the encoders in use: they differ in what they escape beyond need. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const url = encodeURIComponent(secret.toWellFormed());
  const form = url.replace(/[!'()*~]/g, percent).replaceAll("%20", "+");
  const written = [json, ascii].flatMap((escaped) => [escaped, escaped.replaceAll("/", "\\/")]);
  const encoded = [url, form].flatMap((text) => [text, text.replace(/%../g, (octet) => octet.toLowerCase())]);
  return [secret, ...written, ...encoded, ...base64Forms(secret)];
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
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

/** @throws ToolweaveError `SECRET_IN_DATA` for a value that holds a secret: it would be recorded. */
export function refuseSecrets(scrub: Scrubber, value: JsonValue, subject: string): void {
  if (!scrub.finds(value)) return;
  throw new ToolweaveError(
    "SECRET_IN_DATA",
    `${subject} holds a secret. A tool gets its secrets from its host, never through a workflow.`,
  );
}
