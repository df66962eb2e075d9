import type { Pending } from "./process.js";
import type { Choice, FaultKind, Faults, Menu, Option, Schedule } from "./schedule.js";

export interface Point {
  readonly at: string;
  readonly menu: Menu;
  readonly taken: Option;
  /** What goes on there: the call that is on its way, the question that is asked. */
  readonly pending: Pending | undefined;
}

/** A choice that did not come. */
export interface Unmet extends Choice {
  /** What could be taken there; `undefined` where the run never came there. */
  readonly menu: Menu | undefined;
}

/**
 * One run's way through its points: where the schedule names one it goes as named there, else plainly.
 *
 * The courses of a run are a tree: the plain one is its root, and the children of a course take one more turn behind its
 * last. So each set of turns is tried once, and those with fewer turns come first.
 */
export class Course {
  readonly points: Point[] = [];
  private readonly turns: Map<string, string>;
  private readonly visits = new Map<string, number>();
  /** The menus that do not hold what the schedule names. */
  private readonly offered = new Map<string, Menu>();
  /** How many points there were up to the last turn. */
  private turned = 0;

  constructor(schedule: Schedule) {
    this.turns = new Map(schedule.map(({ at, take }) => [at, take]));
  }

  choose(place: string, menu: Menu, pending?: Pending): string {
    const visit = (this.visits.get(place) ?? 0) + 1;
    this.visits.set(place, visit);
    const at = visit === 1 ? place : `${place} (${visit})`;
    const turn = this.turns.get(at);
    const taken = turn === undefined ? menu[0] : menu.find(({ take }) => take === turn);
    this.points.push({ at, menu, taken: taken ?? menu[0], pending });
    if (turn !== undefined && taken === undefined) this.offered.set(at, menu);
    if (turn !== undefined && taken !== undefined) {
      this.turns.delete(at);
      this.turned = this.points.length;
    }
    return (taken ?? menu[0]).take;
  }

  /** What the schedule names and did not come. */
  get unmet(): readonly Unmet[] {
    return Array.from(this.turns, ([at, take]) => ({ at, take, menu: this.offered.get(at) }));
  }

  /** The turns that may follow behind the last one, within the bounds. */
  furtherTurns({ faults, maxFaults }: { faults: Faults; maxFaults: number }): Choice[] {
    const spent = new Map<FaultKind, number>();
    let total = 0;
    for (const { menu, taken } of this.points) {
      if (taken === menu[0] || taken.fault === undefined) continue;
      spent.set(taken.fault, (spent.get(taken.fault) ?? 0) + 1);
      if (taken.fault !== "order") total++;
    }
    const mayHappen = ({ fault }: Option) =>
      fault === undefined || ((spent.get(fault) ?? 0) < faults[fault] && (fault === "order" || total < maxFaults));
    return this.points.slice(this.turned).flatMap(({ at, menu }) =>
      menu
        .slice(1)
        .filter(mayHappen)
        .map(({ take }) => ({ at, take })),
    );
  }
}
