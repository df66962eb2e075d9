/**
 * How long a text may be for a regular expression to be tried on it in bounded time.
 *
 * JavaScript's engine backtracks: a pattern's work grows as a power of the text's length, or doubles with each
 * character. A pattern of the second kind is refused; one of the first kind is tried on short texts only.
 */
export type PatternBound =
  /** Linear work: any text will do. */
  | { readonly kind: "any" }
  /** At most so many UTF-16 units. */
  | { readonly kind: "short"; readonly maxLength: number }
  | { readonly kind: "refused"; readonly reason: string };

const maxSteps = 10_000_000;
const maxWays = 1_000;
/** A repetition with more choices than this counts as unbounded. */
const maxChoices = 256;

export function boundPattern(pattern: string): PatternBound {
  try {
    new RegExp(pattern, "u");
  } catch {
    return { kind: "refused", reason: "is no regular expression (ECMA-262, with the flag u)" };
  }
  try {
    const scan = new Scan(pattern);
    const whole = scan.alternatives();
    const power = whole.power + (scan.isAnchored ? 0 : 1);
    if (whole.ways > maxWays) throw new Superlinear("has too many optional parts");
    if (power <= 1) return { kind: "any" };
    return { kind: "short", maxLength: Math.floor((maxSteps / whole.ways) ** (1 / power)) };
  } catch (error) {
    if (!(error instanceof Superlinear)) throw error;
    return { kind: "refused", reason: `${error.message}: its work could grow without bound` };
  }
}

class Superlinear extends Error {}

/** How many ways a part of a pattern has to match: about `ways * n ** power` for a text of length n. */
interface Cost {
  readonly power: number;
  readonly ways: number;
  /** Whether every text it matches has the same length, so that a repetition of it can be split in one way only. */
  readonly isFixed: boolean;
}

interface Term extends Cost {
  /** Of a single character or class, not repeated: its source. */
  readonly atom?: string;
  /** Whether the atom stands for exactly one character. */
  readonly isLiteral: boolean;
  /** Every atom within. */
  readonly atoms: readonly string[];
  /** Whether something within offers a choice of lengths or of alternatives. */
  readonly choices: number;
}
