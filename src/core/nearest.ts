const maxLength = 64;

/** The candidate that a misspelt name most likely stands for: at most a third of it differs. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > maxLength) return undefined;
  let best: string | undefined;
  let least = Math.ceil(name.length / 3);
  for (const candidate of candidates) {
    if (candidate === name || Math.abs(candidate.length - name.length) > least) continue;
    const distance = editDistance(name, candidate);
    if (distance < least || (distance === least && best === undefined)) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements, and swaps of neighbours (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const replaced = at(last, column - 1) + (isSame ? 0 : 1);
      let cost = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1);
      if (left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return Number(row[column]);
}
