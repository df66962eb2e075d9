import type { JsonObject } from "./json.js";
import type { CallAction, ChildFlow, Flow, Purpose, RootFlow, Scope, Step, StepCall, UndoCall } from "./node.js";
import type { CompensationPlan, StepPlan, WorkflowPlan } from "./plan.js";
import type { UndoEntry } from "./write-entry.js";

export function newRoot(plan: WorkflowPlan): RootFlow {
  return flowOf<undefined>("", plan, undefined, 0);
}

export function newFlow(path: string, plan: WorkflowPlan, owner: Step, index: number): ChildFlow {
  return flowOf<Step>(path, plan, owner, index);
}

function flowOf<O extends Step | undefined>(path: string, plan: WorkflowPlan, owner: O, index: number) {
  return {
    kind: "flow" as const,
    path,
    plan,
    owner,
    index,
    input: undefined,
    results: new Map(),
    cursor: 0,
    current: undefined,
    undo: [],
    undoCall: undefined,
    failing: undefined,
    residue: false,
    clock: undefined,
    dead: false,
    stopped: false,
    queued: false,
    timer: undefined,
  };
}

export function newStep(path: string, plan: StepPlan, flow: Flow, owner: Scope, index = 0): Step {
  return {
    kind: "step",
    path,
    plan,
    flow,
    owner,
    index,
    attempt: 1,
    inputs: undefined,
    phase: "new",
    timedOut: false,
    failure: undefined,
    call: undefined,
    fallback: undefined,
    children: undefined,
    undo: [],
    undoCall: undefined,
    failing: undefined,
    residue: false,
    clock: undefined,
    dead: false,
    stopped: false,
    queued: false,
    timer: undefined,
  };
}

export function newCall(
  path: string,
  purpose: StepCall["purpose"],
  owner: Step,
  action: CallAction,
  index = 0,
): StepCall {
  return callOf(path, purpose, owner, owner.plan.id, action, index);
}

/** The undo of what an entry tells of, with the inputs that were kept for it. */
export function newUndo(owner: Scope, entry: UndoEntry, plan: CompensationPlan, inputs: JsonObject): UndoCall {
  const action: CallAction = { kind: "tool", tool: plan.tool, inputs: () => inputs };
  const call = callOf(`${entry.path}~undo`, "undo" as const, owner, entry.stepId, action, 0);
  return { ...call, plan, entry };
}

/** One literal, since most steps have such a call: a spread of so many properties would make a slow object. */
function callOf<P extends Purpose, O extends Scope>(
  path: string,
  purpose: P,
  owner: O,
  stepId: string,
  action: CallAction,
  index: number,
) {
  return {
    kind: "call",
    path,
    purpose,
    owner,
    stepId,
    action,
    index,
    attempt: 1,
    phase: "ready",
    inputs: undefined,
    question: undefined,
    reply: undefined,
    approval: undefined,
    idempotent: false,
    doubt: undefined,
    doubtFrom: 0,
    vouched: false,
    interrupted: false,
    aborted: false,
    timedOut: false,
    report: undefined,
    write: undefined,
    intent: undefined,
    clock: undefined,
    questionsAsked: 0,
    announced: false,
    dead: false,
    stopped: false,
    queued: false,
    timer: undefined,
  } as const;
}
