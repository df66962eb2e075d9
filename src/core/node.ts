import type { ErrorData } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { AskPlan, CompensationPlan, RunPlan, SleepPlan, StepPlan, WorkflowPlan } from "./plan.js";
import type {
  ApprovalAnswer,
  ApprovalQuestion,
  DoubtAnswer,
  DoubtQuestion,
  InputAnswer,
  InputQuestion,
  Question,
} from "./question.js";
import type { Reported, WriteIntended } from "./record.js";
import type { StepValues } from "./template.js";
import type { NormalizedCall } from "./tool-call.js";
import type { UndoEntry, WriteEntry } from "./write-entry.js";

/** What a run consists of while it lives. */
export type Node = RootFlow | Child;

/** A node that has an owner. */
export type Child = ChildFlow | Step | Call;

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
  timer: Wait | undefined;
}

interface ScopeBase extends NodeBase {
  /** Writes done below, to be undone if the scope fails, in the order in which they came. */
  undo: UndoEntry[];
  /** The undo that is being made. */
  undoCall: UndoCall | undefined;
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
}

/** One execution of a workflow: the run itself, or a child. */
export type Flow = RootFlow | ChildFlow;

export interface RootFlow extends FlowBase {
  readonly owner: undefined;
}

export interface ChildFlow extends FlowBase {
  readonly owner: Step;
}

interface FlowBase extends ScopeBase {
  readonly kind: "flow";
  readonly plan: WorkflowPlan;
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
  readonly owner: Scope;
  /** Which step of the `parallel` that it stands in. */
  readonly index: number;
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
  call: StepCall | undefined;
  fallback: StepCall | undefined;
  /** Of a container that is open. */
  children: Children | undefined;
}

/** The children of an open container. */
export interface Children {
  readonly live: Set<Child>;
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

export type Purpose = Call["purpose"];

/** One route to a tool, a function, a person or a wait. */
export type Call = StepCall | UndoCall;

/** A step's own call, its fallback, or a dispatch's call of a tool. */
export interface StepCall extends CallBase {
  readonly purpose: "step" | "fallback";
  readonly owner: Step;
}

export interface UndoCall extends CallBase {
  readonly purpose: "undo";
  readonly owner: Scope;
  readonly plan: CompensationPlan;
  /** What it undoes. */
  readonly entry: UndoEntry;
}

interface CallBase extends NodeBase {
  readonly kind: "call";
  readonly stepId: string;
  readonly action: CallAction;
  /** Which call of a dispatch. */
  readonly index: number;
  attempt: number;
  phase: "ready" | "backoff" | "asked" | "answered" | "intended" | "doubted" | "sleeping" | "slept";
  /** Resolved when first needed; what was shown once it was asked about; what was sent once intended. */
  inputs: JsonObject | undefined;
  question: OpenQuestion | undefined;
  /** How the call's last question was closed, where it was not withdrawn. */
  reply: Reply | undefined;
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
  clock: Clock | undefined;
  questionsAsked: number;
  /** Whether the driver announced it: then it is also said when it is dropped. */
  announced: boolean;
}

export type CallAction = ToolCall | RunPlan | AskPlan | SleepPlan;

export interface ToolCall {
  readonly kind: "tool";
  readonly tool: string;
  /** What the call sends, resolved anew. @throws ToolweaveError when it does not resolve */
  inputs(): JsonObject;
}

/** What came of a question: an answer of its kind, or its expiry. */
export type Reply =
  | Answered<"approval", ApprovalQuestion, ApprovalAnswer>
  | Answered<"input", InputQuestion, InputAnswer>
  | Answered<"in_doubt", DoubtQuestion, DoubtAnswer>
  | { readonly kind: "expired"; readonly question: Question; readonly at: string };

export interface Answered<Kind, Asked, Given> {
  readonly kind: Kind;
  readonly question: Asked;
  readonly answer: Given;
  /** ISO 8601. */
  readonly at: string;
}

/** What a person approved: the fields as they were shown, with the edits. */
export type Approval = Extract<Reply, { kind: "approval" }>;

export interface OpenQuestion {
  readonly question: Question;
  readonly call: Call;
  readonly seq: number;
  readonly timer: Timer | undefined;
}

/** Something that happens by the passing of time. */
export type Timer = Wait | Deadline;

/** Of a node that goes on by itself then. */
export interface Wait {
  readonly until: number;
  readonly what: "backoff" | "sleep" | "turn";
  readonly node: Node;
}

export type Deadline =
  | { readonly until: number; readonly what: "deadline"; readonly node: Node }
  | { readonly until: number; readonly what: "question"; readonly node: Call; readonly questionId: string };

/** A budget of time. It stands still while all that is left below its node waits for people. */
export interface Clock {
  readonly node: Node;
  readonly budgetMs: number;
  usedMs: number;
  /** Absent while it stands still. */
  running: { readonly since: number; readonly timer: Timer } | undefined;
}

/** The workflow whose templates a call's inputs stand in. */
export function flowOf(call: Call): Flow {
  return call.owner.kind === "flow" ? call.owner : call.owner.flow;
}

/** The step whose own call, or whose fallback, a call is. */
export function stepOf(call: Call): Step | undefined {
  if (call.purpose === "undo") return undefined;
  return call.owner.call === call || call.owner.fallback === call ? call.owner : undefined;
}

export function placeOf(step: Step) {
  return { stepId: step.plan.id, path: step.path, attempt: step.attempt };
}

/** The call that a record of a path speaks of: that of a step has the step's path. */
export function callOf(node: Node): Call | undefined {
  if (node.kind === "step") return node.call;
  return node.kind === "call" ? node : undefined;
}
