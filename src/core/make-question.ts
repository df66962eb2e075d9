import type { JsonValue } from "./json.js";
import { type Call, stepOf } from "./node.js";
import type { AskPlan } from "./plan.js";
import type { DoubtQuestionBody, InputQuestionBody, UndoView } from "./question.js";
import { compensationOf } from "./settle.js";

/** The id of a call's next question: unique within the run, the same however often it is derived. */
export function questionId(call: Call): string {
  return `${call.path}?${call.questionsAsked + 1}`;
}

export function inputQuestion(call: Call, plan: AskPlan, prompt: JsonValue): InputQuestionBody {
  const schema = plan.schema?.json;
  return {
    kind: "input",
    id: questionId(call),
    stepId: call.stepId,
    path: call.path,
    prompt,
    ...(schema === undefined ? {} : { schema }),
    ...(plan.default === undefined ? {} : { default: plan.default.value }),
  };
}

export function doubtQuestion(call: Call): DoubtQuestionBody | undefined {
  const { intent, doubt, purpose, stepId, path } = call;
  if (intent === undefined || doubt === undefined) return undefined;
  const { tool, site, page, action, labels, inputs, masked, fingerprint, attempt } = intent;
  const undo = undoOf(call);
  const shown = {
    purpose,
    tool,
    site,
    page,
    action,
    labels,
    fields: inputs,
    ...(masked && { masked }),
    undo,
    fingerprint,
  };
  return { kind: "in_doubt", id: questionId(call), stepId, path, ...shown, attempt, error: doubt };
}

/** What undoes a call's write: its own compensation, else that of a container around it. */
export function undoOf(call: Call): UndoView | null {
  if (call.purpose === "undo") return null;
  let tool = compensationOf(call)?.tool;
  for (let owner = stepOf(call)?.owner ?? call.owner; tool === undefined; ) {
    if (owner.kind === "step") tool = owner.plan.compensate?.tool;
    if (owner.owner === undefined) break;
    owner = owner.owner;
  }
  return tool === undefined ? null : { tool };
}
