/** Set TOOLWEAVE_LAWS=thorough to try every case, and many more random ones; without it a share of them. */
export const isThorough = process.env.TOOLWEAVE_LAWS === "thorough";

/** The places from `first` to `last` at which something is done to a run: all of them, or so many evenly spread. */
export function places(first: number, last: number, share: number): number[] {
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  if (isThorough || all.length <= share) return all;
  return Array.from(
    { length: share },
    (_, index) => all[Math.round((index * (all.length - 1)) / (share - 1))] ?? first,
  );
}
