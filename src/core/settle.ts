import { asObject } from "./containers/container.js";
import { scopeWithOwn } from "./context.js";
import { type ErrorData, errorToJson, isToolweaveError } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { CompensationPlan } from "./plan.js";
import type { Completed, Decision, Fact, Failed, Masked, ResolvedUndo } from "./record.js";
import { afterFailure, type Failure } from "./retry.js";
import { type Call, flowOf, type Step } from "./state.js";
import { resolveCompiled } from "./template.js";

/** What a call came to in the world. */
export type CallOutcome =
  | { readonly kind: "returned"; readonly result: JsonValue; readonly inputs?: JsonObject }
  | ({ readonly kind: "failed" } & Failure)
  /** It was made, and what it returned can't be kept. */
  | { readonly kind: "unkeepable"; readonly error: ErrorData }
  | ({
      readonly kind: "rejected";
      readonly tool: string;
      readonly inputs: JsonObject;
      readonly decision: Decision;
    } & Masked);

/** The fact that an outcome is. */
export function settleCall(call: Call, outcome: CallOutcome): Fact {
  switch (outcome.kind) {
    case "returned":
      return returned(call, outcome.result, outcome.inputs);
    case "failed":
      return placed(call, afterFailure(call, outcome));
    case "unkeepable": {
      // Nobody reads what an undo gives.
      if (call.purpose === "undo") return returned(call, null);
      const applied = call.phase === "intended" || call.doubt !== undefined;
      const outcomeKind = applied ? "applied" : "not_applied";
      return failedWith(call, { error: outcome.error, outcome: outcomeKind, ...undoOf(call) });
    }
    case "rejected": {
      const { kind, ...rejected } = outcome;
      const { tool, decision } = rejected;
      const error: ErrorData = { code: "REJECTED", message: rejection(tool, decision) };
      // A no to another attempt says nothing of one that may have been made.
      if (call.doubt !== undefined) return giveUp(call, error);
      return failedWith(call, { error, outcome: "refused", rejected });
    }
    default:
      return outcome satisfies never;
  }
}

/** Nobody will say what became of the write: it fails its step, and is reported. */
export function giveUp(call: Call, error: ErrorData): Fact {
  const undo = compensationOf(call)?.ifInDoubt ? undoOf(call) : {};
  return failedWith(call, { error, outcome: "in_doubt", ...undo });
}

function returned(call: Call, result: JsonValue, inputs?: JsonObject): Completed | Failed {
  const { path } = call;
  if (call.timedOut && call.purpose === "step") {
    const error: ErrorData = { code: "TIMED_OUT", message: "The step's write was made, but after its timeout_ms." };
    return failedWith(call, { error, outcome: "applied", ...undoOf(call, result) });
  }
  const fact: Completed = { kind: "completed", path, result, ...undoOf(call, result) };
  if (inputs !== undefined && stepOf(call)?.plan.inputsAreRead) fact.inputs = inputs;
  return fact;
}

function undoOf(call: Call, result?: JsonValue): { undo?: ResolvedUndo } {
  const plan = compensationOf(call);
  if (plan === undefined) return {};
  const own = result === undefined ? { inputs: call.inputs } : { result, inputs: call.inputs };
  return { undo: resolveUndo(() => resolveCompiled(plan.inputs, scopeWithOwn(flowOf(call), call.stepId, own))) };
}

/** The undo of a container that completed, when it has one of its own. */
export function undoOfContainer(step: Step, result: JsonValue): { undo?: ResolvedUndo } {
  const plan = step.plan.compensate;
  if (plan === undefined) return {};
  const own = { result, inputs: step.inputs };
  return { undo: resolveUndo(() => resolveCompiled(plan.inputs, scopeWithOwn(step.flow, step.plan.id, own))) };
}

function resolveUndo(resolve: () => JsonValue): ResolvedUndo {
  try {
    return { inputs: asObject(resolve()) };
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return { error: errorToJson(error) };
  }
}

/** What undoes what a call did. */
export function compensationOf(call: Call): CompensationPlan | undefined {
  const step = stepOf(call);
  return call.purpose === "fallback" ? step?.plan.fallback?.compensate : step?.plan.compensate;
}

/** The step whose own call, or whose fallback, a call is. */
export function stepOf(call: Call): Step | undefined {
  if (call.owner.kind === "flow" || call.purpose === "undo") return undefined;
  return call.owner.call === call || call.owner.fallback === call ? call.owner : undefined;
}

function failedWith(call: Call, how: Omit<Failed, "kind" | "path">): Failed {
  return placed(call, { kind: "failed", path: call.path, ...how });
}

function placed<F extends { error: ErrorData }>(call: Call, fact: F): F {
  const { stepId, path } = call;
  return { ...fact, error: { ...fact.error, stepId, path } };
}

function rejection(tool: string, { by, reason }: Decision): string {
  const who = by === undefined ? "A person" : by === "policy" ? "The policy" : by;
  return `${who} rejected the call of ${tool}${reason === undefined ? "." : `: ${reason}`}`;
}
