import type { Played } from "./play.js";

/** Whether two runs of one schedule went the same way. All that may go otherwise is chosen by the schedule. */
export function wentAlike(one: Played, other: Played): boolean {
  return traceOf(one) === traceOf(other);
}

function traceOf({ course, witness, result }: Played): string {
  const { writes, problem } = witness;
  return JSON.stringify([course.points.map(({ at, taken }) => [at, taken.take]), writes, result, problem]);
}

/** @param found what is wrong with the one run, if anything */
export function unsteady(found: string | undefined): string {
  const what =
    "The same schedule, played twice, went two ways. Something that a fake tool, the policy or the check goes by does not " +
    "begin anew with every schedule: keep it in fakeState, and use neither the time nor random numbers of the machine.";
  return found === undefined ? what : `${what} In one of the two: ${found}`;
}
