import type { ErrorData } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { CompensationPlan, StepPlan, WorkflowPlan } from "./plan.js";
import type {
  Answer,
  ApprovalAnswer,
  ApprovalQuestion,
  DocumentSnapshot,
  Masked,
  Question,
  Reported,
  ResolvedUndo,
  Warning,
  WriteIntended,
} from "./record.js";
import type { RunEventData } from "./run-event.js";
import type { StepValues } from "./template.js";
import type { NormalizedCall } from "./tool-call.js";

/**
 * A run's state: what folding its journal gives. Only live nodes are kept; what is done is a result, a pending undo and
 * an entry of `writes`.
 *
 * Volatile parts, which a fold leaves as they begin and `next` derives anew: `ready`, resolved inputs, and whether a
 * wait is over.
 */
export interface RunState {
  readonly runId: string;
  readonly plans: ReadonlyMap<string, WorkflowPlan>;
  readonly settings: RunSettings;
  readonly identity: string;
  readonly documents: readonly DocumentSnapshot[];
  /** What people are not shown of the run's input. */
  readonly masked: Masked["masked"];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly root: Flow;
  /** Live nodes by path. */
  readonly nodes: Map<string, Node>;
  /** Nodes with something to decide, oldest first. */
  readonly ready: Queue<Node>;
  /** How many records were applied. */
  seq: number;
  updatedAt: number;
  /** Writes in flight: intended, and without outcome. */
  readonly intended: Set<Call>;
  readonly questions: Map<string, OpenQuestion>;
  /** How each question that is no longer open ended. */
  readonly closed: Map<string, ClosedQuestion>;
  readonly timers: Set<Timer>;
  readonly clocks: Set<Clock>;
  readonly writes: WriteEntry[];
  writesTotal: number;
  readonly warnings: Warning[];
  readonly undoErrors: ErrorData[];
  cancelRequested: boolean;
  cancelBegun: boolean;
  ended: Ended | undefined;
  /** Grows whenever something in flight was dropped or has to be aborted. */
  stops: number;
  /** Events of the records applied since the driver took them; not kept by a fold. */
  events: RunEventData[];
}

export interface Ended {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output: JsonValue;
  readonly error: ErrorData | undefined;
  readonly seq: number;
  readonly at: number;
}

export interface RunSettings {
  /** Whether events are made of the records that are applied. */
  readonly emits: boolean;
  readonly inDoubt: "ask" | "fail";
  readonly maxRecords: number;
  /** How many entries of `writes` are kept. */
  readonly maxWrites: number;
}

export type Node = Flow | Step | Call;

/** What fails and undoes as a whole: the run, a container, or a child whose failure its container lets pass. */
export type Scope = Flow | Step;

interface NodeBase {
  readonly path: string;
  /** Ended or dropped: nothing may be decided or settled for it any more. */
  dead: boolean;
  /** Under a scope that fails: nothing new starts here. */
  stopped: boolean;
  queued: boolean;
  /** What it waits for: a delay before its next attempt or turn, or the end of a sleep. */
  timer: Timer | undefined;
}

interface ScopeBase extends NodeBase {
  /** Writes done below, to be undone if the scope fails, in the order in which they came. */
  undo: UndoEntry[];
  failing: Failing | undefined;
  /** Whether a write below is left as it is although the scope was undone. */
  residue: boolean;
  clock: Clock | undefined;
}

export interface Failing {
  readonly error: ErrorData;
  readonly status: "failed" | "cancelled";
  /** Set once all that was in flight has settled. */
  undoing: boolean;
  call: Call | undefined;
}

/** One execution of a workflow. */
export interface Flow extends ScopeBase {
  readonly kind: "flow";
  readonly plan: WorkflowPlan;
  readonly owner: Step | undefined;
  /** Which item, turn or call of its owner. */
  readonly index: number;
  input: JsonObject | undefined;
  readonly results: Map<string, StepValues>;
  cursor: number;
  current: Step | undefined;
}

export interface Step extends ScopeBase {
  readonly kind: "step";
  readonly plan: StepPlan;
  /** The workflow that the step stands in: what its templates read. */
  readonly flow: Flow;
  readonly owner: Flow | Step;
  attempt: number;
  /** What a child workflow was given, where the step is one. */
  inputs: JsonObject | undefined;
  /**
   * `"new"`; `"running"` once it is known to run; of a container `"open"` while its children run, `"backoff"` between
   * attempts; `"recovering"` while its fallback runs.
   */
  phase: "new" | "running" | "open" | "backoff" | "recovering";
  timedOut: boolean;
  /** Why it failed, while its fallback runs. */
  failure: ErrorData | undefined;
  /** Of a step that is no container. */
  call: Call | undefined;
  fallback: Call | undefined;
  /** Of a container that is open. */
  children: Children | undefined;
}

/** The children of an open container. */
export interface Children {
  readonly live: Set<Node>;
  readonly count: number;
  /** What came of each, by index. */
  readonly outcomes: (ChildOutcome | undefined)[];
  started: number;
  /** How many may be started so far: of a `repeat` one more with each turn, else all. */
  allowed: number;
  /** Of a dispatch. */
  readonly calls: readonly NormalizedCall[];
  /** Of a `for_each`: resolved when first needed. */
  items: readonly JsonValue[] | undefined;
  /** The first failure of a dispatch that fails fast: no further child starts. */
  failure: ErrorData | undefined;
}

/** What a child came to. One that failed may still have a result, of a dispatch. */
export interface ChildOutcome {
  readonly result?: JsonValue;
  readonly error?: ErrorData;
}

export type Purpose = "step" | "fallback" | "undo";

/** One route to a tool, a function, a person or a wait. */
export interface Call extends NodeBase {
  readonly kind: "call";
  readonly purpose: Purpose;
  readonly stepId: string;
  readonly owner: Step | Flow;
  /** The tool; absent for what calls none. */
  readonly tool: string | undefined;
  /** Which call of a dispatch. */
  readonly index: number;
  attempt: number;
  phase: "ready" | "backoff" | "asked" | "answered" | "intended" | "doubted" | "sleeping" | "slept";
  /** Resolved when first needed; what was shown once it was asked about; what was sent once intended. */
  inputs: JsonObject | undefined;
  question: OpenQuestion | undefined;
  /** How the call's last question was closed by an answer or, without one, by its expiry. */
  reply: { readonly question: Question; readonly answer: Answer | undefined; readonly at: string } | undefined;
  /** The approval that serves all attempts of the call. */
  approval: Approval | undefined;
  idempotent: boolean;
  /** Whether an earlier attempt may have been applied. */
  doubt: ErrorData | undefined;
  /** The first attempt that is in doubt, where one is. */
  doubtFrom: number;
  /** Whether a person had the write made again: what was in doubt before no longer counts. */
  vouched: boolean;
  /** Whether a restart, not an answer of the tool, left the write in doubt. */
  interrupted: boolean;
  aborted: boolean;
  timedOut: boolean;
  report: Reported | undefined;
  write: WriteEntry | undefined;
  /** The write as it was last intended: what a person who is asked about a doubt is shown. */
  intent: WriteIntended | undefined;
  /** Of an undo. */
  readonly entry: UndoEntry | undefined;
  clock: Clock | undefined;
  questionsAsked: number;
  /** Whether the driver announced it: then it is also said when it is dropped. */
  announced: boolean;
}

/** What a person approved: the fields as they were shown, with the edits. */
export interface Approval {
  readonly question: ApprovalQuestion;
  readonly answer: ApprovalAnswer;
  /** ISO 8601. */
  readonly at: string;
}

export interface UndoEntry {
  /** Of the record of the outcome. */
  readonly seq: number;
  readonly path: string;
  readonly stepId: string;
  /** Absent: nothing undoes it. */
  readonly plan: CompensationPlan | undefined;
  readonly undo: ResolvedUndo | undefined;
  /** The writes that are undone with it. */
  readonly writes: readonly WriteEntry[];
}

export type WriteState = "done" | "undone" | "undo_failed" | "undo_in_doubt" | "rejected" | "failed" | "in_doubt";
export type UndoReason = "no_compensation" | "rejected" | "unresolved" | "failed" | "in_doubt";

/** One forward write, and what became of it. */
export interface WriteEntry {
  stepId: string;
  path: string;
  tool: string;
  /** What was sent, as people see it: masked where the tool's schema says so. */
  fields: JsonObject;
  /** `"policy"`, or who answered. */
  decidedBy?: string;
  /** ISO 8601. */
  decidedAt: string;
  state: WriteState;
  /** The compensation that was tried. */
  undo?: { tool: string; fields: JsonObject; decidedBy?: string; decidedAt?: string };
  /** Why a write that should be undone is not. */
  reason?: UndoReason;
}

export interface OpenQuestion {
  readonly question: Question;
  readonly call: Call;
  readonly seq: number;
  readonly timer: Timer | undefined;
}

export type ClosedQuestion =
  | { readonly state: "answered"; readonly question: Question; readonly answer: Answer }
  | { readonly state: "withdrawn" | "superseded" | "expired" };

/** Something that happens by the passing of time. */
export interface Timer {
  readonly until: number;
  readonly what: "backoff" | "sleep" | "turn" | "deadline" | "question";
  readonly node: Node;
  readonly questionId?: string;
}

/** A budget of time. It stands still while all that is left below its node waits for people. */
export interface Clock {
  readonly node: Node;
  readonly budgetMs: number;
  usedMs: number;
  since: number | undefined;
  timer: Timer | undefined;
}

/** First in, first out, without moving what waits. */
export class Queue<T> {
  private items: T[] = [];
  private head = 0;

  get size(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.head === this.items.length) return undefined;
    const item = this.items[this.head++];
    if (this.head === this.items.length) {
      this.items.length = 0;
      this.head = 0;
    } else if (this.head >= 1_024) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}

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
  tool: string | undefined,
  more: { index?: number; entry?: UndoEntry } = {},
): Call {
  return {
    kind: "call",
    path,
    purpose,
    owner,
    stepId,
    tool,
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

/** Puts a node among those that `next` looks at. */
export function queue(state: RunState, node: Node): void {
  if (node.queued || node.dead) return;
  node.queued = true;
  state.ready.push(node);
}

/** The workflow whose templates a call's inputs stand in. */
export function flowOf(call: Call): Flow {
  return call.owner.kind === "flow" ? call.owner : call.owner.flow;
}
