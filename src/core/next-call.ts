import { outOfTime } from "./clock.js";
import { scopeOf } from "./context.js";
import { commit, type Effect } from "./effect.js";
import { type ErrorData, errorDataOf, ToolweaveError } from "./errors.js";
import type { JsonObject } from "./json.js";
import { doubtQuestion, inputQuestion } from "./make-question.js";
import { type Approval, type Call, flowOf, type Reply } from "./node.js";
import type { AskPlan } from "./plan.js";
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
      return startOrFail(state, call);
    case "answered":
      return call.reply && replied(call, call.reply);
    case "doubted":
      return doubted(state, call);
    case "slept":
      return settleCall(call, { kind: "returned", result: null });
    case "backoff":
    case "asked":
    case "intended":
    case "sleeping":
      return undefined;
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
      error: errorDataOf(error),
    });
  }
}

function timedOut(call: Call): Fact {
  return settleCall(call, { kind: "failed", outcome: "not_applied", error: outOfTime(call) });
}

function start(state: RunState, call: Call): Fact | Effect {
  if (call.timedOut) return timedOut(call);
  if (call.purpose !== "undo" && call.doubt === undefined) refuseOverLimit(state);
  const { action, path, attempt } = call;
  switch (action.kind) {
    case "tool":
      call.inputs ??= action.inputs();
      return { kind: "call_tool", node: call, tool: action.tool, inputs: call.inputs, attempt };
    case "run":
      return { kind: "run_code", node: call, run: action.run, attempt };
    case "sleep":
      return commit(call, { kind: "sleep_started", path, ms: action.ms });
    case "ask":
      return commit(call, ask(call, action));
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

/** What an answer, or the expiry of its question, means for a call. */
function replied(call: Call, reply: Reply): Fact | Effect {
  switch (reply.kind) {
    case "expired":
      return expired(call);
    case "input":
      return settleCall(call, { kind: "returned", result: reply.answer.value });
    case "in_doubt":
      return doubtAnswered(call, reply);
    case "approval":
      if (reply.answer.decision === "reject") return rejected(call, reply);
      return call.timedOut ? timedOut(call) : sendApproved(call, reply);
  }
}

function sendApproved(call: Call, { question, answer }: Approval): Effect {
  const inputs = editedFields(question, answer);
  return { kind: "call_tool", node: call, tool: question.tool, inputs, attempt: call.attempt };
}

function rejected(call: Call, { question, answer, at }: Approval): Fact {
  const { tool, fields: inputs, masked, id: questionId } = question;
  const decision = { by: answer.by, at, reason: answer.note, questionId };
  return settleCall(call, { kind: "rejected", tool, inputs, ...(masked && { masked }), decision });
}

function expired(call: Call): Fact {
  const { action } = call;
  if (action.kind === "ask" && action.default !== undefined) {
    return settleCall(call, { kind: "returned", result: action.default.value });
  }
  const message = "Nobody answered in time, and an expired question never approves.";
  return settleCall(call, { kind: "failed", outcome: "refused", error: { code: "QUESTION_EXPIRED", message } });
}

/** What a person said of a write in doubt. */
function doubtAnswered(call: Call, { question, answer }: Extract<Reply, { kind: "in_doubt" }>): Fact | Effect {
  switch (answer.decision) {
    case "done":
      return settleCall(call, { kind: "returned", result: answer.result ?? null });
    case "not_applied": {
      const error: ErrorData = { ...question.error, code: "TOOL_FAILED" };
      return settleCall(call, { kind: "failed", outcome: "not_applied", error, settles: true });
    }
    case "retry":
      return again(call, question.tool, question.fields);
    case "fail":
      return giveUp(call, question.error);
  }
}

function doubted(state: RunState, call: Call): Fact | Effect | undefined {
  const { doubt, intent } = call;
  if (doubt === undefined || intent === undefined) return undefined;
  if (call.interrupted && call.idempotent) return again(call, intent.tool, intent.inputs);
  if (state.settings.inDoubt === "fail") return giveUp(call, doubt);
  return commit(call, { kind: "question_asked", path: call.path, question: doubtQuestion(call, intent, doubt) });
}

/** The same call with the same key once more, to settle whether it was made. */
function again(node: Call, tool: string, inputs: JsonObject): Effect {
  return { kind: "call_tool", node, tool, inputs, attempt: node.attempt + 1 };
}

/** Beyond the limit no new work starts. @throws ToolweaveError `LIMIT_REACHED` */
export function refuseOverLimit({ seq, settings: { maxRecords } }: RunState): void {
  if (seq < maxRecords) return;
  throw new ToolweaveError("LIMIT_REACHED", `The run has ${maxRecords} records, which limits.maxRecords allows.`);
}
