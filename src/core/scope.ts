import { startChildren, startStep } from "./advance.js";
import { childrenOf } from "./containers/container.js";
import { containerOf, flowsOf } from "./containers/index.js";
import type { ErrorData } from "./errors.js";
import { emit } from "./event.js";
import type { JsonValue } from "./json.js";
import type { Call, Child, ChildFlow, Failing, Scope, Step } from "./node.js";
import { queue } from "./queue.js";
import type { RunState } from "./state.js";
import type { StepValues } from "./template.js";
import { clearTimer, closeQuestion, drop, hasLive } from "./tree.js";
import { beginUndo } from "./undo.js";

/**
 * How what ended is told to its owner, and how failing goes, the same at every level:
 * 1. A scope fails with its first error. It stops what runs below: reads and waits are dropped, approvals and asks
 *    withdrawn; writes in flight, doubts and undos that have begun are awaited.
 * 2. Once nothing below lives, its undo begins; only after that its owner is told, by a record of its own.
 * 3. What ends below a scope that fails starts nothing: it hands its pending undos up and leaves.
 */

/** A step came to its end; `values` is what templates read of it, absent when it was skipped. */
export function stepEnded(state: RunState, step: Step, values: StepValues | undefined): void {
  if (values !== undefined) step.flow.results.set(step.plan.id, values);
  const { owner, stopped } = step;
  drop(state, step);
  if (stopped) return release(state, owner);
  if (owner.kind === "flow") {
    owner.cursor++;
    startStep(state, owner);
  } else {
    childrenOf(owner).outcomes[step.index] = { result: values?.result ?? null };
    startChildren(state, owner);
  }
}

/** A child workflow or a direct call of a container came to its end. */
export function childEnded(state: RunState, child: ChildFlow | Call, container: Step, result: JsonValue): void {
  drop(state, child);
  if (child.stopped) return release(state, container);
  childrenOf(container).outcomes[child.index] = { result };
  goOn(state, container);
}

/** A step failed for good, and nothing is left of it but to tell its owner. */
export function stepFailed(state: RunState, step: Step, error: ErrorData): void {
  const { owner, stopped } = step;
  drop(state, step);
  if (stopped) return release(state, owner);
  if (owner.kind === "step" || owner.owner === undefined) return failScope(state, owner, error);
  if (containerOf(owner.owner).onChildFailure === "record") return failScope(state, owner, error);
  childFailed(state, owner, owner.owner, error, flowsOf(owner.owner).result?.(owner, null, true));
}

/** A child failed for good: one that is let fail has been undone. */
export function childFailed(
  state: RunState,
  child: ChildFlow | Call,
  step: Step,
  error: ErrorData,
  result?: JsonValue,
): void {
  const { onChildFailure } = containerOf(step);
  const children = childrenOf(step);
  drop(state, child);
  if (child.stopped) return release(state, step);
  children.outcomes[child.index] = result === undefined ? { error } : { result, error };
  if (onChildFailure === "record" && error.code !== "LIMIT_REACHED") return goOn(state, step);
  if (onChildFailure !== "await") return failContainer(state, step, error);
  children.failure ??= error;
  goOn(state, step);
}

function goOn(state: RunState, step: Step): void {
  const children = childrenOf(step);
  if (children.failure === undefined) return startChildren(state, step);
  if (children.live.size === 0) failContainer(state, step, children.failure);
}

/** A container fails by its children; `error` is that of the first. */
export function failContainer(state: RunState, step: Step, error: ErrorData): void {
  failScope(state, step, containerOf(step).failure?.(step) ?? error);
}

/** `abort`: the calls in flight below are aborted too, by a cancel or a time-out. */
export function failScope(
  state: RunState,
  scope: Scope,
  error: ErrorData,
  { status = "failed", abort = false }: { status?: Failing["status"]; abort?: boolean } = {},
): void {
  if (scope.failing !== undefined) return stopBelow(state, scope, abort);
  const failing: Failing = { error, status, undoing: false };
  scope.failing = failing;
  stopBelow(state, scope, abort);
  if (!hasLive(scope)) beginUndo(state, scope, failing);
}

/** Something below ended: a scope that fails goes on when it was the last, and what was stopped leaves with it. */
export function release(state: RunState, owner: Scope): void {
  let scope = owner;
  while (scope.owner !== undefined && scope.failing === undefined && !hasLive(scope)) {
    drop(state, scope);
    scope = scope.owner;
  }
  if (scope.failing !== undefined && !hasLive(scope)) beginUndo(state, scope, scope.failing);
}

function stopBelow(state: RunState, scope: Scope, abort: boolean): void {
  if (scope.kind === "flow") {
    if (scope.current !== undefined) stop(state, scope.current, abort);
    return;
  }
  if (scope.call !== undefined) stop(state, scope.call, abort);
  if (scope.fallback !== undefined) stop(state, scope.fallback, abort);
  for (const child of scope.children?.live ?? []) stop(state, child, abort);
}

function stop(state: RunState, node: Child, abort: boolean): void {
  node.stopped = true;
  if (node.kind === "call") return stopCall(state, node, abort);
  clearTimer(state, node);
  stopBelow(state, node, abort);
  if (!hasLive(node) && node.failing === undefined) drop(state, node);
}

function stopCall(state: RunState, call: Call, abort: boolean): void {
  if (call.phase === "intended") {
    if (!abort || call.aborted) return;
    call.aborted = true;
    state.stops++;
  } else if (call.phase === "doubted" || call.question?.question.kind === "in_doubt") {
    // Whether it was made is still to be settled; what to do about it is not.
  } else if (call.phase === "answered" && call.doubt !== undefined) {
    queue(state, call);
  } else if (call.doubt !== undefined) {
    call.phase = "doubted";
    clearTimer(state, call);
    closeQuestion(state, call, { state: "withdrawn" });
    queue(state, call);
  } else {
    if (call.announced || call.phase === "sleeping" || call.phase === "backoff") emit(state, call, "stopped");
    state.stops++;
    drop(state, call);
  }
}
