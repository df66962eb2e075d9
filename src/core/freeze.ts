/**
 * Freezes a value and all that is in it, functions and what `isKept` says excepted. What is frozen already is taken to be
 * so all the way down.
 */
export function deepFreeze<T>(value: T, isKept: (part: object) => boolean = () => false): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || isKept(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part, isKept);
  return value;
}
