import type { Effect } from "../core/effect.js";
import type { Node } from "../core/node.js";
import type { Fact } from "../core/record.js";
import { type CallOutcome, settleCall } from "../core/settle.js";
import { Handle } from "./handle.js";
import type { Settings } from "./options.js";
import { type Performed, perform, type World } from "./perform.js";

/** A fact that begins something, its node, and what follows at once when it is durable. */
export interface Beginning {
  readonly handle: Handle;
  readonly fact: Fact;
  readonly goOn: (() => void) | undefined;
  readonly stillHolds?: () => Promise<boolean>;
}

/** What came of an effect. The fact is made when it is applied: only then is it known how the node stands. */
export interface Arrival {
  readonly handle: Handle;
  readonly outcome: CallOutcome | undefined;
  settle(): Fact | undefined;
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

  constructor(
    private readonly world: World,
    private readonly settings: Pick<Settings, "clock" | "limits">,
    private readonly tower: Tower,
  ) {}

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
    for (const { effect, handle } of this.planned.splice(0)) {
      if (!handle.isWanted()) continue;
      this.handles.set(handle.node, handle);
      this.launch(handle, (arrive) => perform(this.world, effect, handle, arrive));
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
    return this.arrivals.splice(0).filter(({ handle }) => this.release(handle) && handle.isWanted());
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

  private launch(handle: Handle, effect: (arrive: (what: Performed) => void) => void): void {
    try {
      effect((what) => this.arrive(handle, what));
    } catch (error) {
      this.tower.fail(error);
    }
  }

  private arrive(handle: Handle, what: Performed): void {
    if (this.handles.get(handle.node) !== handle) return;
    if (what.kind === "settle") {
      this.arrivals.push({ handle, outcome: what.outcome, settle: what.settle });
    } else if (handle.isAborted) {
      // The driver left before its call began.
      this.release(handle);
    } else {
      const { fact, goOn, stillHolds } = what;
      const follow = goOn && (() => this.launch(handle, goOn));
      this.beginnings.push({ handle, fact, goOn: follow, stillHolds });
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
        const outcome: CallOutcome = { kind: "failed", ...unsettled };
        this.arrivals.push({ handle, outcome, settle: () => settleCall(node, outcome) });
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
