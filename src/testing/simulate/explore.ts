import type { RunResult } from "../../core/result.js";
import { differenceOf, type Ending, endingOf, peerOf } from "./ending.js";
import { type Played, play } from "./play.js";
import { random } from "./random.js";
import type { Schedule } from "./schedule.js";
import type { Setup } from "./setup.js";
import { unsteady, wentAlike } from "./steady.js";

interface Bounds {
  readonly limit: number;
  readonly seed: number;
}

/** What trying schedules came to. */
export interface Explored {
  readonly isExhaustive: boolean;
  /** Every schedule with so many turns or fewer was tried. */
  readonly completeTo: number;
  /** How the run stood where nothing happened to it. */
  readonly plainly: RunResult["status"] | undefined;
  /** The first that broke something. */
  readonly broken: Broken | undefined;
}

export interface Broken {
  readonly schedule: Schedule;
  readonly problem: string;
  readonly played: Played;
  /** Whether the schedule goes the same way whenever it is played. */
  readonly isSteady: boolean;
}

interface Tried {
  readonly played: Played;
  readonly broken: Broken | undefined;
}

/** Plays schedules, and says what each breaks. */
export class Trial {
  /** How runs end that nothing happened to but what lasts. */
  private readonly endings = new Map<string, Ending | undefined>();
  count = 0;

  constructor(private readonly setup: Setup) {}

  async play(schedule: Schedule): Promise<Tried> {
    this.count++;
    const played = await play(this.setup, schedule);
    const problem = played.witness.problem ?? (await this.differs(schedule, played));
    return { played, broken: problem === undefined ? undefined : { schedule, problem, played, isSteady: true } };
  }

  /** What is broken by a schedule that was played: its going another way when it is played once more, to begin with. */
  async confirm(schedule: Schedule, { played, broken }: Tried): Promise<Broken | undefined> {
    const again = await play(this.setup, schedule);
    if (wentAlike(played, again)) return broken;
    const problem = unsteady(broken?.problem ?? again.witness.problem);
    return { schedule, problem, played: broken === undefined ? again : played, isSteady: false };
  }

  private async differs(schedule: Schedule, played: Played): Promise<string | undefined> {
    const peer = peerOf(played);
    const ending = peer && endingOf(played);
    if (peer === undefined || ending === undefined) return undefined;
    if (peer.length === schedule.length) {
      this.endings.set(keyOf(schedule), ending);
      return undefined;
    }
    const expected = await this.endingOf(peer);
    return expected && differenceOf(ending, expected);
  }

  /** `undefined` where what the schedule names never comes, or the run does not end. */
  private async endingOf(schedule: Schedule): Promise<Ending | undefined> {
    const key = keyOf(schedule);
    if (!this.endings.has(key)) {
      const played = await play(this.setup, schedule);
      this.endings.set(key, played.course.unmet.length > 0 ? undefined : endingOf(played));
    }
    return this.endings.get(key);
  }
}

function keyOf(schedule: Schedule): string {
  return schedule
    .map(({ at, take }) => `${at}=${take}`)
    .sort()
    .join("\n");
}

/**
 * Tries every schedule with fewer turns before those with more; where those of one number would go beyond the limit,
 * schedules are drawn at random from them, and from what may follow on those that were drawn.
 */
export async function explore(trial: Trial, setup: Setup, { limit, seed }: Bounds): Promise<Explored> {
  const draw = random(seed);
  const most = 4 * limit;
  let level: Schedule[] = [[]];
  let plainly: Explored["plainly"];
  for (let turns = 0; level.length > 0; turns++) {
    const isDrawn = trial.count + level.length > limit;
    const further: Schedule[] = isDrawn ? level : [];
    for (let at = 0; isDrawn ? trial.count < limit : at < level.length; at++) {
      const schedule = isDrawn ? takeAny(level, draw) : level[at];
      if (schedule === undefined) break;
      const tried = await trial.play(schedule);
      const { played } = tried;
      if (turns === 0) plainly = played.result?.status;
      const isConfirmed = turns > 0 && tried.broken === undefined;
      const broken = isConfirmed ? undefined : await trial.confirm(schedule, tried);
      if (broken !== undefined) return { completeTo: turns - 1, plainly, isExhaustive: false, broken };
      for (const turn of played.course.furtherTurns(setup)) {
        if (further.length < most) further.push([...schedule, turn]);
        else further[draw(most)] = [...schedule, turn];
      }
    }
    if (isDrawn) return { completeTo: turns - 1, plainly, isExhaustive: false, broken: undefined };
    level = further;
  }
  return { completeTo: setup.maxFaults, plainly, isExhaustive: true, broken: undefined };
}

function takeAny<T>(list: T[], draw: (below: number) => number): T | undefined {
  const index = draw(list.length);
  const last = list.pop();
  if (last === undefined || index === list.length) return last;
  const taken = list[index];
  list[index] = last;
  return taken;
}
