import { type Case, type Kill, type Played, play, type Stage } from "./play.js";
import { Random } from "./random.js";
import { type Shape, shapeNamed, shapes } from "./shapes.js";

/** A case that nothing happens to: how many points there are, and how long it takes. */
function undisturbed(shape: Shape): Case {
  return {
    name: `${shape.name}/undisturbed`,
    shape,
    kills: [],
    how: {
      takeOver: true,
      inDoubt: "ask",
      asks: shape.asks ? "all" : "nothing",
      notApplied: "retry",
      answersHere: false,
      paceMs: 0,
      isLate: false,
      heedsSignal: false,
    },
  };
}

/**
 * The case of that name: `chain/17` dies first at point 17, `chain/r4` at some time. What else happens, further kills
 * included, follows from seed and name.
 */
export function caseNamed(name: string, seed: number): Case {
  const random = new Random(seed, name);
  const [shapeName = "", place = ""] = name.split("/");
  const shape = shapeNamed(shapeName);
  const isTimed = place.startsWith("r");
  const kill = (): Kill => (isTimed ? { ms: random.below(120) } : { points: 1 + random.below(12) });
  const first: Kill = isTimed ? kill() : { points: Number(place) };
  const further = random.pick(0, 0, 1, 2);
  const takeOver = random.onceIn(2);
  return {
    name,
    shape,
    kills: [first, ...Array.from({ length: further }, kill)],
    ...(shape.isCancelled && { cancelAfterMs: random.below(80) }),
    how: {
      takeOver,
      // A run that a process died over before it had begun it can't be taken over: its lease has to run out.
      leaseMs: takeOver ? 1_000 : 150,
      inDoubt: random.pick("ask", "ask", "fail"),
      asks: shape.asks ? random.pick("steps", "all") : "nothing",
      notApplied: random.pick("retry", "retry", "not_applied"),
      answersHere: random.onceIn(2) && !shape.asks,
      paceMs: isTimed || shape.isCancelled ? random.below(8) : 0,
      isLate: random.onceIn(2),
      heedsSignal: random.onceIn(2),
    },
  };
}

/** The names of all cases, each point of each shape and as many times, in an order that the seed gives. */
export function caseNames(points: ReadonlyMap<string, number>, seed: number): string[] {
  const names: string[] = [];
  for (const [shape, count] of points) {
    for (let point = 1; point <= count; point++) names.push(`${shape}/${point}`);
    for (let time = 0; time < count / 4; time++) names.push(`${shape}/r${time}`);
  }
  const random = new Random(seed, "order");
  for (let left = names.length; left > 1; left--) {
    const [name = ""] = names.splice(random.below(left), 1);
    names.push(name);
  }
  return names;
}

/** Plays every shape with nothing happening to it, to learn how many points it has. */
export async function playUndisturbed(stage: Stage, onPlayed: OnPlayed): Promise<ReadonlyMap<string, number>> {
  const points = new Map<string, number>();
  for (const shape of shapes) {
    const given = undisturbed(shape);
    const played = await play(stage, given);
    points.set(shape.name, played.points);
    await onPlayed(given, played);
  }
  return points;
}

export type OnPlayed = (given: Case, played: Played) => Promise<void> | void;
