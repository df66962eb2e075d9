import { asObject } from "./containers/container.js";
import { containerOf } from "./containers/index.js";
import { scopeOf } from "./context.js";
import { commit, type Effect } from "./effect.js";
import { type ErrorData, errorDataOf, ToolweaveError } from "./errors.js";
import type { JsonObject } from "./json.js";
import { doubtQuestion, inputQuestion } from "./make-question.js";
import { type Call, flowOf, type Step, stepOf } from "./node.js";
import type { AskPlan } from "./plan.js";
import type { ApprovalAnswer, DoubtAnswer } from "./question.js";
import { editedFields } from "./question-view.js";
import type { Fact } from "./record.js";
import { giveUp, settleCall } from "./settle.js";
import type { RunState } from "./state.js";
import { resolveCompiled } from "./template.js";

/** What a call wants next: to be made, to be asked about, or to settle what an answer, a report or the time says. */
export function decideCall(state: RunState, call: Call): Fact | Effect | undefined {
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
    return settleCall(call, {
      kind: "failed",
      outcome: "not_applied",
      error: errorDataOf(error, { stepId: call.stepId, path: call.path }),
    });
  }
}

function outOfTime(call: Call): Fact {
  const error: ErrorData = { code: "TIMED_OUT", message: "The step did not end within its timeout_ms." };
  return settleCall(call, { kind: "failed", outcome: "not_applied", error });
}

function start(state: RunState, call: Call): Fact | Effect | undefined {
  if (call.timedOut) return outOfTime(call);
  if (call.purpose !== "undo" && call.doubt === undefined) refuseOverLimit(state);
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

/** Beyond the limit no new work starts. @throws ToolweaveError `LIMIT_REACHED` */
export function refuseOverLimit({ seq, settings: { maxRecords } }: RunState): void {
  if (seq < maxRecords) return;
  throw new ToolweaveError("LIMIT_REACHED", `The run has ${maxRecords} records, which limits.maxRecords allows.`);
}
