import type { ReadCalls } from "../effect.js";
import { type ErrorData, ToolweaveError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json.js";
import type { Children, Flow, Node, Step } from "../node.js";
import type { WorkflowPlan } from "../plan.js";
import type { Completed, Opened, Turned } from "../record.js";
import type { RunState } from "../state.js";

/** A kind of step that runs others: how an attempt opens, what its children are, and how it closes. Pure. */
export interface Container {
  /** How many children may run at once. */
  readonly concurrency: number;
  /** Whether a child that fails is undone by itself and the others go on. */
  readonly letsChildrenFail: boolean;
  /** Whether, when a child fails, those in flight come to their own end before the container fails. @default false */
  readonly awaitsChildren?: boolean;
  /** What begins an attempt. @throws ToolweaveError when it can't begin */
  open(step: Step): Opened | ReadCalls;
  /** How many children may be started as it opens. */
  allowed(children: Children): number;
  child(state: RunState, step: Step, index: number): Node;
  /** A child workflow's input, before its schema checks it. @throws ToolweaveError when it does not resolve */
  input(step: Step, flow: Flow): JsonObject;
  /** The inputs of a tool that is called as a child. */
  callInput?(step: Step, index: number): JsonObject;
  /** What a child workflow gets: its input as its schema gave it, and what is laid beside that. */
  lay(step: Step, flow: Flow, checked: JsonObject): JsonObject;
  /** What a child workflow that ended gives, `value` being what it gives by itself; absent: that. */
  childResult?(flow: Flow, value: JsonValue, failed: boolean): JsonValue;
  /** The error of the container once a child failed, where it is not the child's own. */
  failure?(step: Step): ErrorData;
  /** What follows when no child is left. @throws ToolweaveError when the attempt failed */
  close(step: Step): Turned | Pick<Completed, "warnings">;
  /** The result of the container when it is completed. */
  result(step: Step, state: RunState): JsonValue;
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

/** What resolved inputs have to be: inputs are written as an object, which resolving keeps. */
export function asObject(value: JsonValue): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new ToolweaveError("INVALID_INPUT", "Inputs have to be an object.");
}
