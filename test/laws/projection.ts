import type { JsonValue } from "../../src/core/json.js";
import type { Call, Clock, Flow, Node, Step, Timer } from "../../src/core/node.js";
import type { RunState } from "../../src/core/state.js";
import type { UndoEntry } from "../../src/core/write-entry.js";

/**
 * A run's state as JSON, without what a fold leaves to be derived anew: what is ready, inputs that nobody was shown
 * yet, whether a wait is over, what was announced, and the driver's counters.
 */
export function projectionOf(state: RunState, now: number): JsonValue {
  const view = {
    root: flowView(state.root, now),
    paths: [...state.nodes.keys()].sort(),
    seq: state.seq,
    updatedAt: state.updatedAt,
    intended: [...state.intended].map(({ path }) => path).sort(),
    questions: [...state.questions.values()].map(({ question, seq }) => ({ question, seq })),
    closed: [...state.closed].map(([id, closed]) => ({ id, closed })),
    timers: [...state.timers].flatMap((timer) => timerView(timer, now)).sort(),
    clocks: [...state.clocks].map(clockView),
    writes: state.writes,
    writesTotal: state.writesTotal,
    warnings: state.warnings,
    undoErrors: state.undoErrors,
    flags: [state.cancelRequested, state.cancelBegun],
    ended: state.ended,
  };
  return JSON.parse(JSON.stringify(view));
}

function timerView(timer: Timer, now: number): string[] {
  const { until, what, node } = timer;
  const isVolatile = what !== "deadline" && what !== "question";
  return isVolatile && until <= now
    ? []
    : [`${until} ${what} ${node.path} ${"questionId" in timer ? timer.questionId : ""}`];
}

function clockView(clock: Clock | undefined) {
  return (
    clock && {
      path: clock.node.path,
      used: clock.usedMs,
      since: clock.running?.since,
      until: clock.running?.timer.until,
    }
  );
}

function nodeView(node: Node, now: number): unknown {
  if (node.kind === "flow") return flowView(node, now);
  return node.kind === "step" ? stepView(node, now) : callView(node);
}

function scopeView(scope: Flow | Step, now: number) {
  const { failing, residue, stopped, undo, clock } = scope;
  return {
    path: scope.path,
    stopped,
    residue,
    undo: undo.map(entryView),
    clock: clockView(clock),
    failing,
    undoCall: scope.undoCall && callView(scope.undoCall),
    timer: scope.timer && timerView(scope.timer, now),
  };
}

function entryView({ seq, path, stepId, plan, undo, writes }: UndoEntry) {
  return { seq, path, stepId, tool: plan?.tool, undo, writes: writes.map((write) => write.path) };
}

function flowView(flow: Flow, now: number): unknown {
  const { input, results, cursor, current, plan } = flow;
  return {
    ...scopeView(flow, now),
    plan: plan.name,
    input,
    results: [...results],
    cursor,
    current: current && stepView(current, now),
  };
}

function stepView(step: Step, now: number): unknown {
  const { attempt, inputs, timedOut, failure, call, fallback, children } = step;
  return {
    ...scopeView(step, now),
    attempt,
    inputs,
    phase: step.phase === "backoff" ? "running" : step.phase,
    timedOut,
    failure,
    call: call && callView(call),
    fallback: fallback && callView(fallback),
    children: children && {
      live: [...children.live].map((child) => nodeView(child, now)),
      count: children.count,
      outcomes: children.outcomes.map((outcome) => outcome ?? null),
      started: children.started,
      allowed: children.allowed,
      calls: children.calls,
      failure: children.failure,
    },
  };
}

const settled = { backoff: "ready", slept: "sleeping" } as const;

function callView(call: Call): unknown {
  const { path, purpose, action, index, attempt, question, reply, approval, idempotent, doubt, interrupted } = call;
  const phase = call.phase === "backoff" || call.phase === "slept" ? settled[call.phase] : call.phase;
  return {
    path,
    purpose,
    tool: action.kind === "tool" ? action.tool : undefined,
    index,
    attempt,
    phase,
    inputs: call.intent === undefined ? undefined : call.inputs,
    question: question?.question.id,
    reply: reply && [reply.question.id, "answer" in reply ? reply.answer : undefined, reply.at],
    approval: approval && [approval.question.id, approval.answer],
    idempotent,
    doubt: doubt && [doubt, call.doubtFrom],
    interrupted,
    stopped: call.stopped,
    aborted: call.aborted,
    timedOut: call.timedOut,
    report: call.report,
    write: call.write?.path,
    intent: call.intent?.attempt,
    undoes: call.purpose === "undo" ? entryView(call.entry) : undefined,
    clock: clockView(call.clock),
    questionsAsked: call.questionsAsked,
  };
}
