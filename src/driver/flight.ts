import type { Effect } from "../core/effect.js";
import type { Node } from "../core/node.js";
import type { Fact } from "../core/record.js";
import { settleCall } from "../core/settle.js";
import { Handle } from "./handle.js";
import type { Settings } from "./options.js";
import { type Performed, perform, type World } from "./perform.js";
import type { LateWrite } from "./report.js";

/** A fact that begins something, its node, and what follows at once when it is durable. */
export interface Beginning {
  readonly handle: Handle;
  readonly fact: Fact;
  readonly goOn: (() => void) | undefined;
  readonly stillHolds?: () => Promise<boolean>;
}

/** What came of an effect. */
export interface Arrival {
  readonly handle: Handle;
  readonly what: Exclude<Performed, { kind: "begin" }>;
}

/** The fact that an arrival is, as its node stands now. */
export function factOf({ handle, what }: Arrival): Fact | undefined {
  if (what.kind === "settle") return what.settle();
  const { node, isAborted, isWrite } = handle;
  if (node.kind !== "call") return undefined;
  // A read that was dropped and therefore failed says nothing: it is made again.
  if (isAborted && !isWrite && what.outcome.kind !== "returned") return undefined;
  return settleCall(node, what.outcome);
}

/** The outcome of a write, which may have been made: it must not get lost. */
export function writeOf({ handle, what }: Arrival): LateWrite | undefined {
  if (!handle.isWrite || what.kind !== "outcome") return undefined;
  return { path: handle.node.path, attempt: handle.attempt, outcome: what.outcome };
}

interface Tower {
  /** Something arrived, or may begin. */
  rouse(): void;
  fail(error: unknown): void;
}

type Planned = { readonly effect: Exclude<Effect, { kind: "commit" }>; readonly handle: Handle };

/** The effects of a run: planned, in flight, and arrived. */
export class Flight {
  private planned: Planned[] = [];
  private readonly handles = new Map<Node, Handle>();
  private arrivals: Arrival[] = [];
  private beginnings: Beginning[] = [];
  private readonly graces = new Set<AbortController>();

  private readonly world: World;

  constructor(
    { state, route, announce }: Omit<World, "arrive" | "fail">,
    private readonly settings: Pick<Settings, "clock" | "limits">,
    private readonly tower: Tower,
  ) {
    const arrive = (handle: Handle, what: Performed) => this.arrive(handle, what);
    this.world = { state, route, announce, arrive, fail: tower.fail };
  }

  /** How many effects are in flight: started, and not yet taken in. */
  get size(): number {
    return this.handles.size;
  }

  /** Whether nothing is in flight, and nothing waits to start. */
  get isIdle(): boolean {
    return this.handles.size === 0 && !this.isToStart;
  }

  /** Whether something is planned, or may begin. */
  get isToStart(): boolean {
    return this.planned.length > 0 || this.beginnings.length > 0;
  }

  get hasArrivals(): boolean {
    return this.arrivals.length > 0;
  }

  plan(effect: Effect): void {
    const handle = new Handle(effect.node, "attempt" in effect ? effect.attempt : 1);
    if (effect.kind === "commit") this.beginnings.push({ handle, fact: effect.fact, goOn: undefined });
    else this.planned.push({ effect, handle });
  }

  startPlanned(): void {
    if (this.planned.length === 0) return;
    const planned = this.planned;
    this.planned = [];
    for (const { effect, handle } of planned) {
      if (!handle.isWanted()) continue;
      this.handles.set(handle.node, handle);
      try {
        perform(this.world, effect, handle);
      } catch (error) {
        this.tower.fail(error);
      }
    }
  }

  /** The facts that may be made durable now. */
  takeBeginnings(): Beginning[] {
    if (this.beginnings.length === 0) return this.beginnings;
    return this.beginnings.splice(0).filter(({ handle }) => {
      const isWanted = handle.isWanted();
      if (!isWanted) this.release(handle);
      return isWanted;
    });
  }

  /** What arrived and is still wanted. */
  takeArrivals(): Arrival[] {
    if (this.arrivals.length === 0) return this.arrivals;
    const arrivals = this.arrivals;
    this.arrivals = [];
    return arrivals.filter(({ handle }) => this.release(handle) && handle.isWanted());
  }

  /** Ends an effect. False when it had been ended before. */
  release(handle: Handle): boolean {
    return this.handles.get(handle.node) === handle && this.handles.delete(handle.node);
  }

  /** Drops what was planned, and aborts what is in flight. */
  ground(): void {
    this.planned = [];
    for (const { handle } of this.beginnings.splice(0)) this.release(handle);
    for (const handle of this.handles.values()) handle.abort();
  }

  /** Aborts what is no longer wanted. A write is given time to settle. */
  abortStopped(): void {
    for (const handle of this.handles.values()) {
      const mustStop = handle.node.kind === "call" && handle.node.aborted;
      if (handle.isAborted || (handle.isWanted() && !mustStop)) continue;
      handle.abort();
      if (handle.isWrite && handle.isWanted()) this.giveGrace(handle);
      else this.release(handle);
    }
  }

  /** Ends every wait for a grace period. */
  close(): void {
    for (const grace of this.graces) grace.abort();
    this.graces.clear();
  }

  private arrive(handle: Handle, what: Performed): void {
    if (this.handles.get(handle.node) !== handle) return;
    if (what.kind !== "begin") {
      this.arrivals.push({ handle, what });
    } else if (handle.isAborted) {
      // The driver left before its call began.
      this.release(handle);
    } else {
      const { fact, goOn, stillHolds } = what;
      this.beginnings.push({ handle, fact, goOn, stillHolds });
    }
    this.tower.rouse();
  }

  private giveGrace(handle: Handle): void {
    const { clock, limits } = this.settings;
    const grace = new AbortController();
    this.graces.add(grace);
    clock.sleep(limits.gracePeriodMs, grace.signal).then(
      () => {
        this.graces.delete(grace);
        const { node } = handle;
        if (node.kind !== "call" || this.handles.get(node) !== handle) return;
        this.arrivals.push({ handle, what: { kind: "outcome", outcome: { kind: "failed", ...unsettled } } });
        this.tower.rouse();
      },
      (error) => (grace.signal.aborted ? undefined : this.tower.fail(error)),
    );
  }
}

const unsettled = {
  outcome: "in_doubt",
  error: {
    code: "TOOL_IN_DOUBT",
    message: "The call was aborted and did not settle in time, so nobody knows whether it was made.",
  },
} as const;
