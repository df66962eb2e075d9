import { startClock, stopClock } from "./clock.js";
import type { ErrorData } from "./errors.js";
import { type Call, callOf, type Node, stepOf } from "./node.js";
import { queue } from "./queue.js";
import type { TimedOut } from "./record.js";
import { failScope } from "./scope.js";
import type { RunState } from "./state.js";
import { clearTimer } from "./tree.js";

/** What the end of a budget of time means. */

export function timedOut(state: RunState, node: Node, record: TimedOut): void {
  const { path } = record;
  stopClock(state, node.clock);
  node.clock = undefined;
  if (node.kind === "flow") {
    const error: ErrorData = {
      code: "TIMED_OUT",
      message: `Workflow ${node.plan.name} did not end within its timeout_ms.`,
    };
    return failScope(state, node, error, { abort: true });
  }
  if (node.kind === "step") node.timedOut = true;
  const call = callOf(node);
  if (call === undefined && node.kind === "step") {
    const message = "The step did not end within its timeout_ms.";
    const error: ErrorData = { code: "TIMED_OUT", message, stepId: node.plan.id, path };
    return failScope(state, node, error, { abort: true });
  }
  if (call !== undefined) callTimedOut(state, call);
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
  const budgetMs = call.entry?.plan?.timeoutMs ?? stepOf(call)?.plan.timeoutMs;
  stopClock(state, node.clock);
  node.clock = budgetMs === undefined ? undefined : startClock(state, node, budgetMs);
}
