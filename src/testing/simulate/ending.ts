import type { Played } from "./play.js";
import type { Choice, Schedule } from "./schedule.js";

/** How a run ended, as far as it has to be the same whatever happened to its drivers. */
export interface Ending {
  readonly status: string;
  /**
   * Whether no more than the status is the same. Where things run side by side, how far they come is a matter of timing;
   * and a refusal whose process died is told by a person as a plain failure, after which more is tried.
   */
  readonly isLoose: boolean;
  /** What has to be the same elsewhere. */
  readonly text: string;
  /** Likewise, where no call failed: the text of a failure whose process died is lost, and may stand in what follows. */
  readonly values: string;
  readonly hasFailure: boolean;
}

export function endingOf({ result, witness, hasRaced }: Played): Ending | undefined {
  if (result === undefined) return undefined;
  const { status, output, error, undoErrors = [], writes } = result;
  const text = JSON.stringify({
    status,
    error: error?.path,
    undoErrors: undoErrors.map(({ path }) => path),
    writes: writes.map(({ path, state }) => [path, state]).sort(),
    made: witness.writes.map(({ path }) => path),
  });
  const values = JSON.stringify({ output, inputs: witness.writes.map(({ inputs }) => inputs) });
  const { hasRefusal, hasFailure } = witness;
  return { status, isLoose: hasRaced || hasRefusal, text, values, hasFailure };
}

/**
 * The schedule that has to end as this one does: without what has no bearing on the end. `undefined` where something
 * happened that may end the run in another way.
 */
export function peerOf({ course }: Played): Schedule | undefined {
  const peer: Choice[] = [];
  for (const { at, menu, taken } of course.points) {
    // How calls of a dead process fared is part of its death.
    if (taken === menu[0] || taken.bearing === "none" || taken.take === "arrives") continue;
    if (taken.bearing !== "lasting") return undefined;
    peer.push({ at, take: taken.take });
  }
  return peer;
}

/** What differs that should not. */
export function differenceOf(played: Ending, peer: Ending): string | undefined {
  if (played.status !== peer.status) return difference(played.status, peer.status);
  if (played.isLoose || peer.isLoose) return undefined;
  if (played.text !== peer.text) return difference(played.text, peer.text);
  if (played.hasFailure || peer.hasFailure || played.values === peer.values) return undefined;
  return difference(played.values, peer.values);
}

function difference(is: string, was: string): string {
  return `The run ended otherwise than without what happened to its drivers: ${is} instead of ${was}`;
}
