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
      ...(takeOver ? {} : { leaseMs: 150 }),
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

/** The names of all cases: each point of each shape, and so many times of each. */
export async function allCases(stage: Stage, timesOfEach: number): Promise<{ names: string[]; undisturbed: Played[] }> {
  const names: string[] = [];
  const played = await Promise.all(shapes.map((shape) => play(stage, undisturbed(shape))));
  for (const [index, { name }] of shapes.entries()) {
    const points = played[index]?.points ?? 0;
    for (let point = 1; point <= points; point++) names.push(`${name}/${point}`);
    for (let time = 0; time < timesOfEach; time++) names.push(`${name}/r${time}`);
  }
  return { names, undisturbed: played };
}
