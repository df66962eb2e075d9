import type { Broken, Trial } from "./explore.js";

/** Drops turns of a schedule for as long as what is left breaks something, too. One that is not steady stays as it is. */
export async function shrink(trial: Trial, broken: Broken): Promise<Broken> {
  if (!broken.isSteady) return broken;
  for (const dropped of broken.schedule) {
    const schedule = broken.schedule.filter((turn) => turn !== dropped);
    const less = await trial.play(schedule);
    // A turn that never came is none.
    if (less.broken !== undefined && less.played.course.unmet.length === 0) return shrink(trial, less.broken);
  }
  return broken;
}
