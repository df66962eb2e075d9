import type { Question } from "../../src/core/question.js";
import type { RunResult } from "../../src/core/result.js";

/** What a worker is told when it starts. */
export interface WorkerSetup {
  readonly store: StoreKind;
  /** The file, or the connection string. */
  readonly location: string;
  readonly ledgerPort: number;
}

export type StoreKind = "sqlite" | "postgres";

/** What a worker does; it dies at its point number `dieAt`. */
export type Job = { readonly dieAt?: number } & (
  | (OfRun & (DriveJob | AnswerJob | { readonly kind: "cancel" }))
  | RescueJob
);

interface OfRun {
  readonly runId: string;
}

export interface DriveJob extends How {
  readonly kind: "drive";
  readonly shape: string;
}

/** Carries on whatever run its driver has left. */
export interface RescueJob extends How {
  readonly kind: "rescue";
}

/** How a run is driven. */
export interface How {
  /** Whether to take the run from a driver that may still hold its lease. */
  readonly takeOver: boolean;
  /** How long leases last, instead of their usual time: that of a process that was killed soon runs out. */
  readonly leaseMs?: number;
  readonly inDoubt: "ask" | "fail";
  /** About which writes a person is asked. */
  readonly asks: "nothing" | "steps" | "all";
  /** How a write that did not happen is answered for: called again, or failed. */
  readonly notApplied: NotApplied;
  /** Whether questions are answered in the stream, or left open. */
  readonly answersHere: boolean;
  /** How long a call takes, before its effect and after it. */
  readonly paceMs: number;
  /** Whether a call on which the process is to die before its effect comes to it all the same. */
  readonly isLate: boolean;
  /** Whether tools give up when their signal is aborted. */
  readonly heedsSignal: boolean;
}

export interface AnswerJob {
  readonly kind: "answer";
  readonly question: Question;
  readonly notApplied: NotApplied;
}

export type NotApplied = "retry" | "not_applied";

/** What came of a job; `points` is how many the worker passed. */
export type Reply = { readonly points: number } & (
  | { readonly kind: "result"; readonly result: RunResult }
  | { readonly kind: "done" }
  /** The runs that were carried on to where they end or wait. */
  | { readonly kind: "rescued"; readonly runs: readonly string[] }
  | { readonly kind: "error"; readonly code: string; readonly message: string }
);
