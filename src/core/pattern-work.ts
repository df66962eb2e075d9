/** A part of a pattern. */
export interface Part {
  /** Lengths of what it matches, in characters. */
  readonly min: number;
  readonly max: number;
  /** Whether it matches a text of a given length in one way at most. */
  readonly isDeterminate: boolean;
  /** Whether a text divides into repetitions of it in one way at most. */
  readonly isDivisible: boolean;
  /** What follows is tried about `ways * length ** power` times. */
  readonly ways: number;
  readonly power: number;
  /** The power of the work of what is looked at ahead or behind; or again, where that is the greater one. */
  readonly aside: number;
  /** The single characters and classes in it, as they are written. */
  readonly atoms: readonly string[];
  /** Of one character that stands for itself: that character. */
  readonly literal?: string;
  readonly isAnchored: boolean;
}

export const nothing: Part = {
  min: 0,
  max: 0,
  isDeterminate: true,
  isDivisible: true,
  ways: 1,
  power: 0,
  aside: 0,
  atoms: [],
  isAnchored: false,
};

/** A part with more lengths than this counts as one of any length. */
const maxLengths = 256;

/** The power of the work of one attempt: what can be long is read through at least once. */
export function workOf({ power, aside, max }: Part): number {
  return Math.max(power, aside, max > maxLengths ? 1 : 0);
}

export function atom(text: string): Part {
  return { ...nothing, min: 1, max: 1, atoms: [text] };
}

/** The part with the work that its lengths make, given that it matches each of them in one way. */
export function determinate(part: Omit<Part, "ways" | "power" | "isDeterminate">): Part {
  const lengths = part.max - part.min + 1;
  const isBounded = lengths <= maxLengths;
  return { ...part, isDeterminate: true, ways: isBounded ? lengths : 1, power: isBounded ? 0 : 1 };
}

export function sequence(terms: readonly Part[]): Part {
  const [first = nothing] = terms;
  if (terms.length === 1) return { ...first, literal: undefined };
  const min = sum(terms.map((term) => term.min));
  const max = sum(terms.map((term) => term.max));
  const isDeterminate = isOneWay(terms);
  const isDivisible = isDeterminate && (min === max || isDelimited(terms));
  const atoms = terms.flatMap((term) => term.atoms);
  const { ways, power, aside } = tries(terms);
  const whole = { min, max, isDivisible, atoms, aside, isAnchored: first.isAnchored };
  return isDeterminate ? determinate(whole) : { ...whole, isDeterminate, ways, power };
}

/** Whether a text of a given length divides among the terms in one way at most. */
function isOneWay(terms: readonly Part[]): boolean {
  return terms.filter(({ min, max }) => min !== max).length <= 1 && terms.every((term) => term.isDeterminate);
}

/** How often what stands behind the terms is tried, and what is done aside for it. */
function tries(terms: readonly Part[]): Pick<Part, "ways" | "power" | "aside"> {
  let ways = 1;
  let power = 0;
  let aside = 0;
  let again = 0;
  let start = 0;
  for (const [index, { literal }] of terms.entries()) {
    if (literal === undefined && index < terms.length - 1) continue;
    const run = terms.slice(start, index + 1);
    const body = literal === undefined ? run : run.slice(0, -1);
    start = index + 1;
    // Where a character must follow that can't be within, there is one place only where the run can end.
    const endsAtOnePlace = literal !== undefined && isOneWay(body) && !mayHold(body, literal);
    let tried = power;
    for (const term of body) {
      if (term.aside > 0) aside = Math.max(aside, tried + term.aside);
      tried += term.power;
      if (!endsAtOnePlace) ways *= term.ways;
    }
    // Such a run is read anew each time that something before it is.
    if (!endsAtOnePlace) power = tried;
    else if (power > 0) again = Math.max(again, tried);
  }
  return { ways, power, aside: Math.max(aside, again > power ? again : 0) };
}

/** Whether the first or the last term is one character that nothing else in the sequence matches. */
function isDelimited(terms: readonly Part[]): boolean {
  const ends: [Part | undefined, readonly Part[]][] = [
    [terms.at(0), terms.slice(1)],
    [terms.at(-1), terms.slice(0, -1)],
  ];
  return ends.some(([end, others]) => {
    const literal = end?.literal;
    return literal !== undefined && !mayHold(others, literal);
  });
}

function mayHold(parts: readonly Part[], character: string): boolean {
  return parts.some(({ atoms }) => atoms.some((each) => matches(each, character)));
}

/** Whether the first characters of the sequences, each of one length, tell them apart. */
export function beginApart(sequences: readonly (readonly Part[])[]): boolean {
  const firsts = sequences.map(([first = nothing]) => first);
  if (!firsts.every(({ max }) => max === 1)) return false;
  const literals = new Set(firsts.flatMap(({ literal }) => literal ?? []));
  const classes = firsts.filter(({ literal }) => literal === undefined);
  // Two classes may have a character in common.
  if (classes.length > 1 || literals.size + classes.length < firsts.length) return false;
  return ![...literals].some((literal) => mayHold(classes, literal));
}

function matches(atomText: string, character: string): boolean {
  return new RegExp(`^(?:${atomText})$`, "u").test(character);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
