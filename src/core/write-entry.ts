import type { JsonObject } from "./json.js";
import type { CompensationPlan } from "./plan.js";
import type { ResolvedUndo } from "./record.js";

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
