import { enterFlow, startChildren } from "./advance.js";
import { startClock, stopClock, updateClocks } from "./clock.js";
import { childrenOf } from "./containers/container.js";
import { containerOf } from "./containers/index.js";
import { type ErrorData, ToolweaveError } from "./errors.js";
import { emit, emitQuestion, isoTime } from "./event.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { StepPlan } from "./plan.js";
import { maskAt } from "./mask.js";
import { inputView } from "./question-view.js";
import type {
  Completed,
  Failed,
  JournalRecord,
  Opened,
  Question,
  QuestionAnswered,
  QuestionAsked,
  QuestionExpired,
  Reported,
  Retried,
  RunEnded,
  TimedOut,
  WriteIntended,
} from "./record.js";
import { mayFallBack } from "./retry.js";
import { abortBelow, childEnded, childFailed, failScope, release, stepEnded, stepFailed } from "./scope.js";
import { compensationOf, stepOf } from "./settle.js";
import {
  type Call,
  type Flow,
  type Node,
  newCall,
  queue,
  type RunState,
  type Step,
  type Timer,
  type WriteState,
} from "./state.js";
import { attach, clearTimer, closeQuestion, drop, setTimer } from "./tree.js";
import { markUndo, nextUndo, undoFailed } from "./undo.js";

/**
 * What a fact does to a run.
 *
 * 1. Total over valid journals; touches one node and its owners; evaluates no template.
 * 2. What others may append (`cancel_requested`, `question_answered`, `reported`) only sets flags that `next` acts on,
 *    so it comes to the same before or behind any record of the driver's own.
 * 3. A record for something that is no longer there changes nothing.
 */
export function apply(state: RunState, record: JournalRecord): void {
  // Others' clocks may be behind: time never goes back.
  state.updatedAt = Math.max(state.updatedAt, record.at);
  applyFact(state, record);
  if (state.clocks.size > 0) updateClocks(state);
  state.seq++;
}

function applyFact(state: RunState, record: JournalRecord): void {
  switch (record.kind) {
    case "run_started":
      throw new ToolweaveError("INVALID_JOURNAL", `Run ${state.runId} has started already.`);
    case "run_taken":
      return taken(state);
    case "cancel_requested":
      state.cancelRequested = true;
      return;
    case "cancel_begun":
      return cancel(state);
    case "run_ended":
      return ended(state, record);
    case "question_answered":
    case "question_expired":
      return replied(state, record);
    default: {
      const node = nodeAt(state, record.path);
      if (node !== undefined) applyTo(state, node, record);
    }
  }
}

type NodeRecord = Extract<JournalRecord, { path: string }>;

function applyTo(state: RunState, node: Node, record: NodeRecord): void {
  // What happens to a node ends its wait, whether or not a driver saw the wait end.
  if (record.kind !== "reported" && record.kind !== "timed_out") clearTimer(state, callOf(node) ?? node);
  switch (record.kind) {
    case "entered":
      return node.kind === "flow" ? entered(state, node, record.input) : undefined;
    case "begun":
      return node.kind === "step" ? begun(state, node) : undefined;
    case "skipped":
      return node.kind === "step" ? skipped(state, node) : undefined;
    case "opened":
      return node.kind === "step" ? opened(state, node, record) : undefined;
    case "turned":
      return node.kind === "step" ? turned(state, node, record.index) : undefined;
    case "completed":
      return completed(state, node, record);
    case "retried":
      return retried(state, node, record);
    case "failed":
      return failed(state, node, record);
    case "attempt_failed":
      return node.kind === "step" ? failScope(state, node, record.error) : undefined;
    case "timed_out":
      return timedOut(state, node, record);
    default: {
      const call = callOf(node);
      if (call !== undefined) applyToCall(state, call, record);
    }
  }
}

type CallRecord = Extract<
  JournalRecord,
  { kind: "sleep_started" | "question_asked" | "write_intended" | "withheld" | "doubted" | "reported" }
>;

function applyToCall(state: RunState, call: Call, record: CallRecord): void {
  switch (record.kind) {
    case "sleep_started":
      call.phase = "sleeping";
      setTimer(state, call, "sleep", record.ms);
      return emit(state, call, "started");
    case "question_asked":
      return asked(state, call, record);
    case "write_intended":
      return intended(state, call, record);
    case "withheld":
      return withheld(state, call);
    case "doubted":
      closeQuestion(state, call, { state: "withdrawn" });
      call.report = undefined;
      return doubt(state, call, record.error);
    case "reported":
      return reported(state, call, record);
    default:
      return record satisfies never;
  }
}

function nodeAt(state: RunState, path: string): Node | undefined {
  return path === "" ? state.root : state.nodes.get(path);
}

/** The call that a record of a path speaks of: that of a step has the step's path. */
function callOf(node: Node): Call | undefined {
  if (node.kind === "step") return node.call;
  return node.kind === "call" ? node : undefined;
}

function taken(state: RunState): void {
  for (const call of state.intended) {
    const message = "The driver was gone before the tool answered, so nobody knows whether the write was made.";
    call.interrupted = true;
    doubt(state, call, { code: "TOOL_IN_DOUBT", message, stepId: call.stepId, path: call.path });
  }
}

function doubt(state: RunState, call: Call, error: ErrorData): void {
  state.intended.delete(call);
  call.phase = "doubted";
  call.aborted = false;
  if (call.doubt === undefined) call.doubtFrom = call.attempt;
  call.doubt = error;
  queue(state, call);
}

function reported(state: RunState, call: Call, record: Reported): void {
  const { attempt, outcome } = record;
  if (attempt !== call.attempt || (call.phase !== "intended" && call.doubt === undefined)) return;
  // That it is in doubt is known.
  if ("error" in outcome && outcome.outcome === "in_doubt") return;
  call.report = record;
  queue(state, call);
}

function cancel(state: RunState): void {
  state.cancelBegun = true;
  const { root } = state;
  if (root.failing !== undefined) return abortBelow(state, root);
  const error: ErrorData = { code: "CANCELLED", message: "The run was cancelled." };
  failScope(state, root, error, { status: "cancelled", abort: true });
}

function ended(state: RunState, record: RunEnded): void {
  const { root } = state;
  const last = root.plan.steps.at(-1);
  const output = root.plan.output === undefined ? last && root.results.get(last.id)?.result : record.output;
  const error = root.failing?.error;
  state.ended = { status: record.status, output: output ?? null, error, seq: state.seq, at: state.updatedAt };
  state.warnings.push(...(record.warnings ?? []));
  stopClock(state, root.clock);
  for (const { call } of [...state.questions.values()]) closeQuestion(state, call, { state: "withdrawn" });
}

function entered(state: RunState, flow: Flow, input: JsonObject): void {
  if (flow.owner?.plan.action.kind === "workflow") flow.owner.inputs = input;
  enterFlow(state, flow, input);
}

function begun(state: RunState, step: Step): void {
  if (step.phase !== "new") return;
  step.phase = "running";
  if (step.plan.timeoutMs !== undefined) step.clock = startClock(state, step, step.plan.timeoutMs);
  queue(state, step);
}

function skipped(state: RunState, step: Step): void {
  emit(state, placeOf(step), "skipped");
  stepEnded(state, step, undefined);
}

function opened(state: RunState, step: Step, record: Opened): void {
  step.phase = "open";
  const calls = record.calls ?? [];
  const outcomes = calls.map((call) => (call.error === undefined ? undefined : { error: call.error }));
  const refused = containerOf(step)?.letsChildrenFail ? undefined : calls.find((call) => call.error !== undefined);
  step.children = {
    live: new Set(),
    count: record.count,
    outcomes,
    started: 0,
    allowed: record.count,
    calls,
    items: undefined,
    failure: refused?.error,
  };
  step.children.allowed = containerOf(step)?.allowed(step.children) ?? record.count;
  emit(state, placeOf(step), "started");
  if (refused?.error !== undefined) failScope(state, step, containerOf(step)?.failure?.(step) ?? refused.error);
  else startChildren(state, step);
}

function turned(state: RunState, step: Step, index: number): void {
  const children = childrenOf(step);
  children.allowed = index + 1;
  // Only the last turn's result is read again.
  if (index >= 2) children.outcomes[index - 2] = undefined;
  startChildren(state, step);
  const { action } = step.plan;
  if (action.kind !== "repeat" || action.delayMs === 0) return;
  for (const turn of children.live) setTimer(state, turn, "turn", action.delayMs);
}

function asked(state: RunState, call: Call, record: QuestionAsked): void {
  const { question: body, expiresAfterMs } = record;
  const question: Question = { ...body, runId: state.runId, askedAt: isoTime(state.updatedAt) };
  let timer: Timer | undefined;
  if (expiresAfterMs !== undefined) {
    const until = state.updatedAt + expiresAfterMs;
    question.expiresAt = isoTime(until);
    timer = { until, what: "question", node: call, questionId: body.id };
    state.timers.add(timer);
  }
  if (question.kind === "approval" && question.supersedes !== undefined) {
    state.closed.set(question.supersedes, { state: "superseded" });
  }
  call.phase = "asked";
  call.questionsAsked++;
  call.approval = undefined;
  call.question = { question, call, seq: state.seq, timer };
  state.questions.set(question.id, call.question);
  emitQuestion(state, question);
}

function replied(state: RunState, record: QuestionAnswered | QuestionExpired): void {
  const open = state.questions.get(record.id);
  if (open === undefined) return;
  const { call, question } = open;
  const answer = record.kind === "question_answered" ? record.answer : undefined;
  closeQuestion(state, call, answer === undefined ? { state: "expired" } : { state: "answered", question, answer });
  const at = isoTime(state.updatedAt);
  call.reply = { question, answer, at };
  if (question.kind === "approval" && answer !== undefined && "decision" in answer && answer.decision === "approve") {
    call.approval = { question, answer, at };
  }
  call.phase = "answered";
  queue(state, call);
}

function intended(state: RunState, call: Call, record: WriteIntended): void {
  // A person who has the write made again vouches for it; an idempotent tool settles the doubt itself.
  call.vouched = call.reply?.question.kind === "in_doubt" && !record.idempotent;
  call.phase = "intended";
  call.attempt = record.attempt;
  call.inputs = record.inputs;
  call.idempotent = record.idempotent;
  call.intent = record;
  call.interrupted = false;
  call.aborted = false;
  call.reply = undefined;
  state.intended.add(call);
  if (call.entry === undefined) {
    decideWrite(state, call, record, "in_doubt");
    return emit(state, call, "started");
  }
  const { tool, decision } = record;
  const fields = maskAt(record.inputs, record.masked);
  for (const write of call.entry.writes) {
    write.state = "undo_in_doubt";
    write.undo = { tool, fields, decidedBy: decision.by, decidedAt: decision.at };
  }
  emit(state, call, "undoing");
}

function withheld(state: RunState, call: Call): void {
  state.intended.delete(call);
  call.phase = call.stopped && call.doubt !== undefined ? "doubted" : "ready";
  call.vouched = false;
  notApplied(call);
  if (!call.stopped || call.phase === "doubted") return queue(state, call);
  drop(state, call);
  release(state, call.owner);
}

/** The attempt that was intended came to nothing: the write stands as it did before. */
function notApplied(call: Call): void {
  if (call.entry !== undefined) markUndo(call.entry, call.doubt === undefined ? "done" : "undo_in_doubt");
  else if (call.write !== undefined) call.write.state = call.doubt === undefined ? "failed" : "in_doubt";
}

/** Says in `writes` what was decided last, whoever decided before. */
function decideWrite(
  state: RunState,
  call: Call,
  { tool, inputs, masked, decision }: Pick<WriteIntended, "tool" | "inputs" | "masked" | "decision">,
  writeState: WriteState,
): void {
  const { stepId, path } = call;
  const decided = { tool, fields: maskAt(inputs, masked), decidedBy: decision.by, decidedAt: decision.at };
  if (call.write === undefined) {
    call.write = { stepId, path, ...decided, state: writeState };
    state.writesTotal++;
    if (state.writes.length < state.settings.maxWrites) state.writes.push(call.write);
  } else {
    Object.assign(call.write, decided, { state: writeState });
  }
  if (decision.by === undefined) delete call.write.decidedBy;
}

function completed(state: RunState, node: Node, record: Completed): void {
  const call = callOf(node);
  if (call !== undefined) return callCompleted(state, call, record);
  if (node.kind === "flow") return flowCompleted(state, node, record);
  if (node.kind === "step") containerCompleted(state, node, record);
}

function callCompleted(state: RunState, call: Call, record: Completed): void {
  const result = record.result ?? null;
  if (call.entry !== undefined) {
    const { owner, entry } = call;
    markUndo(entry, "undone");
    emit(state, call, "undone");
    drop(state, call);
    return nextUndo(state, owner);
  }
  if (call.write !== undefined) call.write.state = "done";
  const step = stepOf(call);
  keepUndo(state, call, step, record);
  emit(state, call, "completed", { result: resultView(call, result) });
  drop(state, call);
  if (step === undefined) return call.owner.kind === "step" ? childEnded(state, call, call.owner, result) : undefined;
  const inputs = step.plan.inputsAreRead ? (call.write === undefined ? record.inputs : call.inputs) : undefined;
  stepEnded(state, step, inputs === undefined ? { result } : { result, inputs });
}

/** The result as people see it: only what a person gave has a schema that may keep it from them. */
function resultView({ reply }: Call, result: JsonValue): JsonValue {
  return reply?.question.kind === "input" ? inputView(reply.question, result) : result;
}

/** Remembers what a call did, to be undone if a scope above fails. */
function keepUndo(state: RunState, call: Call, step: Step | undefined, record: Completed | Failed): void {
  const plan = record.undo === undefined ? undefined : compensationOf(call);
  if (call.write === undefined && plan === undefined) return;
  const writes = call.write === undefined ? [] : [call.write];
  const scope = step ?? call.owner;
  scope.undo.push({ seq: state.seq, path: call.path, stepId: call.stepId, plan, undo: record.undo, writes });
}

function flowCompleted(state: RunState, flow: Flow, record: Completed): void {
  if (flow.owner === undefined) return;
  state.warnings.push(...(record.warnings ?? []));
  const last = flow.plan.steps.at(-1);
  const output = flow.plan.output === undefined ? last && flow.results.get(last.id)?.result : record.result;
  const value: JsonValue = output ?? null;
  childEnded(state, flow, flow.owner, containerOf(flow.owner)?.childResult?.(flow, value, false) ?? value);
}

function containerCompleted(state: RunState, step: Step, record: Completed): void {
  const result = containerOf(step)?.result(step, state) ?? null;
  state.warnings.push(...(record.warnings ?? []));
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

function retried(state: RunState, node: Node, record: Retried): void {
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

function failed(state: RunState, node: Node, record: Failed): void {
  const call = callOf(node);
  if (call !== undefined)
    return call.entry === undefined ? callFailed(state, call, record) : undoCallFailed(state, call, record);
  if (node.kind === "step") return finish(state, node, record);
  if (node.kind !== "flow" || node.owner === undefined) return;
  const result = node.input === undefined ? undefined : containerOf(node.owner)?.childResult?.(node, null, true);
  childFailed(state, node, node.owner, record.error, result);
}

function undoCallFailed(state: RunState, call: Call, record: Failed): void {
  const { owner, entry } = call;
  if (entry === undefined) return;
  const { error, outcome } = record;
  if (outcome === "in_doubt") undoFailed(state, owner, entry, "undo_in_doubt", "in_doubt", error);
  else undoFailed(state, owner, entry, "undo_failed", outcome === "refused" && error.code !== "QUESTION_EXPIRED" ? "rejected" : "failed", error);
  emit(state, call, "undo_failed", { error });
  drop(state, call);
  nextUndo(state, owner);
}

function callFailed(state: RunState, call: Call, record: Failed): void {
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
  if (call.owner.kind === "step") childFailed(state, call, call.owner, record.error);
}

/** A step failed for good: its fallback takes over, or its owner is told. */
function finish(state: RunState, step: Step, record: Failed, call?: Call): void {
  if (mayFallBack(step, record) && step.plan.fallback !== undefined) {
    emit(state, placeOf(step), "failed", { error: record.error, willUndo: false });
    if (call !== undefined) drop(state, call);
    stopClock(state, step.clock);
    step.clock = undefined;
    step.phase = "recovering";
    step.failing = undefined;
    step.children = undefined;
    forgetResults(step.plan, step.flow);
    step.failure = record.error;
    step.fallback = newCall(`${step.path}~fallback`, "fallback", step, step.plan.id, step.plan.fallback.tool);
    attach(state, step.fallback);
    if (step.plan.timeoutMs !== undefined) step.fallback.clock = startClock(state, step.fallback, step.plan.timeoutMs);
    return queue(state, step.fallback);
  }
  const error = step.failure ?? record.error;
  emit(state, call ?? placeOf(step), "failed", { error: record.error, willUndo: willUndo(step) });
  if (call !== undefined) drop(state, call);
  stepFailed(state, step, error);
}

/** Whether something done so far will now be undone: below the scope that fails with the step. */
function willUndo(step: Step): boolean {
  let node: Flow | Step = step;
  for (;;) {
    if (node.undo.some((entry) => entry.plan !== undefined)) return true;
    const { owner }: { owner: Flow | Step | undefined } = node;
    if (owner === undefined || (owner.kind === "step" && containerOf(owner)?.letsChildrenFail)) return false;
    node = owner;
  }
}

function timedOut(state: RunState, node: Node, record: TimedOut): void {
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

function placeOf(step: Step) {
  return { stepId: step.plan.id, path: step.path, attempt: step.attempt };
}
