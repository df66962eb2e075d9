import { isJsonArray, isJsonObject, type JsonValue } from "./json.js";

// Controls, bidi marks, zero-width and unassigned characters, every blank but the common one, and the blank braille
// cell, which no property tells.
const unseen = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
// A run of blanks this long could push what follows out of sight.
const padding = / {17,}/g;
const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Foreign text on one line, as it can be seen: what has no look of its own, or changes that of its neighbours, is
 * written `\n`, `\r`, `\t` or `\u{202e}`, and a backslash `\\`, so that no two texts look the same for that.
 */
export function visible(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replace(unseen, escaped)
    .replace(padding, (run) => "\\u{20}".repeat(run.length));
}

function escaped(character: string): string {
  return shortEscapes[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u;

/** A name that other text follows on its line: quoted where it could be taken for that. */
export function visibleName(name: string): string {
  return plainName.test(name) && visible(name) === name ? name : quoted(name);
}

function quoted(text: string): string {
  return `"${visible(text).replaceAll('"', '\\"')}"`;
}

const lineLength = 80;
/** Deeper than this, a value stays on one line: indenting it would only push it aside. */
const maxIndents = 8;

/** A value as JSON with its texts visible; one that is too long for a line takes several, all indented. */
export function visibleJson(value: JsonValue, indents: number): string {
  const line = onOneLine(value);
  if (line.length <= lineLength || indents >= maxIndents) return line;
  const indent = "  ".repeat(indents + 1);
  const end = "  ".repeat(indents);
  if (isJsonArray(value)) {
    return `[\n${value.map((element) => indent + visibleJson(element, indents + 1)).join(",\n")}\n${end}]`;
  }
  if (!isJsonObject(value)) return line;
  const properties = Object.entries(value);
  return `{\n${properties.map(([key, each]) => `${indent}${quoted(key)}: ${visibleJson(each, indents + 1)}`).join(",\n")}\n${end}}`;
}

function onOneLine(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (isJsonArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const properties = Object.entries(value).map(([key, each]) => `${quoted(key)}: ${onOneLine(each)}`);
  return properties.length === 0 ? "{}" : `{ ${properties.join(", ")} }`;
}

/** Text of several lines as a block, each of them marked, so that none can stand for a line of anything else. */
export function visibleLines(text: string, indent: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? `${indent}|` : `${indent}| ${visible(line)}`))
    .join("\n");
}
