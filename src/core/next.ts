import { evaluateCondition } from "./condition.js";
import { childrenOf } from "./containers/container.js";
import { containerOf, flowsOf } from "./containers/index.js";
import { scopeOf } from "./context.js";
import { commit, type Effect } from "./effect.js";
import { errorDataOf } from "./errors.js";
import { inputMismatch } from "./mismatch.js";
import { decideCall, refuseOverLimit } from "./next-call.js";
import type { Failing, Flow, Node, Scope, Step, Timer } from "./node.js";
import { queue } from "./queue.js";
import type { Fact } from "./record.js";
import { afterUndo } from "./retry.js";
import { undoOfContainer } from "./settle.js";
import type { RunState } from "./state.js";
import { resolveLeniently } from "./template.js";
import { clearTimer } from "./tree.js";

/**
 * What is ready → the next fact or effect.
 *
 * 1. Each call takes one thing from what is ready; `undefined` means that there is nothing to do now.
 * 2. A fact is decided purely by the run; the driver applies it at once. An effect is wanted from the world.
 * 3. A template or condition is evaluated here and nowhere else, and what must not be evaluated twice is a fact.
 * 4. Below a scope that fails nothing begins: only doubts are settled.
 */
export function next(state: RunState): Fact | Effect | undefined {
  if (state.ended !== undefined) return undefined;
  if (state.cancelRequested && !state.cancelBegun && !state.root.failing?.undoing) return { kind: "cancel_begun" };
  for (let node = state.ready.shift(); node !== undefined; node = state.ready.shift()) {
    node.queued = false;
    if (node.dead) continue;
    const decision = decide(state, node);
    if (decision !== undefined) return decision;
  }
  return undefined;
}

function decide(state: RunState, node: Node): Fact | Effect | undefined {
  switch (node.kind) {
    case "flow":
      return decideFlow(state, node);
    case "step":
      return decideStep(state, node);
    case "call":
      return decideCall(state, node);
  }
}

function decideFlow(state: RunState, flow: Flow): Fact | Effect | undefined {
  if (flow.failing !== undefined) return isUndone(flow) ? flowFailed(flow, flow.failing) : undefined;
  if (flow.stopped || flow.timer !== undefined || flow.current !== undefined) return undefined;
  const { owner } = flow;
  if (owner === undefined) return endRun(flow);
  if (flow.input === undefined) return orFailed(flow, owner.plan.id, () => enter(state, flow, owner));
  return { kind: "completed", path: flow.path, ...outputOf(flow) };
}

/** Whether a scope that fails has nothing left to undo. */
function isUndone(scope: Scope): boolean {
  return scope.failing?.undoing === true && scope.undoCall === undefined;
}

function flowFailed(flow: Flow, { error, status }: Failing): Fact {
  if (flow.owner === undefined) return { kind: "run_ended", status };
  return { kind: "failed", path: flow.path, error, outcome: "not_applied" };
}

function endRun(flow: Flow): Fact {
  const { result, ...rest } = outputOf(flow);
  return { kind: "run_ended", status: "completed", ...(result === undefined ? {} : { output: result }), ...rest };
}

function outputOf(flow: Flow) {
  if (flow.plan.output === undefined) return {};
  const { value, missing } = resolveLeniently(flow.plan.output, scopeOf(flow));
  if (missing.length === 0) return { result: value };
  const code = "UNRESOLVED_REFERENCE" as const;
  const warnings = missing.map(({ pointer, message }) => ({ code, message, pointer }));
  return { result: value, warnings };
}

function enter(state: RunState, flow: Flow, step: Step): Fact | Effect | undefined {
  const flows = flowsOf(step);
  refuseOverLimit(state);
  const input = flows.input(step, flow);
  const validator = flow.plan.input;
  if (validator?.isCode) return { kind: "check_input", node: flow, input };
  const issues = validator?.validateJson(input) ?? [];
  if (issues.length > 0) throw inputMismatch(`Workflow ${flow.plan.name}`, issues);
  return { kind: "entered", path: flow.path, input: flows.lay(step, flow, input) };
}

function decideStep(state: RunState, step: Step): Fact | Effect | undefined {
  if (step.failing !== undefined) return isUndone(step) ? afterUndo(step, step.failing.error) : undefined;
  if (step.stopped) return undefined;
  switch (step.phase) {
    case "new":
    case "running":
      return orFailed(step, step.plan.id, () => begin(state, step));
    case "open":
      return close(state, step);
    case "backoff":
    case "recovering":
      return undefined;
  }
}

function begin(state: RunState, step: Step): Fact | Effect | undefined {
  const { plan } = step;
  if (step.phase === "new") {
    if (plan.when !== undefined && !evaluateCondition(plan.when, scopeOf(step.flow))) {
      return { kind: "skipped", path: step.path };
    }
    if (plan.timeoutMs !== undefined) return commit(step, { kind: "begun", path: step.path });
  }
  const { call } = step;
  // A call that is itself among what is ready is decided when its turn comes, and once.
  if (call !== undefined) return call.queued ? undefined : decideCall(state, call);
  refuseOverLimit(state);
  return containerOf(step).open(step);
}

function close(state: RunState, step: Step): Fact | undefined {
  if (childrenOf(step).live.size > 0) return undefined;
  const container = containerOf(step);
  try {
    const closing = container.close?.(step) ?? {};
    if ("kind" in closing) return closing;
    return { kind: "completed", path: step.path, ...closing, ...undoOfContainer(step, container.result(step, state)) };
  } catch (error) {
    return {
      kind: "attempt_failed",
      path: step.path,
      error: errorDataOf(error, { stepId: step.plan.id, path: step.path }),
    };
  }
}

/** What is decided for a node, or the failure that deciding ended in. */
function orFailed(node: Node, stepId: string, decideIt: () => Fact | Effect | undefined): Fact | Effect | undefined {
  try {
    return decideIt();
  } catch (error) {
    return {
      kind: "failed",
      path: node.path,
      error: errorDataOf(error, { stepId, path: node.path }),
      outcome: "not_applied",
    };
  }
}

/** What the passing of a timer's time means: a fact, or a node that is ready again, which any fold derives anew. */
export function wake(state: RunState, timer: Timer): Fact | undefined {
  if (timer.what === "deadline") return { kind: "timed_out", path: timer.node.path };
  if (timer.what === "question") return { kind: "question_expired", id: timer.questionId };
  const { node, what } = timer;
  clearTimer(state, node);
  if (node.kind === "call") node.phase = what === "sleep" ? "slept" : "ready";
  else if (node.kind === "step") node.phase = "running";
  queue(state, node);
  return undefined;
}
