import { budgetOf, outOfTime, startClock, stopClock } from "./clock.js";
import type { Call, Node } from "./node.js";
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
  if (call.phase === "backoff") call.phase = "ready";
  queue(state, call);
}

/** A person has a write made again: its time begins anew. */
export function renewTime(state: RunState, call: Call): void {
  call.timedOut = false;
  // A step's own call has the time of its step.
  const node = call.purpose !== "undo" && call.owner.call === call ? call.owner : call;
  node.timedOut = false;
  stopClock(state, node.clock);
  node.clock = startClock(state, node, budgetOf(call));
}
