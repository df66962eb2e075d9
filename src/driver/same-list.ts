/** Whether two lists hold the very same things in the same order. */
export function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
