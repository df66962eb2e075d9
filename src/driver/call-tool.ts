import { maxDurationMs } from "../core/document.js";
import type { CallTool } from "../core/effect.js";
import { errorToJson, isToolweaveError, ToolweaveError } from "../core/errors.js";
import { isoTime } from "../core/event.js";
import { readFailure } from "../core/failure.js";
import { attempt } from "../core/foreign.js";
import { copyJson, isJsonObject, type JsonLimits, type JsonObject, normalizeJson } from "../core/json.js";
import { maskedBy } from "../core/mask.js";
import { inputMismatch } from "../core/mismatch.js";
import { questionId } from "../core/question.js";
import { editedFields } from "../core/question-view.js";
import type { Decision, QuestionAsked, WriteIntended } from "../core/record.js";
import type { Validation } from "../core/schema.js";
import type { CallOutcome } from "../core/settle.js";
import type { Call } from "../core/state.js";
import type { Clock } from "../ports/clock.js";
import type { Policy, PolicyVerdict } from "../ports/policy.js";
import type { ToolCallContext } from "../ports/tool-adapter.js";
import { writeFingerprint } from "./fingerprint.js";
import { refuseSecrets, type Scrubber } from "./scrub.js";
import type { ListedTool, ToolList } from "./tool-list.js";
import { type Shown, writeView } from "./write-view.js";

/**
 * The one route to a tool.
 *
 * 1. Inputs are checked before any question is asked or call made; the schema's output is what is shown and sent.
 * 2. A write is made only from its own durable intent; `prepare` gives the intent, `send` makes the call.
 * 3. What runs is what was shown: before every attempt the tools are listed and the fingerprint is computed anew, and a
 *    difference asks again.
 * 4. A decision serves all attempts of one call, and nothing else.
 * 5. What comes back is normalized, bounded and scrubbed once, here.
 */
export interface Route {
  readonly runId: string;
  readonly workflow: string;
  /** Digest of the run's documents. */
  readonly documents: string;
  readonly policy: Policy | undefined;
  readonly limits: JsonLimits;
  readonly clock: Clock;
  readonly scrub: Scrubber;
  /** The tools as they were listed when driving began. */
  readonly tools: ToolList;
  listAgain(): Promise<ToolList>;
}

/** What preparing a call comes to: a read is sent at once, a write once its intent is durable. */
export type Prepared =
  | { readonly kind: "read"; readonly tool: ListedTool; readonly inputs: JsonObject }
  | { readonly kind: "intent"; readonly tool: ListedTool; readonly fact: WriteIntended }
  | { readonly kind: "ask"; readonly fact: QuestionAsked }
  | { readonly kind: "outcome"; readonly outcome: CallOutcome };

export function prepare(route: Route, effect: CallTool): Prepared | Promise<Prepared> {
  const tool = route.tools.get(effect.tool);
  if (tool?.effect !== "read") return prepareWrite(route, effect);
  return withInputs(route, tool, effect, (inputs) => ({ kind: "read", tool, inputs }));
}

async function prepareWrite(route: Route, effect: CallTool): Promise<Prepared> {
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
    return intent(route, write, effect, earlier.inputs, earlier.decision, earlier);
  }
  if (call.approval !== undefined) return fromApproval(route, write, effect);
  return withInputs(route, write, effect, (inputs) =>
    write.effect === "read" ? { kind: "read", tool: write, inputs } : decide(route, write, effect, inputs),
  );
}

/** Calls the tool, once: a read, or a write whose intent is durable. */
export function send(
  route: Route,
  tool: ListedTool,
  inputs: JsonObject,
  context: ToolCallContext,
  call: { readonly isAborted: boolean },
): Promise<CallOutcome> {
  const threw = (thrown: unknown) =>
    failed(route, readFailure(thrown, { effect: tool.effect, aborted: call.isAborted, scrub: route.scrub }));
  return tool
    .call(copyJson(inputs), context)
    .then((returned) => (isError(returned) ? threw(returned) : keep(route, returned)), threw);
}

/** Whether an error was returned, also one of another realm. What can't even be asked that is no error, but no JSON either. */
export function isError(returned: unknown): boolean {
  return (
    attempt(() => returned instanceof Error || Object.prototype.toString.call(returned) === "[object Error]") ?? false
  );
}

/** A result, normalized and scrubbed; what can't be kept was made all the same. */
export function keep(route: Pick<Route, "limits" | "scrub">, returned: unknown): CallOutcome {
  try {
    return { kind: "returned", result: route.scrub.value(normalizeJson(returned, route.limits)) };
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return { kind: "unkeepable", error: route.scrub.error(errorToJson(error)) };
  }
}

export function failed(
  route: Pick<Route, "scrub">,
  failure: Omit<Extract<CallOutcome, { kind: "failed" }>, "kind">,
): CallOutcome {
  return { kind: "failed", ...failure, error: route.scrub.error(failure.error) };
}

function withInputs(
  route: Route,
  tool: ListedTool,
  effect: CallTool,
  go: (inputs: JsonObject) => Prepared | Promise<Prepared>,
): Prepared | Promise<Prepared> {
  const validation = tool.schema?.validate(effect.inputs, route.limits) ?? { value: effect.inputs };
  if (!(validation instanceof Promise)) return withValid(route, tool, validation, go);
  return validation.then((settled) => withValid(route, tool, settled, go));
}

function withValid(
  route: Route,
  tool: ListedTool,
  validation: Validation,
  go: (inputs: JsonObject) => Prepared | Promise<Prepared>,
): Prepared | Promise<Prepared> {
  try {
    return go(fitting(tool, validation, route.scrub));
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return outcome(failed(route, { outcome: "not_applied", error: errorToJson(error) }));
  }
}

function fitting({ name }: ListedTool, validation: Validation, scrub: Scrubber): JsonObject {
  if ("issues" in validation) throw inputMismatch(`Tool ${name}`, validation.issues);
  const { value } = validation;
  if (!isJsonObject(value)) {
    throw new ToolweaveError("INVALID_INPUT", `Tool ${name}: its schema has to give an object.`);
  }
  refuseSecrets(scrub, value, `The input of tool ${name}`);
  return value;
}

/** A person approved: what runs is what was shown, with the edits, or it is asked anew. */
function fromApproval(route: Route, tool: ListedTool, effect: CallTool): Prepared | Promise<Prepared> {
  const { approval } = effect.node;
  if (approval === undefined) return outcome(unpublished(tool.name));
  const { question, answer, at } = approval;
  if (fingerprint(route, effect.node, tool, question.fields) !== question.fingerprint) {
    return withInputs(route, tool, effect, (inputs) => ({
      kind: "ask",
      fact: asked(route, tool, effect, inputs, { supersedes: question.id }),
    }));
  }
  const decision: Decision = { at, questionId: question.id };
  if (answer.by !== undefined) decision.by = answer.by;
  if (answer.note !== undefined) decision.reason = answer.note;
  return intent(route, tool, effect, editedFields(question, answer), decision, question);
}

async function decide(route: Route, tool: ListedTool, effect: CallTool, inputs: JsonObject): Promise<Prepared> {
  const shown = view(route, tool, effect.node, inputs);
  const { decision, reason, expiresAfterMs } = await askPolicy(route, tool, effect.node, shown);
  if (decision === "ask") return { kind: "ask", fact: asked(route, tool, effect, inputs, { reason, expiresAfterMs }) };
  const decided: Decision = { by: "policy", at: isoTime(route.clock.now()) };
  if (reason !== undefined) decided.reason = reason;
  if (decision === "reject") {
    const { masked } = shown;
    return outcome({ kind: "rejected", tool: tool.name, inputs, ...(masked && { masked }), decision: decided });
  }
  return intent(route, tool, effect, inputs, decided, shown);
}

function view(route: Route, tool: ListedTool, call: Call, fields: JsonObject): Shown {
  return writeView(call, tool, { fields, fingerprint: fingerprint(route, call, tool, fields), scrub: route.scrub });
}

function asked(
  route: Route,
  tool: ListedTool,
  { node: call }: CallTool,
  inputs: JsonObject,
  { reason, expiresAfterMs, supersedes }: { reason?: string; expiresAfterMs?: number; supersedes?: string },
): QuestionAsked {
  const schema = tool.schema === undefined ? true : tool.schema.json;
  return {
    kind: "question_asked",
    path: call.path,
    question: {
      kind: "approval",
      id: questionId(call),
      ...view(route, tool, call, inputs),
      ...(schema === undefined ? {} : { schema: route.scrub.value(schema) }),
      ...(reason === undefined ? {} : { reason }),
      ...(supersedes === undefined ? {} : { supersedes }),
    },
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

function intent(
  route: Route,
  tool: ListedTool,
  { node: call, attempt }: CallTool,
  inputs: JsonObject,
  decision: Decision,
  { site, page, action, labels }: Pick<WriteIntended, "site" | "page" | "action" | "labels">,
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
    fingerprint: fingerprint(route, call, tool, inputs),
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
    const { undo, fingerprint: _, ...write } = shown;
    const given = await route.policy({
      ...write,
      runId,
      workflow,
      idempotent: tool.idempotent,
      fields: copyJson(shown.fields),
      ...(undo === null ? {} : { undo }),
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

function outcome(given: CallOutcome): Prepared {
  return { kind: "outcome", outcome: given };
}

function unpublished(name: string): CallOutcome {
  const message = `Tool ${name} is not published. Publish it, or change the workflow.`;
  return { kind: "failed", outcome: "not_applied", error: { code: "UNKNOWN_TOOL", message } };
}
