import { evaluateCondition } from "./condition.js";
import { asObject } from "./containers/container.js";
import { containerOf } from "./containers/index.js";
import { scopeOf } from "./context.js";
import type { Commit, Effect } from "./effect.js";
import { type ErrorData, errorToJson, isToolweaveError, ToolweaveError } from "./errors.js";
import type { JsonObject } from "./json.js";
import { inputMismatch } from "./mismatch.js";
import type { AskPlan } from "./plan.js";
import { doubtQuestion, inputQuestion } from "./question.js";
import { editedFields } from "./question-view.js";
import type { ApprovalAnswer, DoubtAnswer, Fact } from "./record.js";
import { afterUndo } from "./retry.js";
import { giveUp, settleCall, stepOf, undoOfContainer } from "./settle.js";
import {
  type Call,
  type Flow,
  flowOf,
  type Node,
  queue,
  type RunState,
  type Scope,
  type Step,
  type Timer,
} from "./state.js";
import { resolveCompiled, resolveLeniently } from "./template.js";
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
    default:
      return node satisfies never;
  }
}

function decideFlow(state: RunState, flow: Flow): Fact | Effect | undefined {
  if (flow.failing !== undefined) return isUndone(flow) ? flowFailed(flow, flow.failing.error) : undefined;
  if (flow.stopped || flow.timer !== undefined || flow.current !== undefined) return undefined;
  const { owner } = flow;
  if (owner === undefined) return endRun(flow);
  if (flow.input === undefined) return orFailed(flow, owner.plan.id, () => enter(state, flow, owner));
  return { kind: "completed", path: flow.path, ...outputOf(flow) };
}

/** Whether a scope that fails has nothing left to undo. */
function isUndone(scope: Scope): boolean {
  return scope.failing?.undoing === true && scope.failing.call === undefined && scope.undo.length === 0;
}

function flowFailed(flow: Flow, error: ErrorData): Fact {
  if (flow.owner === undefined) return { kind: "run_ended", status: flow.failing?.status ?? "failed" };
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
  const container = containerOf(step);
  if (container === undefined) return undefined;
  if (isOverLimit(state)) throw limitReached(state);
  const input = container.input(step, flow);
  const validator = flow.plan.input;
  if (validator?.isCode) return { kind: "check_input", node: flow, input };
  const issues = validator?.validateJson(input) ?? [];
  if (issues.length > 0) throw inputMismatch(`Workflow ${flow.plan.name}`, issues);
  return { kind: "entered", path: flow.path, input: container.lay(step, flow, input) };
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
    default:
      return step.phase satisfies never;
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
  const container = containerOf(step);
  // A call that is itself among what is ready is decided when its turn comes, and once.
  if (container === undefined) return step.call && !step.call.queued ? decideCall(state, step.call) : undefined;
  if (isOverLimit(state)) throw limitReached(state);
  return container.open(step);
}

function close(state: RunState, step: Step): Fact | undefined {
  const container = containerOf(step);
  if (container === undefined || step.children === undefined || step.children.live.size > 0) return undefined;
  try {
    const closing = container.close(step);
    if ("kind" in closing) return closing;
    return { kind: "completed", path: step.path, ...closing, ...undoOfContainer(step, container.result(step, state)) };
  } catch (error) {
    return { kind: "attempt_failed", path: step.path, error: dataOf(error, step.plan.id, step.path) };
  }
}

function decideCall(state: RunState, call: Call): Fact | Effect | undefined {
  if (call.report !== undefined && call.phase !== "intended") {
    const { outcome, attempt } = call.report;
    if ("result" in outcome) return settleCall(call, { kind: "returned", result: outcome.result });
    const { error } = outcome;
    if (outcome.outcome === "applied") return settleCall(call, { kind: "unkeepable", error });
    return settleCall(call, { kind: "failed", outcome: outcome.outcome, error, settles: call.doubtFrom === attempt });
  }
  switch (call.phase) {
    case "ready":
      return call.stopped ? undefined : startOrFail(state, call);
    case "answered":
      return answered(call);
    case "doubted":
      return doubted(state, call);
    case "slept":
      return settleCall(call, { kind: "returned", result: null });
    case "backoff":
      return call.timedOut ? outOfTime(call) : undefined;
    case "asked":
    case "intended":
    case "sleeping":
      return undefined;
    default:
      return call.phase satisfies never;
  }
}

/** A call that can't be started has failed as one that was made and was not applied: what was in doubt stays so. */
function startOrFail(state: RunState, call: Call): Fact | Effect | undefined {
  try {
    return start(state, call);
  } catch (error) {
    return settleCall(call, { kind: "failed", outcome: "not_applied", error: dataOf(error, call.stepId, call.path) });
  }
}

function outOfTime(call: Call): Fact {
  const error: ErrorData = { code: "TIMED_OUT", message: "The step did not end within its timeout_ms." };
  return settleCall(call, { kind: "failed", outcome: "not_applied", error });
}

function start(state: RunState, call: Call): Fact | Effect | undefined {
  if (call.timedOut) return outOfTime(call);
  if (isOverLimit(state) && call.purpose !== "undo" && call.doubt === undefined) throw limitReached(state);
  if (call.tool !== undefined) {
    call.inputs ??= inputsOf(call);
    return { kind: "call_tool", node: call, tool: call.tool, inputs: call.inputs, attempt: call.attempt };
  }
  const action = stepOf(call)?.plan.action;
  switch (action?.kind) {
    case "run":
      return { kind: "run_code", node: call, run: action.run, attempt: call.attempt };
    case "sleep":
      return commit(call, { kind: "sleep_started", path: call.path, ms: action.ms });
    case "ask":
      return commit(call, ask(call, action));
    default:
      return undefined;
  }
}

function ask(call: Call, plan: AskPlan): Fact {
  const question = inputQuestion(call, plan, resolveCompiled(plan.prompt, scopeOf(flowOf(call))));
  const { expiresAfterMs } = plan;
  return {
    kind: "question_asked",
    path: call.path,
    question,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

/** What a call sends: of an undo it was resolved when its step completed. */
function inputsOf(call: Call): JsonObject {
  const scope = scopeOf(flowOf(call));
  const step = stepOf(call);
  if (step === undefined) {
    const container = call.owner.kind === "step" ? containerOf(call.owner) : undefined;
    return container?.callInput?.(call.owner as Step, call.index) ?? {};
  }
  if (call.purpose === "fallback" && step.plan.fallback !== undefined) {
    const { code, message } = step.failure ?? { code: "STEP_FAILED", message: "" };
    return asObject(resolveCompiled(step.plan.fallback.inputs, { ...scope, error: { code, message } }));
  }
  return step.plan.action.kind === "tool" ? asObject(resolveCompiled(step.plan.action.inputs, scope)) : {};
}

/** What an answer, or the expiry of its question, means for a call. */
function answered(call: Call): Fact | Effect | undefined {
  if (call.reply === undefined) return undefined;
  const { question, answer, at } = call.reply;
  if (answer === undefined) return expired(call);
  switch (question.kind) {
    case "input":
      return "value" in answer ? settleCall(call, { kind: "returned", result: answer.value }) : undefined;
    case "in_doubt":
      return "decision" in answer ? doubtAnswered(call, answer) : undefined;
    case "approval": {
      if (!("decision" in answer) || answer.decision !== "reject") {
        return call.timedOut ? outOfTime(call) : sendApproved(call);
      }
      const { by, note: reason } = answer;
      const decision = { by, at, reason, questionId: question.id };
      const { tool, fields: inputs, masked } = question;
      return settleCall(call, { kind: "rejected", tool, inputs, ...(masked && { masked }), decision });
    }
    default:
      return question satisfies never;
  }
}

function sendApproved(call: Call): Effect | undefined {
  if (call.approval === undefined) return undefined;
  const { question, answer } = call.approval;
  const inputs = editedFields(question, answer);
  return { kind: "call_tool", node: call, tool: question.tool, inputs, attempt: call.attempt };
}

function expired(call: Call): Fact {
  const action = stepOf(call)?.plan.action;
  if (action?.kind === "ask" && action.default !== undefined) {
    return settleCall(call, { kind: "returned", result: action.default.value });
  }
  const message = "Nobody answered in time, and an expired question never approves.";
  return settleCall(call, { kind: "failed", outcome: "refused", error: { code: "QUESTION_EXPIRED", message } });
}

/** What a person said of a write in doubt. */
function doubtAnswered(call: Call, answer: ApprovalAnswer | DoubtAnswer): Fact | Effect | undefined {
  const { doubt } = call;
  if (doubt === undefined) return undefined;
  switch (answer.decision) {
    case "done":
      return settleCall(call, { kind: "returned", result: ("result" in answer ? answer.result : undefined) ?? null });
    case "not_applied": {
      const error: ErrorData = { ...doubt, code: "TOOL_FAILED" };
      return settleCall(call, { kind: "failed", outcome: "not_applied", error, settles: true });
    }
    case "retry":
      return again(call);
    default:
      return giveUp(call, doubt);
  }
}

function doubted(state: RunState, call: Call): Fact | Effect | undefined {
  if (call.doubt === undefined) return undefined;
  if (call.interrupted && call.idempotent) return again(call);
  if (state.settings.inDoubt === "fail") return giveUp(call, call.doubt);
  const question = doubtQuestion(call);
  return question && commit(call, { kind: "question_asked", path: call.path, question });
}

/** The same call with the same key once more, to settle whether it was made. */
function again(call: Call): Effect | undefined {
  if (call.tool === undefined || call.inputs === undefined) return undefined;
  return { kind: "call_tool", node: call, tool: call.tool, inputs: call.inputs, attempt: call.attempt + 1 };
}

function isOverLimit(state: RunState): boolean {
  return state.seq >= state.settings.maxRecords;
}

function limitReached(state: RunState): ToolweaveError {
  const { maxRecords } = state.settings;
  return new ToolweaveError("LIMIT_REACHED", `The run has ${maxRecords} records, which limits.maxRecords allows.`);
}

function commit(node: Node, fact: Fact): Commit {
  return { kind: "commit", node, fact };
}

/** What is decided for a node, or the failure that deciding ended in. */
function orFailed(node: Node, stepId: string, decideIt: () => Fact | Effect | undefined): Fact | Effect | undefined {
  try {
    return decideIt();
  } catch (error) {
    return { kind: "failed", path: node.path, error: dataOf(error, stepId, node.path), outcome: "not_applied" };
  }
}

function dataOf(error: unknown, stepId: string, path: string): ErrorData {
  if (!isToolweaveError(error)) throw error;
  return { ...errorToJson(error), stepId, path };
}

/** What the passing of a timer's time means: a fact, or a node that is ready again, which any fold derives anew. */
export function wake(state: RunState, { what, node, questionId }: Timer): Fact | undefined {
  if (what === "deadline") return { kind: "timed_out", path: node.path };
  if (what === "question") return { kind: "question_expired", id: questionId ?? "" };
  clearTimer(state, node);
  if (node.kind === "call") node.phase = what === "sleep" ? "slept" : "ready";
  else if (node.kind === "step") node.phase = "running";
  queue(state, node);
  return undefined;
}
