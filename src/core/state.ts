import type { ErrorData } from "./errors.js";
import type { JsonValue } from "./json.js";
import type { Masked } from "./mask.js";
import type { Call, Clock, Flow, Node, OpenQuestion } from "./node.js";
import type { WorkflowPlan } from "./plan.js";
import type { Answer } from "./question.js";
import type { Queue } from "./queue.js";
import type { DocumentSnapshot, Warning } from "./record.js";
import type { RunEventData } from "./run-event.js";
import type { Timers } from "./timers.js";
import type { WriteEntry } from "./write-entry.js";

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
  readonly timers: Timers;
  readonly clocks: Set<Clock>;
  /** The clocks that stand still. */
  readonly standing: Set<Clock>;
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

export type ClosedQuestion =
  /** `shown`: the answer as people see it. */
  | { readonly state: "answered"; readonly answer: Answer; readonly shown: Answer }
  | { readonly state: "withdrawn" | "superseded" | "expired" };

/** Keeps warnings, of which there may be more than a call takes arguments. */
export function warn(state: RunState, warnings: readonly Warning[] = []): void {
  for (const warning of warnings) state.warnings.push(warning);
}
