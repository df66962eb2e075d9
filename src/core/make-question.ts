import type { ErrorData } from "./errors.js";
import type { JsonValue } from "./json.js";
import { type Call, type Scope, stepOf } from "./node.js";
import type { AskPlan } from "./plan.js";
import type { DoubtQuestionBody, InputQuestionBody, UndoView } from "./question.js";
import type { WriteIntended } from "./record.js";
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

export function doubtQuestion(call: Call, intent: WriteIntended, error: ErrorData): DoubtQuestionBody {
  const { purpose, stepId, path } = call;
  const { tool, site, page, action, labels, inputs: fields, masked, fingerprint, attempt } = intent;
  return {
    kind: "in_doubt",
    id: questionId(call),
    stepId,
    path,
    purpose,
    tool,
    site,
    page,
    action,
    labels,
    fields,
    ...(masked && { masked }),
    undo: undoOf(call),
    fingerprint,
    attempt,
    error,
  };
}

/** What undoes a call's write: its own compensation, else that of a container around it. */
export function undoOf(call: Call): UndoView | null {
  if (call.purpose === "undo") return null;
  const own = compensationOf(call)?.tool;
  if (own !== undefined) return { tool: own };
  for (let scope: Scope | undefined = call.owner; scope !== undefined; scope = scope.owner) {
    // A step's compensation undoes its own call, never its fallback.
    if (scope.kind === "step" && scope !== stepOf(call) && scope.plan.compensate !== undefined) {
      return { tool: scope.plan.compensate.tool };
    }
  }
  return null;
}
