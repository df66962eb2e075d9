import type { Call, CallAction, Flow, Purpose, Step } from "./node.js";
import type { StepPlan, WorkflowPlan } from "./plan.js";
import type { UndoEntry } from "./write-entry.js";

export function newFlow(path: string, plan: WorkflowPlan, owner: Step | undefined, index: number): Flow {
  return {
    kind: "flow",
    path,
    plan,
    owner,
    index,
    input: undefined,
    results: new Map(),
    cursor: 0,
    current: undefined,
    undo: [],
    failing: undefined,
    residue: false,
    clock: undefined,
    dead: false,
    stopped: false,
    queued: false,
    timer: undefined,
  };
}

export function newStep(path: string, plan: StepPlan, flow: Flow, owner: Flow | Step): Step {
  return {
    kind: "step",
    path,
    plan,
    flow,
    owner,
    attempt: 1,
    inputs: undefined,
    phase: "new",
    timedOut: false,
    failure: undefined,
    call: undefined,
    fallback: undefined,
    children: undefined,
    undo: [],
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
  purpose: Purpose,
  owner: Step | Flow,
  stepId: string,
  action: CallAction,
  more: { index?: number; entry?: UndoEntry } = {},
): Call {
  return {
    kind: "call",
    path,
    purpose,
    owner,
    stepId,
    action,
    index: more.index ?? 0,
    entry: more.entry,
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
  };
}
