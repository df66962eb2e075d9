import { attempt } from "../core/foreign.js";
import type { JsonValue } from "../core/json.js";
import { pointerTo } from "../core/path.js";

/** The first thing wrong with a JSON text. */
export interface TextFault {
  /** `unfinished`: it ends too early. `trailing`: more follows a whole value. `integer`, `number`: it can't be kept. */
  readonly kind: "syntax" | "unfinished" | "trailing" | "integer" | "number";
  /** Where, in UTF-16 units from 0. */
  readonly at: number;
  /** A JSON Pointer to the value at fault, or the one being read. */
  readonly pointer: string;
}

/** What a text says, or why that can't be kept: it is no JSON, or `JSON.parse` would change a number without a word. */
export function parseExactly(text: string): { readonly value: JsonValue } | { readonly fault: TextFault } {
  const parsed = hasGreatNumber.test(text)
    ? undefined
    : attempt((): { value: JsonValue } => ({ value: JSON.parse(text) }));
  if (parsed !== undefined) return parsed;
  const fault = findFault(text);
  return fault === undefined ? { value: JSON.parse(text) } : { fault };
}

/** What every number has that can't be kept, and few other texts: many digits in a row, or an exponent. */
const hasGreatNumber = /\d{16}|\d[eE]/;

/**
 * Reads a text by the grammar of RFC 8259, and finds what `JSON.parse` would change without a word: an integer literal
 * beyond 2^53, a number too large for a double. Undefined where the text is one value that can be kept. Iterative, linear.
 */
export function findFault(text: string): TextFault | undefined {
  const open: (string | number)[] = [];
  const fault = (kind: TextFault["kind"], at: number): TextFault => ({ kind, at, pointer: pointerTo(open) });
  // A token that stops at the very end of the text may have gone on.
  const stopped = (at: number) => fault(at >= text.length ? "unfinished" : "syntax", at);

  let expected: "value" | "firstItem" | "key" | "firstKey" | "next" = "value";
  let at = 0;
  for (;;) {
    at = skipBlanks(text, at);
    const char = text[at];
    if (expected === "next" && open.length === 0) return char === undefined ? undefined : fault("trailing", at);
    if (char === undefined) return fault("unfinished", at);

    if (expected === "next") {
      const last = open.length - 1;
      const place = open[last];
      if (char === ",") {
        if (typeof place === "number") open[last] = place + 1;
        expected = typeof place === "number" ? "value" : "key";
      } else if (char === (typeof place === "number" ? "]" : "}")) open.pop();
      else return fault("syntax", at);
      at++;
    } else if ((expected === "firstItem" && char === "]") || (expected === "firstKey" && char === "}")) {
      open.pop();
      expected = "next";
      at++;
    } else if (expected === "key" || expected === "firstKey") {
      if (char !== '"') return fault("syntax", at);
      const end = readString(text, at);
      if (end.isBroken) return stopped(end.at);
      open[open.length - 1] = JSON.parse(text.slice(at, end.at));
      at = skipBlanks(text, end.at);
      if (text[at] !== ":") return stopped(at);
      expected = "value";
      at++;
    } else if (char === "{" || char === "[") {
      open.push(char === "{" ? "" : 0);
      expected = char === "{" ? "firstKey" : "firstItem";
      at++;
    } else {
      const end = readScalar(text, at);
      if (end.isBroken) return stopped(end.at);
      const kind = isDigit(text, at) || char === "-" ? lossOf(text.slice(at, end.at)) : undefined;
      if (kind !== undefined) return fault(kind, at);
      expected = "next";
      at = end.at;
    }
  }
}

/** Where a token ends, or where it breaks off. */
interface End {
  readonly at: number;
  readonly isBroken: boolean;
}

function readScalar(text: string, at: number): End {
  if (text[at] === '"') return readString(text, at);
  const word = words.find((candidate) => candidate[0] === text[at]);
  return word === undefined ? readNumber(text, at) : readWord(text, at, word);
}

const words = ["true", "false", "null"];

function readWord(text: string, start: number, word: string): End {
  let length = 1;
  while (length < word.length && text[start + length] === word[length]) length++;
  return { at: start + length, isBroken: length < word.length };
}

function readString(text: string, start: number): End {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    if (text.charCodeAt(at) < 0x20) return { at, isBroken: true };
    if (text[at] === "\\") {
      const hexDigits = text[at + 1] === "u" ? 4 : 0;
      if (hexDigits === 0 && !'"\\/bfnrt'.includes(text[at + 1] ?? "?")) return { at: at + 1, isBroken: true };
      for (let digit = 0; digit < hexDigits; digit++) {
        if (!/^[0-9A-Fa-f]$/.test(text[at + 2 + digit] ?? "")) return { at: at + 2 + digit, isBroken: true };
      }
      at += hexDigits + 1;
    }
    at++;
  }
  return at < text.length ? { at: at + 1, isBroken: false } : { at, isBroken: true };
}

function readNumber(text: string, start: number): End {
  let at = text[start] === "-" ? start + 1 : start;
  if (!isDigit(text, at)) return { at, isBroken: true };
  at = text[at] === "0" ? at + 1 : skipDigits(text, at);
  if (text[at] === ".") {
    at++;
    if (!isDigit(text, at)) return { at, isBroken: true };
    at = skipDigits(text, at);
  }
  if (text[at] === "e" || text[at] === "E") {
    at++;
    if (text[at] === "+" || text[at] === "-") at++;
    if (!isDigit(text, at)) return { at, isBroken: true };
    at = skipDigits(text, at);
  }
  return { at, isBroken: false };
}

const greatestExact = String(2 ** 53);

function lossOf(number: string): "integer" | "number" | undefined {
  if (!Number.isFinite(Number(number))) return "number";
  const digits = number.startsWith("-") ? number.slice(1) : number;
  if (skipDigits(digits, 0) < digits.length) return undefined;
  const isBeyond =
    digits.length === greatestExact.length ? digits > greatestExact : digits.length > greatestExact.length;
  return isBeyond ? "integer" : undefined;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (text[end] === " " || text[end] === "\n" || text[end] === "\r" || text[end] === "\t") end++;
  return end;
}

function skipDigits(text: string, at: number): number {
  let end = at;
  while (isDigit(text, end)) end++;
  return end;
}

function isDigit(text: string, at: number): boolean {
  const char = text[at];
  return char !== undefined && char >= "0" && char <= "9";
}
