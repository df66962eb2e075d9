import type { JsonValue } from "../../core/json.js";

/**
 * What may go otherwise than plainly in one schedule:
 *
 * - `crash`: the process dies at an append, before or behind it, or during a call; another one carries the run on.
 * - `leave`: the host stops driving, and another process carries the run on.
 * - `takeover`: another process takes the run over while the former one lives on; it learns of that at once, or only
 *   when it writes.
 * - `outage`: the store is out of reach for one append, which is made or not.
 * - `cancel`: somebody cancels the run.
 * - `fail`: a call fails, once or for good, or is refused; nothing was done.
 * - `doubt`: a call's request or its reply is lost, or it does not settle when it is aborted: nobody knows.
 * - `slow`: time passes first; a time-out strikes, a question expires.
 * - `answer`: a person says something else, says it later and elsewhere, or two say different things.
 * - `order`: what is in flight side by side settles in another order than it began.
 */
export type FaultKind =
  | "crash"
  | "leave"
  | "takeover"
  | "outage"
  | "cancel"
  | "fail"
  | "doubt"
  | "slow"
  | "answer"
  | "order";

/** One point of a run, and how it went on there. */
export interface Choice {
  /** Names the point: `call pay`, `question pay?1`, `record completed pay`, `time`; `(2)` at its end the second time. */
  readonly at: string;
  /** Names how it went on: `reply lost`, `reject`, `dies before`. */
  readonly take: string;
}

/**
 * A course of a run, as what goes otherwise than plainly in it. Everything else goes plainly: calls return, people
 * approve, records are stored, what began first settles first. Plain JSON, so that it can be kept in a test.
 */
export type Schedule = readonly Choice[];

/** How often each may happen in one schedule. */
export type Faults = Readonly<Record<FaultKind, number>>;

/** One way to go on at a point. */
export interface Option {
  readonly take: string;
  /** Absent: nothing that a schedule is bounded in. */
  readonly fault?: FaultKind;
  /**
   * What it means for how the run ends: `"none"`, it has to end as it does without; `"lasting"`, it goes the same way
   * whenever the run comes by again. Absent: it may end in another way.
   */
  readonly bearing?: "none" | "lasting";
  /** What a person gives with it: a value, or the fields that are changed. */
  readonly given?: JsonValue;
}

/** The plain way first. */
export type Menu = readonly [Option, ...Option[]];
