import { isToolweaveError } from "../../core/errors.js";

const longestShown = 300;

export function fail(message: string): never {
  throw new Error(message);
}

/** Compares as JSON text: that of a record must come back to the letter, the order of its keys included. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [textOf(actual), textOf(expected)];
  if (got !== wanted) fail(`${what}: expected ${excerpt(wanted, got)}, got ${excerpt(got, wanted)}`);
}

/** Of heads, whose keys may come back in any order. */
export function expectSameHead(actual: object | undefined, expected: object, what: string): void {
  expectSame(actual && sortedEntries(actual), sortedEntries(expected), what);
}

export function expectTrue(condition: boolean, what: string): void {
  if (!condition) fail(what);
}

export async function expectConflict(append: Promise<void>, what: string): Promise<void> {
  await expectRejection(append, what, isConflict, "a ConflictError");
}

export async function expectRejection(
  promise: Promise<unknown>,
  what: string,
  matches: (error: unknown) => boolean = () => true,
  expected = "an error",
): Promise<void> {
  const outcome = await promise.then(
    () => "nothing",
    (error: unknown) => (matches(error) ? undefined : error),
  );
  if (outcome !== undefined) fail(`${what}: expected ${expected} to be thrown, got ${String(outcome)}`);
}

/** Settles all appends; every one that is refused must be refused as a conflict. Returns the places of those that won. */
export async function winnersOf(appends: readonly Promise<void>[]): Promise<number[]> {
  const outcomes = await Promise.allSettled(appends);
  return outcomes.flatMap((outcome, index) => {
    if (outcome.status === "fulfilled") return [index];
    if (!isConflict(outcome.reason)) fail(`a lost race: expected a ConflictError, got ${String(outcome.reason)}`);
    return [];
  });
}

export function isConflict(error: unknown): boolean {
  return isToolweaveError(error) && error.code === "STORE_CONFLICT";
}

const patienceMs = 10_000;

/** Tries until it holds, for 10 s at most. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) fail(`${what}: not within ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function sortedEntries(object: object): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The part of a text around the place where it differs from the other. */
function excerpt(text: string, other: string): string {
  if (text.length <= longestShown) return text;
  let start = 0;
  while (start < text.length && text[start] === other[start]) start += 1;
  const from = Math.max(0, start - 40);
  return `…${text.slice(from, from + longestShown)}… (${text.length} characters)`;
}
