import type { ReadCalls } from "../effect.js";
import { type ErrorData, ToolweaveError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json.js";
import type { Child, Children, Flow, Step } from "../node.js";
import type { WorkflowPlan } from "../plan.js";
import type { Completed, Opened, Turned } from "../record.js";
import type { RunState } from "../state.js";

/** A kind of step that runs others: how an attempt opens, what its children are, and how it closes. Pure. */
export interface Container {
  /** How many children may run at once. */
  readonly concurrency: number;
  /**
   * What follows when a child fails. `"fail"`: the container fails at once, which stops the others. `"await"`: no further
   * child starts, and the container fails once those in flight have come to their own end. `"record"`: the child is
   * undone by itself, and the others go on.
   */
  readonly onChildFailure: "fail" | "await" | "record";
  /** How many children may be started as it opens. @default all */
  readonly allowed?: number;
  /** What begins an attempt. @throws ToolweaveError when it can't begin */
  open(step: Step): Opened | ReadCalls;
  child(state: RunState, step: Step, index: number): Child;
  /** Absent where no child is a workflow. */
  readonly flows?: ChildFlows;
  /** The error of the container once a child failed, where it is not the child's own. */
  failure?(step: Step): ErrorData;
  /** What follows when no child is left. @throws ToolweaveError when the attempt failed. @default it is completed */
  close?(step: Step): Turned | Pick<Completed, "warnings">;
  /** The result of the container when it is completed. */
  result(step: Step, state: RunState): JsonValue;
}

/** What a container does with children that are workflows. */
export interface ChildFlows {
  /** A child's input, before its schema checks it. @throws ToolweaveError when it does not resolve */
  input(step: Step, flow: Flow): JsonObject;
  /** What a child gets: its input as its schema gave it, and what is laid beside that. */
  lay(step: Step, flow: Flow, checked: JsonObject): JsonObject;
  /** What a child that ended gives, `value` being what it gives by itself; absent: that, and nothing when it failed. */
  result?(flow: Flow, value: JsonValue, failed: boolean): JsonValue;
}

/** The path of a container's attempt, which its children's begin with. */
export function attemptPath(step: Step): string {
  return step.attempt === 1 ? step.path : `${step.path}#${step.attempt}`;
}

export function childrenOf(step: Step): Children {
  if (step.children === undefined)
    throw new ToolweaveError("INVALID_JOURNAL", `Step ${step.path} has not been opened.`);
  return step.children;
}

export function resultAt(step: Step, index: number): JsonValue {
  return childrenOf(step).outcomes[index]?.result ?? null;
}

export function planNamed(state: RunState, name: string): WorkflowPlan {
  const plan = state.plans.get(name);
  if (plan === undefined) throw new ToolweaveError("INVALID_JOURNAL", `The journal holds no workflow named ${name}.`);
  return plan;
}
