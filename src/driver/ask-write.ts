import { maxDurationMs } from "../core/document.js";
import type { CallTool } from "../core/effect.js";
import { isoTime } from "../core/event.js";
import { readFailure } from "../core/failure.js";
import { copyJson, type JsonObject } from "../core/json.js";
import { questionId, undoOf } from "../core/make-question.js";
import { maskedBy } from "../core/mask.js";
import { inputMismatch } from "../core/mismatch.js";
import type { Approval, Call } from "../core/node.js";
import { editedFields } from "../core/question-view.js";
import type { Decision, QuestionAsked, WriteIntended } from "../core/record.js";
import type { PolicyVerdict } from "../ports/policy.js";
import { writeFingerprint } from "./fingerprint.js";
import { outcome, type Prepared, type Route, unpublished } from "./route.js";
import { withInputs } from "./tool-inputs.js";
import type { ListedTool } from "./tool-list.js";
import { failed } from "./tool-result.js";
import { type Shown, writeView } from "./write-view.js";

export async function prepareWrite(route: Route, effect: CallTool): Promise<Prepared> {
  const { node: call, tool: name } = effect;
  let tool: ListedTool | undefined;
  try {
    tool = (await route.listAgain()).get(name);
  } catch (error) {
    return outcome(failed(route, readFailure(error, { effect: "read", aborted: false, scrub: route.scrub })));
  }
  if (tool === undefined) return outcome(unpublished(name));
  const write = tool;
  const earlier = call.intent;
  if (earlier !== undefined && fingerprint(route, call, write, earlier.inputs) === earlier.fingerprint) {
    return intent(write, effect, earlier.inputs, earlier.decision, earlier);
  }
  if (call.approval !== undefined) return fromApproval(route, write, effect, call.approval);
  return withInputs(route, write, effect, (inputs) =>
    write.effect === "read" ? { kind: "read", tool: write, inputs } : decide(route, write, effect, inputs),
  );
}

/** A person approved: what runs is what was shown, with the edits, or it is asked anew. */
function fromApproval(
  route: Route,
  tool: ListedTool,
  effect: CallTool,
  { question, answer, at }: Approval,
): Prepared | Promise<Prepared> {
  if (fingerprint(route, effect.node, tool, question.fields) !== question.fingerprint) {
    return withInputs(route, tool, effect, (inputs) => ({
      kind: "ask",
      fact: asked(route, tool, effect, writeView(effect.node, tool, inputs, route.scrub), { supersedes: question.id }),
    }));
  }
  const decision: Decision = { at, questionId: question.id };
  if (answer.by !== undefined) decision.by = answer.by;
  if (answer.note !== undefined) decision.reason = answer.note;
  const inputs = editedFields(question, answer);
  const shown = { ...question, fingerprint: fingerprint(route, effect.node, tool, inputs) };
  const validation = answer.fields && tool.schema?.isCode ? tool.schema.validate(inputs, route.limits) : undefined;
  if (validation === undefined) return intent(tool, effect, inputs, decision, shown);
  // What a schema in code asks for beyond its JSON form is checked too; the fields are sent as they were approved.
  return Promise.resolve(validation).then((checked) => {
    if (!("issues" in checked)) return intent(tool, effect, inputs, decision, shown);
    const error = inputMismatch(`Tool ${tool.name}`, checked.issues).toJSON();
    return outcome({ kind: "failed", outcome: "not_applied", error });
  });
}

/** Whether an intent, made with this tool, that had to wait is still bound to the one that is published now. */
export async function stillHolds(
  route: Route,
  call: Call,
  tool: ListedTool,
  { inputs, fingerprint: intended }: WriteIntended,
): Promise<boolean> {
  try {
    const published = (await route.listAgain()).get(tool.name);
    if (published === undefined) return false;
    return published === tool || fingerprint(route, call, published, inputs) === intended;
  } catch {
    return false;
  }
}

async function decide(route: Route, tool: ListedTool, effect: CallTool, inputs: JsonObject): Promise<Prepared> {
  const { node: call } = effect;
  const shown = writeView(call, tool, inputs, route.scrub);
  const { decision, reason, expiresAfterMs } = await askPolicy(route, tool, call, shown);
  if (decision === "ask") return { kind: "ask", fact: asked(route, tool, effect, shown, { reason, expiresAfterMs }) };
  const decided: Decision = { by: "policy", at: isoTime(route.clock.now()) };
  if (reason !== undefined) decided.reason = reason;
  if (decision === "reject") {
    const { masked } = shown;
    return outcome({ kind: "rejected", tool: tool.name, inputs, ...(masked && { masked }), decision: decided });
  }
  return intent(tool, effect, inputs, decided, { fingerprint: fingerprint(route, call, tool, inputs), ...shown });
}

function asked(
  route: Route,
  tool: ListedTool,
  { node: call }: CallTool,
  shown: Shown,
  { reason, expiresAfterMs, supersedes }: { reason?: string; expiresAfterMs?: number; supersedes?: string },
): QuestionAsked {
  const schema = tool.schema === undefined ? true : tool.schema.json;
  return {
    kind: "question_asked",
    path: call.path,
    question: {
      kind: "approval",
      id: questionId(call),
      ...shown,
      undo: undoOf(call),
      fingerprint: fingerprint(route, call, tool, shown.fields),
      ...(schema === undefined ? {} : { schema: route.scrub.value(schema) }),
      ...(reason === undefined ? {} : { reason }),
      ...(supersedes === undefined ? {} : { supersedes }),
    },
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

function intent(
  tool: ListedTool,
  { node: call, attempt }: CallTool,
  inputs: JsonObject,
  decision: Decision,
  {
    site,
    page,
    action,
    labels,
    fingerprint,
  }: Pick<WriteIntended, "site" | "page" | "action" | "labels" | "fingerprint">,
): Prepared {
  const fact: WriteIntended = {
    kind: "write_intended",
    path: call.path,
    attempt,
    tool: tool.name,
    idempotent: tool.idempotent,
    ...(site === undefined ? {} : { site }),
    ...(page === undefined ? {} : { page }),
    action,
    ...(labels === undefined ? {} : { labels }),
    inputs,
    ...maskedBy(tool.schema?.json, inputs),
    fingerprint,
    decision,
  };
  return { kind: "intent", tool, fact };
}

function fingerprint({ runId, documents }: Route, { path }: Call, tool: ListedTool, inputs: JsonObject): string {
  return writeFingerprint({ runId, path, documents, inputs }, tool);
}

/** What the host's policy says. One that throws, or says something else, asks. */
async function askPolicy(route: Route, tool: ListedTool, call: Call, shown: Shown): Promise<PolicyVerdict> {
  if (route.policy === undefined) return { decision: "ask" };
  try {
    const { runId, workflow } = route;
    const undo = undoOf(call);
    // What is added behind a spread costs V8 microseconds; before it, next to nothing.
    const given = await route.policy({
      runId,
      workflow,
      idempotent: tool.idempotent,
      ...(undo === null ? {} : { undo }),
      ...shown,
      fields: copyJson(shown.fields),
    });
    const verdict = typeof given === "string" ? { decision: given } : given;
    if (!isVerdict(verdict)) return { decision: "ask", reason: "The policy gave no decision." };
    return verdict.reason === undefined ? verdict : { ...verdict, reason: route.scrub.text(verdict.reason) };
  } catch {
    return { decision: "ask", reason: `The policy failed to decide about ${call.path}.` };
  }
}

function isVerdict(verdict: PolicyVerdict): boolean {
  const { decision, reason, expiresAfterMs } = verdict;
  return (
    (decision === "approve" || decision === "reject" || decision === "ask") &&
    (reason === undefined || typeof reason === "string") &&
    (expiresAfterMs === undefined ||
      (typeof expiresAfterMs === "number" && expiresAfterMs >= 0 && expiresAfterMs <= maxDurationMs))
  );
}
