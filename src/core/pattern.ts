import { atom, beginApart, determinate, nothing, type Part, sequence, sum, workOf } from "./pattern-work.js";

/**
 * JavaScript matches regular expressions by trying: the work may grow as a power of the text's length, or double with
 * each further character. Here a pattern's work is bounded before it is ever used:
 *
 * 1. A repeated group must match a text in one way only: it is of one length, or its iterations begin or end with a
 *    character that nothing else in it matches, or its alternatives begin with different characters. Any other
 *    repeated group is refused, and so is a reference back to a group: their work may double.
 * 2. What is left tries about `ways * length ** power` times. Beyond a power of 1, only texts are matched that are
 *    short enough for `maxSteps`.
 */
export interface PatternBound {
  /** The UTF-16 units that a text may have. Absent: any number. */
  readonly maxLength?: number;
  /** Why the pattern is not to be used at all. */
  readonly refused?: string;
}

const maxSteps = 10_000_000;
const maxPatternLength = 4_096;
const maxGroupDepth = 50;
/** More optional parts than this multiply to are refused. */
const maxWays = 1_000;

export function boundPattern(pattern: string): PatternBound {
  if (pattern.length > maxPatternLength) return { refused: `is longer than ${maxPatternLength} characters` };
  try {
    new RegExp(pattern, "u");
  } catch {
    return { refused: "is no regular expression (ECMA-262, with the flag u)" };
  }
  const parser = new Parser(pattern);
  const whole = parser.alternatives();
  const { ways, isAnchored } = whole;
  const refused = parser.refusal ?? (ways > maxWays ? "has too many optional parts" : undefined);
  if (refused !== undefined) return { refused: `${refused}, so that the work of matching it may grow without bound` };
  // Without ^ the engine starts anew at each character.
  const exponent = workOf(whole) + (isAnchored ? 0 : 1);
  return exponent <= 1 ? {} : { maxLength: Math.floor((maxSteps / ways) ** (1 / exponent)) };
}

const quantifier = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/uy;
const classText = /\[(?:[^\]\\]|\\.)*\]/uy;
const escapeText = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u.{4}|x..|c.|.)/uy;
const groupStart = /\((?:\?(?::|=|!|<=|<!|<[^>]*>))?/uy;
const character = /./suy;

/** Reads a pattern that the engine itself has accepted. */
class Parser {
  private position = 0;
  private depth = 0;
  private isDeep = false;
  private isSeveral = false;
  private isStrange = false;

  constructor(private readonly pattern: string) {}

  /** Why the work of what was read can't be bounded. */
  get refusal(): string | undefined {
    if (this.isDeep) return `has groups at more than ${maxGroupDepth} levels`;
    if (this.isStrange) return "refers back to a group, or has a group of an unknown kind";
    return this.isSeveral ? "repeats a group that may match one text in several ways" : undefined;
  }

  alternatives(): Part {
    const first = this.terms();
    if (!this.take("|")) return sequence(first);
    const sequences = [first];
    do sequences.push(this.terms());
    while (this.take("|"));
    const parts = sequences.map(sequence);
    return {
      min: Math.min(...parts.map(({ min }) => min)),
      max: Math.max(...parts.map(({ max }) => max)),
      isDeterminate: false,
      isDivisible: parts.every(({ min, max, isDeterminate }) => min === max && isDeterminate) && beginApart(sequences),
      ways: sum(parts.map(({ ways }) => ways)),
      power: Math.max(...parts.map(({ power }) => power)),
      aside: Math.max(...parts.map(({ aside }) => aside)),
      atoms: parts.flatMap(({ atoms }) => atoms),
      isAnchored: parts.every(({ isAnchored }) => isAnchored),
    };
  }

  private terms(): Part[] {
    const terms: Part[] = [];
    while (this.position < this.pattern.length && !this.sees("|") && !this.sees(")")) terms.push(this.term());
    return terms;
  }

  private term(): Part {
    const part = this.part();
    const repetition = this.run(quantifier);
    if (repetition === "") return part;
    if (repetition.startsWith("?")) return this.repeat(part, 0, 1);
    if (repetition.startsWith("*")) return this.repeat(part, 0, Number.POSITIVE_INFINITY);
    if (repetition.startsWith("+")) return this.repeat(part, 1, Number.POSITIVE_INFINITY);
    const [least, most = least] = repetition.slice(1, repetition.indexOf("}")).split(",");
    return this.repeat(part, Number(least), most === "" ? Number.POSITIVE_INFINITY : Number(most));
  }

  private repeat(part: Part, least: number, most: number): Part {
    if (most === 0) return nothing;
    const isOptional = least === 0;
    const min = part.min * least;
    const max = part.max === 0 ? 0 : part.max * most;
    const repeated = { ...part, min, max, literal: undefined, isAnchored: part.isAnchored && !isOptional };
    if (most === 1) {
      if (!isOptional) return repeated;
      if (part.isDeterminate && part.min > 0) return determinate({ ...repeated, isDivisible: false });
      return { ...repeated, isDeterminate: false, isDivisible: false, ways: part.ways + 1 };
    }
    if (part.isDivisible) {
      return determinate({ ...repeated, isDivisible: min === max, aside: part.aside > 0 ? part.aside + 1 : 0 });
    }
    const ways = part.ways ** most;
    this.isSeveral = part.power > 0 || part.aside > 0 || !(ways <= maxWays) || this.isSeveral;
    return { ...repeated, isDeterminate: false, ways };
  }

  private part(): Part {
    if (this.take("^")) return { ...nothing, isAnchored: true };
    if (this.take("$")) return nothing;
    if (this.sees("(")) return this.group();
    if (this.sees("[")) return atom(this.run(classText));
    if (this.sees("\\")) return this.escape();
    const text = this.run(character);
    return text === "." ? atom(text) : { ...atom(text), literal: text };
  }

  private escape(): Part {
    const text = this.run(escapeText);
    if (text === "\\b" || text === "\\B") return nothing;
    if (/^\\[1-9k]/.test(text)) {
      this.isStrange = true;
      return nothing;
    }
    return /^\\[\^$\\.*+?()[\]{}|/]$/.test(text) ? { ...atom(text), literal: text.slice(1) } : atom(text);
  }

  private group(): Part {
    const start = this.run(groupStart);
    this.isStrange = this.sees("?") || this.isStrange;
    if (this.depth === maxGroupDepth) {
      // What is within makes no more difference.
      this.isDeep = true;
      this.position = this.pattern.length;
      return nothing;
    }
    this.depth++;
    const part = this.alternatives();
    this.depth--;
    this.take(")");
    return /[=!]$/.test(start) ? { ...nothing, aside: workOf(part) } : part;
  }

  private sees(text: string): boolean {
    return this.pattern.startsWith(text, this.position);
  }

  private take(text: string): boolean {
    const seen = this.sees(text);
    if (seen) this.position += text.length;
    return seen;
  }

  /** What the expression matches here; nothing where it does not. */
  private run(expression: RegExp): string {
    expression.lastIndex = this.position;
    const match = expression.exec(this.pattern);
    const text = match === null ? "" : match[0];
    this.position += text.length;
    return text;
  }
}
