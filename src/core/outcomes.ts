import { startClock, stopClock } from "./clock.js";
import { containerOf, flowsOf } from "./containers/index.js";
import { resolveInputs, scopeOf } from "./context.js";
import { emit } from "./event.js";
import type { JsonValue } from "./json.js";
import { newCall } from "./new-node.js";
import {
  type Call,
  callOf,
  type Flow,
  type Node,
  placeOf,
  type Scope,
  type Step,
  type StepCall,
  stepOf,
  type ToolCall,
  type UndoCall,
} from "./node.js";
import type { FallbackPlan, StepPlan } from "./plan.js";
import { inputView } from "./question-view.js";
import { queue } from "./queue.js";
import type { Completed, Failed, Retried } from "./record.js";
import { mayFallBack } from "./retry.js";
import { childEnded, childFailed, stepEnded, stepFailed } from "./scope.js";
import { type RunState, warn } from "./state.js";
import { attach, closeQuestion, drop, liveBelow, setTimer } from "./tree.js";
import { markUndo, nextUndo, undoFailed } from "./undo.js";
import { decideWrite, keepUndo, notApplied } from "./writes.js";

/** What an attempt, a call, a child workflow or a container came to, and who is told. */

export function completed(state: RunState, node: Node, record: Completed): void {
  if (node.kind === "flow") return flowCompleted(state, node, record);
  if (node.kind === "call") return callCompleted(state, node, record);
  if (node.call !== undefined) return callCompleted(state, node.call, record);
  containerCompleted(state, node, record);
}

function callCompleted(state: RunState, call: Call, record: Completed): void {
  if (call.purpose === "undo") undone(state, call);
  else made(state, call, record);
}

function undone(state: RunState, call: UndoCall): void {
  const { owner, entry } = call;
  markUndo(entry, "undone");
  emit(state, call, "undone");
  drop(state, call);
  nextUndo(state, owner);
}

function made(state: RunState, call: StepCall, record: Completed): void {
  const result = record.result ?? null;
  if (call.write !== undefined) call.write.state = "done";
  const step = stepOf(call);
  keepUndo(state, call, step, record);
  emit(state, call, "completed", { result: resultView(call, result) });
  drop(state, call);
  if (step === undefined) return childEnded(state, call, call.owner, result);
  const inputs = step.plan.inputsAreRead ? (call.write === undefined ? record.inputs : call.inputs) : undefined;
  stepEnded(state, step, inputs === undefined ? { result } : { result, inputs });
}

/** The result as people see it: only what a person gave has a schema that may keep it from them. */
function resultView({ reply }: Call, result: JsonValue): JsonValue {
  return reply?.kind === "input" ? inputView(reply.question, result) : result;
}

function flowCompleted(state: RunState, flow: Flow, record: Completed): void {
  if (flow.owner === undefined) return;
  warn(state, record.warnings);
  const last = flow.plan.steps.at(-1);
  const output = flow.plan.output === undefined ? last && flow.results.get(last.id)?.result : record.result;
  const value: JsonValue = output ?? null;
  const { result } = flowsOf(flow.owner);
  childEnded(state, flow, flow.owner, result === undefined ? value : result(flow, value, false));
}

function containerCompleted(state: RunState, step: Step, record: Completed): void {
  const result = containerOf(step).result(step, state);
  warn(state, record.warnings);
  if (step.plan.compensate !== undefined) {
    const writes = step.undo.flatMap((entry) => entry.writes);
    const { compensate: plan, id: stepId } = step.plan;
    step.undo = [{ seq: state.seq, path: step.path, stepId, plan, undo: record.undo, writes }];
  }
  emit(state, placeOf(step), "completed", { result });
  stepEnded(
    state,
    step,
    step.plan.inputsAreRead && step.inputs !== undefined ? { result, inputs: step.inputs } : { result },
  );
}

export function retried(state: RunState, node: Node, record: Retried): void {
  const { attempt, delayMs, error } = record;
  const call = callOf(node);
  if (call !== undefined) {
    state.intended.delete(call);
    closeQuestion(state, call, { state: "withdrawn" });
    emit(state, call, "retrying", { delayMs, error });
    if (record.outcome === "in_doubt") {
      if (call.doubt === undefined) call.doubtFrom = call.attempt;
      call.doubt ??= error;
    } else {
      call.doubt = undefined;
      notApplied(call);
    }
    call.attempt = attempt;
    call.phase = "backoff";
    call.announced = false;
    call.report = undefined;
    setTimer(state, call, "backoff", delayMs);
  } else if (node.kind === "step") {
    emit(state, placeOf(node), "retrying", { delayMs, error });
    node.attempt = attempt;
    node.phase = "backoff";
    node.failing = undefined;
    node.children = undefined;
    forgetResults(node.plan, node.flow);
    setTimer(state, node, "backoff", delayMs);
  }
}

/** What the steps of a parallel gave in an attempt that failed is undone, and not to be read. */
function forgetResults({ action }: StepPlan, flow: Flow): void {
  if (action.kind !== "parallel") return;
  for (const inner of action.steps) {
    flow.results.delete(inner.id);
    forgetResults(inner, flow);
  }
}

export function failed(state: RunState, node: Node, record: Failed): void {
  const call = callOf(node);
  if (call?.purpose === "undo") return undoCallFailed(state, call, record);
  if (call !== undefined) return callFailed(state, call, record);
  if (node.kind === "step") return finish(state, node, record);
  if (node.kind !== "flow" || node.owner === undefined) return;
  const result = node.input === undefined ? undefined : flowsOf(node.owner).result?.(node, null, true);
  childFailed(state, node, node.owner, record.error, result);
}

function undoCallFailed(state: RunState, call: UndoCall, { error, outcome }: Failed): void {
  const { owner, entry } = call;
  const wasRejected = outcome === "refused" && error.code !== "QUESTION_EXPIRED";
  if (outcome === "in_doubt") undoFailed(state, owner, entry, "undo_in_doubt", "in_doubt", error);
  else undoFailed(state, owner, entry, "undo_failed", wasRejected ? "rejected" : "failed", error);
  emit(state, call, "undo_failed", { error });
  drop(state, call);
  nextUndo(state, owner);
}

function callFailed(state: RunState, call: StepCall, record: Failed): void {
  const step = stepOf(call);
  state.intended.delete(call);
  if (record.rejected !== undefined) {
    decideWrite(state, call, record.rejected, "rejected");
  } else if (call.write !== undefined) {
    const states = { applied: "done", in_doubt: "in_doubt", not_applied: "failed", refused: "failed" } as const;
    call.write.state = states[record.outcome];
  }
  if (record.outcome === "applied" || record.undo !== undefined) keepUndo(state, call, step, record);
  else if (record.outcome === "in_doubt") (step ?? call.owner).residue = true;
  if (step !== undefined) return finish(state, step, record, call);
  emit(state, call, "failed", { error: record.error, willUndo: false });
  childFailed(state, call, call.owner, record.error);
}

/** A step failed for good: its fallback takes over, or its owner is told. */
function finish(state: RunState, step: Step, record: Failed, call?: Call): void {
  const { fallback } = step.plan;
  if (fallback !== undefined && mayFallBack(step, record)) {
    emit(state, placeOf(step), "failed", { error: record.error, willUndo: false });
    if (call !== undefined) drop(state, call);
    stopClock(state, step.clock);
    step.clock = undefined;
    step.phase = "recovering";
    step.failing = undefined;
    step.children = undefined;
    forgetResults(step.plan, step.flow);
    step.failure = record.error;
    step.fallback = newCall(`${step.path}~fallback`, "fallback", step, fallbackCall(step, fallback, record));
    attach(state, step.fallback);
    step.fallback.clock = startClock(state, step.fallback, step.plan.timeoutMs);
    return queue(state, step.fallback);
  }
  const error = step.failure ?? record.error;
  emit(state, call ?? placeOf(step), "failed", { error: record.error, willUndo: willUndo(step) });
  if (call !== undefined) drop(state, call);
  stepFailed(state, step, error);
}

function fallbackCall({ flow }: Step, { tool, inputs }: FallbackPlan, { error: { code, message } }: Failed): ToolCall {
  const error = { code, message };
  return { kind: "tool", tool, inputs: () => resolveInputs(inputs, { ...scopeOf(flow), error }) };
}

/** Whether something done so far will now be undone: below the scope that fails with the step. */
function willUndo(step: Step): boolean {
  let scope: Scope = step;
  for (let above: Scope | undefined = step.owner; above !== undefined; above = above.owner) {
    if (above.kind === "step" && containerOf(above).onChildFailure === "record") break;
    scope = above;
  }
  return hasUndo(scope);
}

function hasUndo(scope: Scope): boolean {
  return scope.undo.some((entry) => entry.plan !== undefined) || liveBelow(scope).some(hasUndo);
}
