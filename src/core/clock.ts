import type { Clock, Node, Timer } from "./node.js";
import type { RunState } from "./state.js";

/**
 * Budgets and waits, all computed from the times of records:
 * 1. A timer is due when its time has come, whoever looks and whenever.
 * 2. A clock stands still while all that is left below its node waits for people; then it has no timer.
 */

function startTimer(state: RunState, timer: Timer): Timer {
  state.timers.add(timer);
  return timer;
}

export function startClock(state: RunState, node: Node, budgetMs: number): Clock {
  const clock: Clock = { node, budgetMs, usedMs: 0, since: undefined, timer: undefined };
  state.clocks.add(clock);
  run(state, clock);
  return clock;
}

export function stopClock(state: RunState, clock: Clock | undefined): void {
  if (clock === undefined) return;
  halt(state, clock);
  state.clocks.delete(clock);
}

/** Lets clocks stand still or go on, after a record that may have changed who is waited for. */
export function updateClocks(state: RunState): void {
  for (const clock of state.clocks) {
    const stands = state.questions.size > 0 && !isActive(clock.node);
    if (stands && clock.since !== undefined) halt(state, clock);
    else if (!stands && clock.since === undefined) run(state, clock);
  }
}

function run(state: RunState, clock: Clock): void {
  clock.since = state.updatedAt;
  const until = state.updatedAt + clock.budgetMs - clock.usedMs;
  clock.timer = startTimer(state, { until, what: "deadline", node: clock.node });
}

function halt(state: RunState, clock: Clock): void {
  if (clock.since !== undefined) clock.usedMs += state.updatedAt - clock.since;
  clock.since = undefined;
  if (clock.timer !== undefined) state.timers.delete(clock.timer);
  clock.timer = undefined;
}

const noNodes: ReadonlySet<Node> = new Set();

/** Whether something below, or the node itself, can go on without a person; `asked` are about to wait for one. */
export function isActive(node: Node, asked: ReadonlySet<Node> = noNodes): boolean {
  switch (node.kind) {
    case "call":
      return node.phase !== "asked" && !asked.has(node);
    case "flow": {
      const below = node.failing?.call ?? node.current;
      return below === undefined || isActive(below, asked);
    }
    case "step": {
      const below = node.failing?.call ?? node.fallback ?? node.call;
      if (below !== undefined) return isActive(below, asked);
      if (node.children === undefined || node.children.live.size === 0) return true;
      for (const child of node.children.live) if (isActive(child, asked)) return true;
      return false;
    }
    default:
      return node satisfies never;
  }
}

/** The time at which the first timer is due. */
export function nextTimer(state: RunState): number | undefined {
  let first: number | undefined;
  for (const { until } of state.timers) if (first === undefined || until < first) first = until;
  return first;
}

/** The timers that are due, the earliest first. */
export function dueTimers(state: RunState, now: number): Timer[] {
  return [...state.timers].filter(({ until }) => until <= now).sort((a, b) => a.until - b.until);
}
