import { budgetOf } from "./clock.js";
import { resolveInputs, scopeWithOwn } from "./context.js";
import { type ErrorData, errorDataOf } from "./errors.js";
import type { Failure } from "./failure.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Masked } from "./mask.js";
import { type Call, type Flow, flowOf, type Step, stepOf } from "./node.js";
import type { CompensationPlan } from "./plan.js";
import type { Completed, Decision, Fact, Failed, ResolvedUndo } from "./record.js";
import { afterFailure } from "./retry.js";
import type { StepValues } from "./template.js";

/** What a call came to in the world. */
export type CallOutcome =
  | { readonly kind: "returned"; readonly result: JsonValue; readonly inputs?: JsonObject | undefined }
  | ({
      readonly kind: "failed";
      /** Whether it is known that earlier attempts, too, were not applied. */
      readonly settles?: boolean;
    } & Failure)
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
      return placed(call, afterFailure(call, outcome, outcome.settles));
    case "unkeepable": {
      // Nobody reads what an undo gives.
      if (call.purpose === "undo") return returned(call, null);
      const applied = call.phase === "intended" || call.doubt !== undefined;
      const outcomeKind = applied ? "applied" : "not_applied";
      return failedWith(call, { error: outcome.error, outcome: outcomeKind, ...keptUndo(call) });
    }
    case "rejected": {
      const { kind, ...rejected } = outcome;
      const { tool, decision } = rejected;
      const error: ErrorData = { code: "REJECTED", message: rejection(tool, decision) };
      // A no to another attempt says nothing of one that may have been made.
      if (call.doubt !== undefined) return giveUp(call, error);
      return failedWith(call, { error, outcome: "refused", rejected });
    }
  }
}

/** Nobody will say what became of the write: it fails its step, and is reported. */
export function giveUp(call: Call, error: ErrorData): Fact {
  const undo = compensationOf(call)?.ifInDoubt ? keptUndo(call) : {};
  return failedWith(call, { error, outcome: "in_doubt", ...undo });
}

function returned(call: Call, result: JsonValue, inputs?: JsonObject): Completed | Failed {
  const { path } = call;
  if (call.timedOut && call.purpose === "step") {
    const message = `The step's write was made, but after the ${budgetOf(call)} ms that its timeout_ms allows.`;
    const error: ErrorData = { code: "TIMED_OUT", message };
    return failedWith(call, { error, outcome: "applied", ...keptUndo(call, result) });
  }
  const fact: Completed = { kind: "completed", path, result };
  const { undo } = keptUndo(call, result);
  if (undo !== undefined) fact.undo = undo;
  if (inputs !== undefined && stepOf(call)?.plan.inputsAreRead) fact.inputs = inputs;
  return fact;
}

function keptUndo(call: Call, result?: JsonValue): { undo?: ResolvedUndo } {
  const own = result === undefined ? { inputs: call.inputs } : { result, inputs: call.inputs };
  return resolvedUndo(compensationOf(call), flowOf(call), call.stepId, own);
}

/** The undo of a container that completed, when it has one of its own. */
export function undoOfContainer({ plan, flow, inputs }: Step, result: JsonValue): { undo?: ResolvedUndo } {
  return resolvedUndo(plan.compensate, flow, plan.id, { result, inputs });
}

const nothingKept: { undo?: ResolvedUndo } = Object.freeze({});

function resolvedUndo(
  plan: CompensationPlan | undefined,
  flow: Flow,
  stepId: string,
  own: StepValues,
): { undo?: ResolvedUndo } {
  if (plan === undefined) return nothingKept;
  try {
    return { undo: { inputs: resolveInputs(plan.inputs, scopeWithOwn(flow, stepId, own)) } };
  } catch (error) {
    return { undo: { error: errorDataOf(error) } };
  }
}

/** What undoes what a call did. */
export function compensationOf(call: Call): CompensationPlan | undefined {
  const step = stepOf(call);
  return call.purpose === "fallback" ? step?.plan.fallback?.compensate : step?.plan.compensate;
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
