import { budgetOf, outOfTime, startClock, stopClock } from "./clock.js";
import { type Call, type Node, stepOf } from "./node.js";
import { queue } from "./queue.js";
import { failScope } from "./scope.js";
import type { RunState } from "./state.js";
import { clearTimer } from "./tree.js";

/** What the end of a budget of time means. */

export function timedOut(state: RunState, node: Node): void {
  stopClock(state, node.clock);
  node.clock = undefined;
  if (node.kind === "call") return callTimedOut(state, node);
  if (node.kind === "flow") return failScope(state, node, outOfTime(node), { abort: true });
  node.timedOut = true;
  if (node.call !== undefined) return callTimedOut(state, node.call);
  failScope(state, node, { ...outOfTime(node), stepId: node.plan.id, path: node.path }, { abort: true });
}

function callTimedOut(state: RunState, call: Call): void {
  call.timedOut = true;
  state.stops++;
  if (call.phase === "intended") {
    call.aborted = true;
    return;
  }
  clearTimer(state, call);
  if (call.phase === "backoff" || call.phase === "sleeping") call.phase = "ready";
  queue(state, call);
}

/** A person has a write made again: its time begins anew. */
export function renewTime(state: RunState, call: Call): void {
  call.timedOut = false;
  const step = call.purpose === "step" ? stepOf(call) : undefined;
  const node = step ?? call;
  if (step !== undefined) step.timedOut = false;
  const budgetMs = budgetOf(call);
  stopClock(state, node.clock);
  node.clock = budgetMs === undefined ? undefined : startClock(state, node, budgetMs);
}
