import { enterFlow, startChildren } from "./advance.js";
import { startClock, stopClock, updateClocks } from "./clock.js";
import { childrenOf } from "./containers/container.js";
import { containerOf } from "./containers/index.js";
import { type ErrorData, ToolweaveError } from "./errors.js";
import { emit } from "./event.js";
import type { JsonObject } from "./json.js";
import { maskAt } from "./mask.js";
import { type Call, callOf, type Flow, type Node, placeOf, type Step } from "./node.js";
import { completed, failed, retried } from "./outcomes.js";
import { queue } from "./queue.js";
import type { JournalRecord, Opened, Reported, RunEnded, WriteIntended } from "./record.js";
import { asked, replied } from "./replies.js";
import { failContainer, failScope, release, stepEnded } from "./scope.js";
import { type RunState, warn } from "./state.js";
import { renewTime, timedOut } from "./time-out.js";
import { clearTimer, closeQuestion, drop, setTimer } from "./tree.js";
import { decideWrite, notApplied } from "./writes.js";

/**
 * What a fact does to a run.
 *
 * 1. Total over valid journals; touches one node and its owners; evaluates no template.
 * 2. What others may append (`cancel_requested`, `question_answered`, `reported`) only sets flags that `next` acts on,
 *    so it comes to the same before or behind any record of the driver's own.
 * 3. What others append of something that is no longer there changes nothing.
 */
export function apply(state: RunState, record: JournalRecord): void {
  // Others' clocks may be behind: time never goes back.
  state.updatedAt = Math.max(state.updatedAt, record.at);
  applyFact(state, record);
  updateClocks(state);
  state.seq++;
}

function applyFact(state: RunState, record: JournalRecord): void {
  switch (record.kind) {
    case "run_started":
      throw outOfPlace(record.kind);
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
      if (node !== undefined) return applyTo(state, node, record);
      // A driver that was left reports on what may have ended since; of its own records a driver makes none for nothing.
      if (record.kind === "reported") return;
      throw outOfPlace(record.kind, record.path);
    }
  }
}

/** What came before a record is missing: to go on would do again what was done. */
function outOfPlace(kind: JournalRecord["kind"], path = "the run"): ToolweaveError {
  const message = `The journal's ${kind} of ${path} does not follow from what is before it. Restore it from a copy.`;
  return new ToolweaveError("INVALID_JOURNAL", message);
}

type NodeRecord = Extract<JournalRecord, { path: string }>;

function applyTo(state: RunState, node: Node, record: NodeRecord): void {
  // What happens to a node ends its wait, whether or not a driver saw the wait end.
  if (record.kind !== "reported") clearTimer(state, callOf(node) ?? node);
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
      return timedOut(state, node);
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
    default:
      return reported(state, call, record);
  }
}

function nodeAt(state: RunState, path: string): Node | undefined {
  return path === "" ? state.root : state.nodes.get(path);
}

function taken(state: RunState): void {
  for (const call of state.intended) {
    const message = "The driver was gone before the tool answered, so nobody knows whether the write was made.";
    call.interrupted = true;
    doubt(state, call, { code: "TOOL_IN_DOUBT", message, stepId: call.stepId, path: call.path });
  }
  // An undo that a crash cut short is not to have run out of time meanwhile.
  for (const { node, budgetMs } of [...state.clocks]) {
    if (node.kind !== "call" || node.purpose !== "undo") continue;
    stopClock(state, node.clock);
    node.clock = startClock(state, node, budgetMs);
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
  const error: ErrorData = { code: "CANCELLED", message: "The run was cancelled." };
  failScope(state, state.root, error, { status: "cancelled", abort: true });
}

function ended(state: RunState, record: RunEnded): void {
  const { root } = state;
  const last = root.plan.steps.at(-1);
  const output = root.plan.output === undefined ? last && root.results.get(last.id)?.result : record.output;
  const error = root.failing?.error;
  state.ended = { status: record.status, output: output ?? null, error, seq: state.seq, at: state.updatedAt };
  warn(state, record.warnings);
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
  step.clock = startClock(state, step, step.plan.timeoutMs);
  queue(state, step);
}

function skipped(state: RunState, step: Step): void {
  emit(state, placeOf(step), "skipped");
  stepEnded(state, step, undefined);
}

function opened(state: RunState, step: Step, record: Opened): void {
  if (step.phase === "open" || record.attempt !== step.attempt) throw outOfPlace(record.kind, record.path);
  step.phase = "open";
  const calls = record.calls ?? [];
  const outcomes = calls.map((call) => (call.error === undefined ? undefined : { error: call.error }));
  const container = containerOf(step);
  const refused =
    container.onChildFailure === "record" ? undefined : calls.find((call) => call.error !== undefined)?.error;
  step.children = {
    live: new Set(),
    count: record.count,
    outcomes,
    started: 0,
    allowed: container.allowed ?? record.count,
    calls,
    items: undefined,
    failure: refused,
  };
  emit(state, placeOf(step), "started");
  if (refused === undefined) startChildren(state, step);
  else failContainer(state, step, refused);
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

function intended(state: RunState, call: Call, record: WriteIntended): void {
  // A person who has the write made again vouches for it; an idempotent tool settles the doubt itself.
  const isAnswered = call.reply?.kind === "in_doubt";
  call.vouched = isAnswered && !record.idempotent;
  if (isAnswered) renewTime(state, call);
  call.phase = "intended";
  call.attempt = record.attempt;
  call.inputs = record.inputs;
  call.idempotent = record.idempotent;
  call.intent = record;
  call.interrupted = false;
  call.aborted = false;
  call.reply = undefined;
  state.intended.add(call);
  if (call.purpose !== "undo") {
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
