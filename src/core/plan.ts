import type { CompiledCondition } from "./condition.js";
import type { RunFunction, WorkflowDocument } from "./document.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Validator } from "./schema.js";
import type { CompiledTemplate } from "./template.js";

/** A workflow document parsed once: what a run steps through. Made by `planOf`, one for each `Workflow`. */
export interface WorkflowPlan {
  readonly name: string;
  readonly document: WorkflowDocument;
  readonly steps: readonly StepPlan[];
  readonly input?: Validator;
  readonly output?: CompiledTemplate;
  readonly timeoutMs?: number;
  /** Whether the document holds what JSON can't: `run` functions or Standard Schemas. */
  readonly hasCode: boolean;
}

export interface StepPlan {
  readonly id: string;
  readonly outputKey: string;
  readonly when: CompiledCondition | undefined;
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly compensate: CompensationPlan | undefined;
  readonly fallback: FallbackPlan | undefined;
  readonly action: ActionPlan;
  /** Whether a template somewhere reads `steps.<id>.inputs`. */
  readonly inputsAreRead: boolean;
}

/** How long an undo may take where neither it nor its step says so, and a write that is only made to settle a doubt. */
export const defaultUndoTimeoutMs = 60_000;

export interface CompensationPlan {
  readonly tool: string;
  readonly inputs: CompiledTemplate;
  /** Absent: 3 where the tool is idempotent, else 0. */
  readonly retries?: number;
  readonly timeoutMs: number;
  readonly ifInDoubt: boolean;
}

export interface FallbackPlan {
  readonly tool: string;
  readonly inputs: CompiledTemplate;
  readonly compensate?: CompensationPlan;
}

export type ActionPlan = ToolPlan | RunPlan | AskPlan | SleepPlan | ContainerPlan;

export interface ToolPlan {
  readonly kind: "tool";
  readonly tool: string;
  readonly inputs: CompiledTemplate;
}

export interface RunPlan {
  readonly kind: "run";
  readonly run: RunFunction;
}

export interface SleepPlan {
  readonly kind: "sleep";
  readonly ms: number;
}

export interface AskPlan {
  readonly kind: "ask";
  readonly prompt: CompiledTemplate;
  readonly schema?: Validator;
  readonly expiresAfterMs?: number;
  /** Present where the document gives a default, also one that is `null`. */
  readonly default?: { readonly value: JsonValue };
}

export type ContainerPlan = WorkflowCallPlan | RepeatPlan | ForEachPlan | ParallelPlan | DispatchPlan;

export interface WorkflowCallPlan {
  readonly kind: "workflow";
  readonly workflow: string;
  readonly inputs: CompiledTemplate;
}

export interface RepeatPlan {
  readonly kind: "repeat";
  readonly workflow: string;
  readonly inputs: CompiledTemplate;
  readonly state: CompiledTemplate;
  readonly until?: CompiledCondition;
  readonly maxIterations: number;
  readonly delayMs: number;
}

export interface ForEachPlan {
  readonly kind: "for_each";
  readonly items: CompiledTemplate;
  readonly workflow: string;
  readonly inputs: CompiledTemplate;
  readonly maxConcurrent: number;
  readonly ignoreErrors: boolean;
}

export interface ParallelPlan {
  readonly kind: "parallel";
  readonly steps: readonly StepPlan[];
}

export interface DispatchPlan {
  readonly kind: "tool_dispatch";
  readonly sourceKey?: string;
  readonly handlers: ReadonlyMap<string, HandlerPlan>;
  readonly outputKey: string;
  readonly ignoreErrors: boolean;
  readonly maxCalls: number;
  readonly maxConcurrent: number;
}

/** What serves a call of that name: a workflow or a tool. Without `input` a tool gets the arguments. */
export type HandlerPlan =
  | { readonly kind: "flow"; readonly workflow: string; readonly input: JsonObject }
  | { readonly kind: "tool"; readonly tool: string; readonly input?: JsonObject };
