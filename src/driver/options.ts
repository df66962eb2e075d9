import type { EventEmitter } from "eventemitter3";
import { isWorkflow, type Workflow } from "../core/document.js";
import { ToolweaveError } from "../core/errors.js";
import { deepestNesting, defaultJsonLimits } from "../core/json.js";
import type { Answer, Question } from "../core/question.js";
import type { RunResult } from "../core/result.js";
import type { RunEventData } from "../core/run-event.js";
import type { Clock } from "../ports/clock.js";
import type { Policy } from "../ports/policy.js";
import type { RunStore } from "../ports/run-store.js";
import type { Tools } from "../ports/tool-adapter.js";
import { memoryStore } from "../stores/memory.js";
import { systemClock } from "./clock.js";
import { type Scrubber, scrubber } from "./scrub.js";

export interface Limits {
  /** Bytes of the JSON of any one value. @default 16 MiB */
  maxValueBytes: number;
  /** Depth of any one value. @default 200 */
  maxDepth: number;
  /** Records of a run; reaching it stops new forward work only. @default 1,000,000 */
  maxRecords: number;
  /** How long a call that was aborted may take to settle, in milliseconds. @default 10,000 */
  gracePeriodMs: number;
}

/** Sent every event as `emit(event.type, event)`: an `EventEmitter` of eventemitter3, or what has its `emit`. */
export type Observer = Pick<EventEmitter, "emit"> | { emit(type: RunEvent["type"], event: RunEvent): unknown };

/** How a run is driven; nothing of it is stored. */
export interface DriveOptions {
  /** What the workflows may call. */
  tools: Tools;
  /** The workflows that may be called by name. */
  workflows?: Workflow | readonly Workflow[];
  /** Asked before every write. @default every write is asked about */
  policy?: Policy;
  /**
   * Asked about every question first; it may take its time, the run waits for it. `undefined` leaves the question to
   * the stream, as does an answer that does not fit, or a throw.
   */
  onQuestion?: (question: Question) => Answer | undefined | Promise<Answer | undefined>;
  /** What becomes of a write of which nobody knows whether it was made. @default "ask" */
  inDoubt?: "ask" | "fail";
  /** Cancels the run when aborted: **what is done is undone**. To stop driving alone, use `stop`. */
  signal?: AbortSignal;
  /** Stops driving when aborted, as leaving the loop does: the result is `waiting`, and the run can be resumed. */
  stop?: AbortSignal;
  /** Texts of 8 characters or more that are scrubbed from whatever tools give back. */
  secrets?: readonly string[];
  limits?: Partial<Limits>;
  /** @default the machine's own time */
  clock?: Clock;
  observer?: Observer;
}

export interface RunOptions<Input = unknown> extends DriveOptions {
  /** @default {} */
  input?: Input;
  /** @default one memory store of the process */
  store?: RunStore;
  /** Stands for this document and input: a run that exists is carried on. @default a UUID */
  runId?: string;
}

export interface ResumeOptions extends DriveOptions {
  /** Whether to take over from a driver that still lives. It starts nothing more then. @default false */
  takeOver?: boolean;
}

/** A question as it comes in the stream: answered by `answer`, in the loop or later. */
export type QuestionEvent = Question & {
  type: "question";
  at: string;
  seq: number;
  /**
   * Resolves when the answer is durable.
   *
   * @throws ToolweaveError as `answerQuestion` does
   */
  answer(answer: Answer): Promise<void>;
};

export type ResultEvent = RunResult & { type: "result"; at: string; seq: number };

export type RunEvent = Exclude<RunEventData, { type: "question" }> | QuestionEvent | ResultEvent;

/** Options with their defaults, checked at the door. */
export interface Settings {
  readonly tools: Tools;
  readonly workflows: readonly Workflow[];
  readonly policy: Policy | undefined;
  readonly onQuestion: DriveOptions["onQuestion"];
  readonly inDoubt: "ask" | "fail";
  readonly signal: AbortSignal | undefined;
  readonly stop: AbortSignal | undefined;
  readonly secrets: readonly string[];
  /** Takes the secrets out: made once for all that is run with these options. */
  readonly scrub: Scrubber;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
}

export const defaultLimits: Limits = {
  maxValueBytes: defaultJsonLimits.maxBytes,
  maxDepth: defaultJsonLimits.maxDepth,
  maxRecords: 1_000_000,
  gracePeriodMs: 10_000,
};

const minSecretLength = 8;

export function settingsOf(options: DriveOptions): Settings {
  if (typeof options !== "object" || options === null) throw invalid("the options have to be an object with tools");
  if (options.tools === undefined) throw invalid("tools is missing: pass a tool, an adapter, or an array of them");
  const { inDoubt = "ask", secrets = [], workflows = [] } = options;
  for (const name of ["policy", "onQuestion"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw invalid(`${name} has to be a function`);
  }
  for (const name of ["signal", "stop"] as const) {
    if (options[name] !== undefined && !isSignal(options[name])) throw invalid(`${name} has to be an AbortSignal`);
  }
  const { clock } = options;
  if (clock !== undefined && (typeof clock?.now !== "function" || typeof clock.sleep !== "function")) {
    throw invalid("clock has to have now() and sleep(ms, signal)");
  }
  if (inDoubt !== "ask" && inDoubt !== "fail") throw invalid('inDoubt has to be "ask" or "fail"');
  if (
    !Array.isArray(secrets) ||
    Array.from(secrets).some((secret) => typeof secret !== "string" || secret.length < minSecretLength)
  ) {
    throw invalid(`each of secrets has to be a text of at least ${minSecretLength} characters`);
  }
  return {
    tools: options.tools,
    workflows: workflowList(workflows),
    policy: options.policy,
    onQuestion: options.onQuestion,
    inDoubt,
    signal: options.signal,
    stop: options.stop,
    secrets,
    scrub: scrubber(secrets),
    limits: limitsOf(options.limits ?? {}),
    clock: options.clock ?? systemClock,
    observer: options.observer,
  };
}

/** Also one of another realm. */
function isSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

/** One workflow, or several of different names. */
export function workflowList(workflows: Workflow | readonly Workflow[]): readonly Workflow[] {
  const list = isWorkflow(workflows) ? [workflows] : workflows;
  if (!Array.isArray(list) || !Array.from(list).every(isWorkflow)) {
    throw invalid("workflows has to be a workflow, or an array of them, each made by defineWorkflow");
  }
  const names = new Set<string>();
  for (const { name } of list) {
    if (names.has(name)) throw new ToolweaveError("DUPLICATE_WORKFLOW", `Workflow ${name} is given twice.`);
    names.add(name);
  }
  return list;
}

function limitsOf(given: Partial<Limits>): Limits {
  const limits = { ...defaultLimits, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw invalid(`limits.${name} has to be a whole number, not below 0`);
  }
  if (limits.maxDepth > deepestNesting) throw invalid(`limits.maxDepth can be ${deepestNesting} at most`);
  return limits;
}

let processStore: RunStore | undefined;

/** The store of runs that are given none: one of the process, in memory. */
export function defaultStore(): RunStore {
  processStore ??= memoryStore();
  return processStore;
}

function invalid(why: string): ToolweaveError {
  return new ToolweaveError("INVALID_OPTIONS", `Options: ${why}.`);
}
