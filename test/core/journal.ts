import { apply } from "../../src/core/apply.js";
import { defineWorkflow, embeddedWorkflows, planOf } from "../../src/core/define.js";
import type { StepDocument, Workflow, WorkflowDocument } from "../../src/core/document.js";
import type { Effect } from "../../src/core/effect.js";
import type { ErrorData } from "../../src/core/errors.js";
import { beginRun, readSettings } from "../../src/core/fold.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { next } from "../../src/core/next.js";
import type { Answer, ApprovalQuestionBody, DoubtQuestionBody, InputQuestionBody } from "../../src/core/question.js";
import type {
  Completed,
  Fact,
  Failed,
  JournalRecord,
  QuestionAsked,
  Retried,
  RunStarted,
  WriteIntended,
} from "../../src/core/record.js";
import type { RunSettings, RunState } from "../../src/core/state.js";
import type { NormalizedCall } from "../../src/core/tool-call.js";

/** Journals as lists of facts, and what a run makes of them: no driver, no tools, no time but that of the records. */

/** A fact, and when it was recorded; without a time, when the one before was. */
export type Told = Fact & { at?: number };

export interface Run {
  input?: JsonObject;
  /** Those that the steps call. */
  workflows?: readonly Workflow[];
  settings?: Partial<RunSettings>;
}

export type Steps = readonly StepDocument[] | WorkflowDocument;

export function fold(steps: Steps, facts: readonly Told[] = [], { input = {}, workflows = [], settings }: Run = {}) {
  const workflow = defineWorkflow("steps" in steps ? steps : { name: "w", steps });
  const all = [workflow, ...workflows, ...embeddedWorkflows(workflow)];
  const plans = new Map(all.map((each) => [each.name, planOf(each)]));
  const started: RunStarted = {
    ...{ kind: "run_started", version: 1, runId: "r", documents: [{ name: workflow.name, document: null }] },
    ...{ input, identity: "i", driver: "d" },
  };
  const state = beginRun({ ...started, at: 0 }, plans, { ...readSettings, emits: true, ...settings });
  for (const fact of facts) tell(state, fact);
  return state;
}

export function tell(state: RunState, fact: Told): void {
  const record: JournalRecord = { ...fact, at: fact.at ?? state.updatedAt };
  apply(state, record);
}

/** All that a run decides until it waits for the world: facts are applied at once, as a driver does. */
export function decide(state: RunState): (Fact | Effect)[] {
  const decisions: (Fact | Effect)[] = [];
  for (let decision = next(state); decision !== undefined; decision = next(state)) {
    decisions.push(decision);
    if (!("node" in decision)) tell(state, decision);
  }
  return decisions;
}

/** Decisions as text: `call_tool pay #1 {"amount":1}`. */
export function told(decisions: readonly (Fact | Effect)[]): string[] {
  return decisions.map(textOf);
}

function textOf(decision: Fact | Effect): string {
  switch (decision.kind) {
    case "commit":
      return `commit ${textOf(decision.fact)}`;
    case "call_tool":
      return `call_tool ${decision.tool} #${decision.attempt} ${JSON.stringify(decision.inputs)}`;
    case "run_code":
      return `run_code ${decision.node.path} #${decision.attempt}`;
    case "check_input":
      return `check_input ${decision.node.path} ${JSON.stringify(decision.input)}`;
    case "read_calls":
      return `read_calls ${decision.node.path} ${JSON.stringify(decision.raw)}`;
    case "run_ended":
      return `run_ended ${decision.status}${decision.output === undefined ? "" : ` ${JSON.stringify(decision.output)}`}`;
    case "entered":
      return `entered ${decision.path} ${JSON.stringify(decision.input)}`;
    case "opened":
      return `opened ${decision.path} ${decision.count}`;
    case "turned":
      return `turned ${decision.path} ${decision.index}`;
    case "completed":
      return `completed ${decision.path}${decision.result === undefined ? "" : ` ${JSON.stringify(decision.result)}`}`;
    case "retried":
      return `retried ${decision.path} #${decision.attempt} ${decision.delayMs} ${decision.outcome} ${decision.error.code}`;
    case "failed":
      return `failed ${decision.path} ${decision.outcome} ${decision.error.code}`;
    case "attempt_failed":
    case "doubted":
      return `${decision.kind} ${decision.path} ${decision.error.code}`;
    case "question_asked":
      return `question_asked ${decision.question.kind} ${decision.question.id}`;
    case "question_expired":
      return `question_expired ${decision.id}`;
    default:
      return "path" in decision ? `${decision.kind} ${decision.path}` : decision.kind;
  }
}

/** What folding a journal leads to. */
export function decided(steps: Steps, facts: readonly Told[] = [], run: Run = {}): string[] {
  return told(decide(fold(steps, facts, run)));
}

/** The events of a journal as text: `failed pay`, `question approval`. */
export function eventsOf({ events }: RunState): string[] {
  return events.map((event) =>
    event.type === "question" ? `question ${event.kind}` : `${event.status} ${event.path}#${event.attempt}`,
  );
}

export function errorOf(code: ErrorData["code"] = "TOOL_FAILED", message = "no"): ErrorData {
  return { code, message };
}

export function intended(path: string, more: Partial<WriteIntended> = {}): WriteIntended {
  const decision = { by: "policy", at: "1970-01-01T00:00:00.000Z" };
  const write = { tool: "t", idempotent: false, action: "Do it", inputs: { x: 1 }, fingerprint: "f", decision };
  return { kind: "write_intended", path, attempt: 1, ...write, ...more };
}

export function completed(path: string, result?: JsonValue, more: Partial<Completed> = {}): Completed {
  return { kind: "completed", path, ...(result === undefined ? {} : { result }), ...more };
}

export function failed(path: string, more: Partial<Failed> = {}): Failed {
  return { kind: "failed", path, error: errorOf(), outcome: "not_applied", ...more };
}

export function retried(path: string, more: Partial<Retried> = {}): Retried {
  return { kind: "retried", path, attempt: 2, delayMs: 1_000, error: errorOf(), outcome: "not_applied", ...more };
}

export function doubted(path: string): Fact {
  return { kind: "doubted", path, error: errorOf("TOOL_IN_DOUBT", "cut off") };
}

/** A write that was made, and what undoes it. */
export function wrote(path: string, undo: JsonObject = { y: 1 }, result: JsonValue = null): Told[] {
  return [intended(path), completed(path, result, { undo: { inputs: undo } })];
}

const writeView = { tool: "t", action: "Do it", fields: { x: 1 }, undo: null, fingerprint: "f" };

export function approvalAsked(
  path: string,
  more: Partial<ApprovalQuestionBody> = {},
  expiresAfterMs?: number,
): QuestionAsked {
  const question = { id: `${path}?1`, stepId: path, path, kind: "approval", purpose: "step", ...writeView } as const;
  return {
    kind: "question_asked",
    path,
    question: { ...question, ...more },
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

export function doubtAsked(path: string, more: Partial<DoubtQuestionBody> = {}): QuestionAsked {
  const doubt = { attempt: 1, error: errorOf("TOOL_IN_DOUBT", "cut off") };
  const question = { id: `${path}?1`, stepId: path, path, kind: "in_doubt", purpose: "step", ...writeView } as const;
  return { kind: "question_asked", path, question: { ...question, ...doubt, ...more } };
}

export function inputAsked(
  path: string,
  more: Partial<InputQuestionBody> = {},
  expiresAfterMs?: number,
): QuestionAsked {
  const question = { id: `${path}?1`, stepId: path, path, kind: "input", prompt: "How many?" } as const;
  return {
    kind: "question_asked",
    path,
    question: { ...question, ...more },
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

export function answered(path: string, answer: Answer, number = 1): Fact {
  return { kind: "question_answered", id: `${path}?${number}`, answer };
}

export function expired(path: string): Fact {
  return { kind: "question_expired", id: `${path}?1` };
}

export function opened(path: string, count: number, more: { attempt?: number; calls?: NormalizedCall[] } = {}): Fact {
  return { kind: "opened", path, attempt: 1, count, ...more };
}

export function entered(path: string, input: JsonObject = {}): Fact {
  return { kind: "entered", path, input };
}

export function timedOut(path: string): Fact {
  return { kind: "timed_out", path };
}

/** A call of a model's turn. */
export function turnCall(index: number, name: string, more: Partial<NormalizedCall> = {}): NormalizedCall {
  const call = { id: `c${index}`, index, type: "function", name, arguments: { n: index } } as const;
  return { ...call, raw_arguments: "{}", raw_call: {}, ...more };
}

export const taken: Fact = { kind: "run_taken", driver: "e" };
export const cancelled: readonly Fact[] = [{ kind: "cancel_requested" }, { kind: "cancel_begun" }];
