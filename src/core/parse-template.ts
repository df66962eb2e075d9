import type { JsonValue } from "./json.js";
import { parseFragment, pointerTo, type Segment } from "./path.js";

/** Where a path begins. `result` is the turn's result, known in the `until` of a `repeat` alone. */
export type Root = "input" | "steps" | "error" | "item" | "index" | "result";

/** The value that a path begins at: one of a step's two, or that of another root. */
export type Origin =
  | { readonly root: "steps"; readonly stepId: string; readonly field: "result" | "inputs" }
  | { readonly root: Exclude<Root, "steps">; readonly stepId?: undefined; readonly field?: undefined };

/** One template at its place: what it reads, and how. */
export type Reference = Origin & {
  readonly segments: readonly Segment[];
  /** Whether it allows for a path that leads nowhere: `?` or `??`. */
  readonly optional: boolean;
  /** What `??` gives for a path that leads nowhere, and for `null`. */
  readonly fallback?: JsonValue;
  /** Whether the elements of its array are to stand in its place: `{{...path}}`. */
  readonly spread: boolean;
  /** The template as it is written, braces included. */
  readonly text: string;
  /** A JSON Pointer to the string that holds the template. */
  readonly pointer: string;
};

export interface ParsedText {
  /** Text with its escapes undone, and templates, in order. No empty text. */
  readonly parts: readonly (string | Reference)[];
  /** What is wrong with templates, a sentence each. `parts` lacks those. */
  readonly faults: readonly string[];
}

/** Reads a string from left to right, once. Backslashes before `{{` pair up; an odd one makes the braces text. */
export function parseText(text: string, roots: readonly Root[], pointer: string): ParsedText {
  const parts: (string | Reference)[] = [];
  const faults: string[] = [];
  let literal = "";
  let position = 0;
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", position)) {
    let backslashes = 0;
    while (open - backslashes > position && text[open - backslashes - 1] === "\\") backslashes++;
    literal += text.slice(position, open - Math.ceil(backslashes / 2));
    if (backslashes % 2 === 1) {
      literal += "{{";
      position = open + 2;
      continue;
    }
    if (literal !== "") parts.push(literal);
    literal = "";
    const scan = new Scan(text, open);
    try {
      parts.push(scan.template(roots, pointer));
      position = scan.position;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      const close = text.indexOf("}}", open);
      position = close === -1 ? text.length : close + 2;
      faults.push(`Template ${clip(text.slice(open, position))} ${error.message}`);
    }
  }
  literal += text.slice(position);
  if (literal !== "") parts.push(literal);
  return { parts, faults };
}

/** A path as an author would write it: with dots where they will do, else with a pointer. */
export function pathText(origin: Origin, segments: readonly Segment[]): string {
  const start = origin.root === "steps" ? `steps.${origin.stepId}.${origin.field}` : origin.root;
  if (segments.every(isPlain)) return [start, ...segments].join(".");
  return `${start}#${pointerTo(segments).replace(notInPointers, encodeURIComponent)}`;
}

const blanks = /[ \t\r\n]*/y;
const pathCharacters = /[^[\]{}|?#"\\\p{Cc}]*/uy;
const pointerCharacters = /[^ [\]{}|?#"\\\p{Cc}]*/uy;
const notInPointers = /[% [\]{}|?#"\\\p{Cc}]/gu;
const bareScalar = /[^ \t\r\n{}"]*/y;

/** Abandons one template; `parseText` goes on behind it. */
class Malformed extends Error {}

class Scan {
  position: number;

  constructor(
    private readonly text: string,
    private readonly open: number,
  ) {
    this.position = open + 2;
  }

  template(roots: readonly Root[], pointer: string): Reference {
    if (this.sees("{")) throw new Malformed("has three braces: write two, or a backslash before braces that are text.");
    this.run(blanks);
    if (this.sees("}}")) throw new Malformed("is empty: write a path, such as {{input.name}}.");
    const spread = this.take("...");
    const path = this.path();
    const keys = this.take("#") ? this.keys() : [];
    const { optional, fallback } = this.absence();
    this.run(blanks);
    if (!this.take("}}")) throw this.unexpected();
    if (spread && fallback !== undefined) {
      throw new Malformed("spreads a list, for which a scalar can't stand in: write ? instead of ??.");
    }
    const { root, stepId, field, rest } = readOrigin(path, roots);
    const segments = keys.length === 0 ? rest : [...rest, ...keys];
    const text = this.text.slice(this.open, this.position);
    // Written out: several times as fast as spreading the origin.
    return root === "steps"
      ? { root, stepId, field, segments, optional, fallback, spread, text, pointer }
      : { root, segments, optional, fallback, spread, text, pointer };
  }

  private path(): Segment[] {
    const run = this.run(pathCharacters);
    let { length } = run;
    while (run[length - 1] === " ") length--;
    this.position -= run.length - length;
    return run.slice(0, length).split(".");
  }

  private keys(): Segment[] {
    const segments = parseFragment(this.run(pointerCharacters));
    if (segments === undefined) {
      throw new Malformed("has a malformed pointer: write #/key/0, with ~0 for ~, ~1 for /, and %25 for %.");
    }
    return segments;
  }

  private absence(): { optional: boolean; fallback?: JsonValue } {
    if (!this.sees("??") && this.take("?")) return { optional: true };
    this.run(blanks);
    if (!this.take("??")) return { optional: false };
    this.run(blanks);
    return { optional: true, fallback: this.scalar() };
  }

  private scalar(): JsonValue {
    const text = this.sees('"') ? this.quoted() : this.run(bareScalar);
    try {
      const value: unknown = JSON.parse(text);
      if (value === null || typeof value === "string" || typeof value === "boolean") return value;
      if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
    } catch {
      // Not JSON at all: refused as any other default is.
    }
    throw new Malformed(
      'has no JSON scalar after "??": write a string in double quotes, a number, true, false or null.',
    );
  }

  /** A JSON string with its quotes; up to the end of the text where the closing one is missing. */
  private quoted(): string {
    const start = this.position;
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    this.position = Math.min(end + 1, this.text.length);
    return this.text.slice(start, this.position);
  }

  private unexpected(): Malformed {
    const found = this.text.codePointAt(this.position);
    if (found === undefined) return new Malformed('is never closed: write "}}" behind its path.');
    const shown = JSON.stringify(String.fromCodePoint(found));
    return new Malformed(
      `has an unexpected ${shown}: join segments with dots, as in input.items.0, and write any other key as a pointer, as in input#/a.b.`,
    );
  }

  private sees(text: string): boolean {
    return this.text.startsWith(text, this.position);
  }

  private take(text: string): boolean {
    const seen = this.sees(text);
    if (seen) this.position += text.length;
    return seen;
  }

  /** What the pattern, which matches nothing too, matches here. */
  private run(pattern: RegExp): string {
    const start = this.position;
    pattern.lastIndex = start;
    pattern.test(this.text);
    this.position = pattern.lastIndex;
    return this.text.slice(start, this.position);
  }
}

function readOrigin(path: readonly Segment[], roots: readonly Root[]): Origin & { readonly rest: readonly Segment[] } {
  for (const segment of path) {
    if (segment === "") throw new Malformed("has an empty segment: write one name between two dots.");
    if (segment !== segment.trim()) {
      throw new Malformed("has a blank before or after a segment: remove it, or write a pointer, as in input#/%20key.");
    }
  }
  const root = roots.find((name) => name === path[0]);
  if (root === undefined) {
    const known = roots.map((name) => (name === "steps" ? "steps.<id>.result, steps.<id>.inputs" : name));
    throw new Malformed(`has an unknown root: expected one of ${known.join(", ")}.`);
  }
  if (root !== "steps") return { root, rest: path.slice(1) };
  const [, stepId, field] = path;
  if (stepId === undefined || (field !== "result" && field !== "inputs")) {
    throw new Malformed("names no value of a step: write steps.<id>.result or steps.<id>.inputs.");
  }
  return { root, stepId, field, rest: path.slice(3) };
}

const plainSegment = /^[^.[\]{}|?#"\\\p{Cc}]+$/u;

function isPlain(segment: Segment): boolean {
  return plainSegment.test(segment) && segment === segment.trim();
}

const maxShownLength = 100;

/** Text short enough to stand in a message. */
export function clip(text: string): string {
  return text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}…`;
}
