import { ToolError } from "../../src/core/errors.js";
import type { JsonObject } from "../../src/core/json.js";
import type { Tool, ToolCallContext } from "../../src/ports/tool-adapter.js";

/**
 * What a call does, told by its input `b`:
 *
 * - `ok`, also when absent. `fail_once`: not applied at the first attempt. `fail`: never applied. `refuse`: likewise.
 * - `fail_until_2`: not applied unless a container around it is at its second attempt.
 * - `lose_reply`: at the first attempt applied, and the connection is cut. `lose_call`: not applied, and cut.
 * - `unknown`: applied, and cut, at every attempt; whoever is asked about it does not know either.
 * - `hang`: settles only when it is aborted; a write is applied before.
 * - `late`: applied, and at the first attempt returns only when it is aborted.
 */
export type Behaviour =
  | "ok"
  | "fail_once"
  | "fail"
  | "refuse"
  | "fail_until_2"
  | "lose_reply"
  | "lose_call"
  | "unknown"
  | "hang"
  | "late";

/** What a write did in the world. */
export interface Effect {
  readonly tool: string;
  readonly key: string;
  readonly attempt: number;
}

interface Flight {
  act(): void;
}

/** One process that drives: when it dies, its calls never settle. */
export class Life {
  readonly flights = new Set<Flight>();
  readonly death: Promise<void>;
  isDead = false;
  private tellDeath = (): void => undefined;

  constructor() {
    this.death = new Promise((resolve) => {
      this.tellDeath = resolve;
    });
  }

  /** @param reaches whether calls on their way still come to their effect. */
  die(reaches: boolean): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const flight of this.flights) if (reaches) flight.act();
    this.tellDeath();
  }
}

/** A promise that never settles. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

const writes = {
  put: { idempotent: false },
  post: { idempotent: true },
  erase: { idempotent: false },
  revoke: { idempotent: true },
} as const;

type WriteName = keyof typeof writes;

/** The systems that tools work on: they outlive every driver, and know what was done to them. */
export class World {
  /** Every effect, in order. A key occurs twice only when something went wrong. */
  readonly effects: Effect[] = [];
  /** Attempts that arrived, `key#attempt`. */
  readonly arrived = new Set<string>();
  /** How often tools were called. */
  calls = 0;
  /** Who holds a call until it is let go, by path. */
  readonly gates = new Map<string, Promise<void>>();

  /** @param slowness how long a call is on its way, in turns of the microtask queue, where its inputs do not say. */
  constructor(private readonly slowness = 1) {}

  has(key: string): boolean {
    return this.effects.some((effect) => effect.key === key);
  }

  /** The tools as one process sees them. `look` is a read; `post` and `revoke` are idempotent. */
  tools(life: Life): readonly Tool[] {
    const look: Tool = {
      name: "look",
      effect: "read",
      execute: (inputs, context) => this.call(life, "look", inputs, context, () => undefined),
    };
    const names = Object.keys(writes) as WriteName[];
    return Object.freeze([Object.freeze(look), ...names.map((name) => this.write(life, name))]);
  }

  private write(life: Life, name: WriteName): Tool {
    const { idempotent } = writes[name];
    return Object.freeze({
      name,
      effect: "write" as const,
      idempotent,
      execute: (inputs: JsonObject, context: ToolCallContext) =>
        this.call(life, name, inputs, context, () => {
          const { idempotencyKey: key, attempt } = context;
          if (!idempotent || !this.has(key)) this.effects.push({ tool: name, key, attempt });
        }),
    });
  }

  private async call(
    life: Life,
    tool: string,
    inputs: JsonObject,
    context: ToolCallContext,
    apply: () => void,
  ): Promise<unknown> {
    const { path, attempt, idempotencyKey, signal } = context;
    const behaviour = behaviourOf(inputs);
    this.calls++;
    const act = () => {
      if (behaviour === "hang" && tool === "look") return;
      this.arrived.add(`${idempotencyKey}#${attempt}`);
      if (applies(behaviour, path, attempt)) apply();
    };
    const flight = { act };
    life.flights.add(flight);
    await turns(typeof inputs.turns === "number" ? inputs.turns : this.slowness);
    await this.gates.get(path);
    if (life.isDead) return never();
    life.flights.delete(flight);
    act();
    if (behaviour === "hang" || (behaviour === "late" && attempt === 1)) await aborted(signal);
    await turns(1);
    if (life.isDead) return never();
    if (behaviour === "hang") throw signal.reason;
    if (behaviour === "refuse") throw new ToolError("It is refused.", { outcome: "refused" });
    if (behaviour === "unknown" || (attempt === 1 && (behaviour === "lose_reply" || behaviour === "lose_call"))) {
      throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    }
    if (!applies(behaviour, path, attempt)) throw new ToolError("It did not work.");
    return resultOf(tool, path, inputs);
  }
}

/** What a call returns: the same whenever and however often it is made. */
export function resultOf(tool: string, path: string, inputs: JsonObject): JsonObject {
  return { id: `${tool}:${path}`, ...(inputs.give === undefined ? {} : { given: inputs.give }) };
}

export function behaviourOf(inputs: JsonObject): Behaviour {
  return (inputs.b ?? "ok") as Behaviour;
}

function applies(behaviour: Behaviour, path: string, attempt: number): boolean {
  switch (behaviour) {
    case "fail":
    case "refuse":
      return false;
    case "fail_once":
    case "lose_call":
      return attempt > 1;
    case "fail_until_2":
      return path.includes("#2");
    default:
      return true;
  }
}

/** Time for others that no clock sees. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
