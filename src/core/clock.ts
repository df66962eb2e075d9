import type { ErrorData } from "./errors.js";
import { type Clock, type Node, stepOf, type Timer } from "./node.js";
import { defaultUndoTimeoutMs } from "./plan.js";
import type { RunState } from "./state.js";

/**
 * Budgets and waits, all computed from the times of records:
 * 1. A timer is due when its time has come, whoever looks and whenever.
 * 2. A clock stands still while all that is left below its node waits for people; then it has no timer.
 */

/** Starts to count what a node may take; nothing where it may take for ever. */
export function startClock(state: RunState, node: Node, budgetMs: number | undefined): Clock | undefined {
  if (budgetMs === undefined) return undefined;
  const clock: Clock = { node, budgetMs, usedMs: 0, running: undefined };
  state.clocks.add(clock);
  run(state, clock);
  return clock;
}

export function stopClock(state: RunState, clock: Clock | undefined): void {
  if (clock === undefined) return;
  halt(state, clock);
  state.clocks.delete(clock);
  state.standing.delete(clock);
}

/** Lets clocks stand still or go on, after a record that may have changed who is waited for. */
export function updateClocks(state: RunState): void {
  // While nobody is asked anything, no clock has a reason to stand still.
  for (const clock of state.questions.size > 0 ? state.clocks : state.standing) {
    const stands = !isActive(clock.node);
    if (stands === (clock.running === undefined)) continue;
    if (stands) halt(state, clock);
    else run(state, clock);
  }
}

function run(state: RunState, clock: Clock): void {
  const since = state.updatedAt;
  const timer = { until: since + clock.budgetMs - clock.usedMs, what: "deadline", node: clock.node } as const;
  state.timers.add(timer);
  state.standing.delete(clock);
  clock.running = { since, timer };
}

function halt(state: RunState, clock: Clock): void {
  if (clock.running === undefined) return;
  clock.usedMs += state.updatedAt - clock.running.since;
  state.timers.delete(clock.running.timer);
  state.standing.add(clock);
  clock.running = undefined;
}

/** How long a node may take; nothing where it may take for ever. */
export function budgetOf(node: Node): number | undefined {
  if (node.kind !== "call" || node.purpose === "undo") return node.plan.timeoutMs;
  // What is made again below a scope that fails can't be cancelled any more.
  return stepOf(node)?.plan.timeoutMs ?? (node.stopped ? defaultUndoTimeoutMs : undefined);
}

export function outOfTime(node: Node): ErrorData {
  const subject =
    node.kind === "flow" ? `Workflow ${node.plan.name}` : `The ${node.kind === "step" ? node.kind : node.purpose}`;
  const message = `${subject} did not end within the ${budgetOf(node)} ms that its timeout_ms allows.`;
  return { code: "TIMED_OUT", message };
}

const noNodes: ReadonlySet<Node> = new Set();

/** Whether something below, or the node itself, can go on without a person; `asked` are about to wait for one. */
export function isActive(node: Node, asked: ReadonlySet<Node> = noNodes): boolean {
  switch (node.kind) {
    case "call":
      return node.phase !== "asked" && !asked.has(node);
    case "flow": {
      const below = node.undoCall ?? node.current;
      return below === undefined || isActive(below, asked);
    }
    case "step": {
      const below = node.undoCall ?? node.fallback ?? node.call;
      if (below !== undefined) return isActive(below, asked);
      if (node.children === undefined || node.children.live.size === 0) return true;
      for (const child of node.children.live) if (isActive(child, asked)) return true;
      return false;
    }
  }
}

/** The time at which the first timer is due. */
export function nextTimer({ timers }: RunState): number | undefined {
  return timers.next;
}

/** The timers that are due, the earliest first. */
export function dueTimers({ timers }: RunState, now: number): Timer[] {
  return timers.due(now);
}
