import {
  callJson,
  type DispatchEntry,
  dispatchError,
  entriesOf,
  type HandlerOutcome,
  notRun,
  sixKeys,
  type ToolDispatchError,
  type ToolMessage,
  toolMessages,
} from "../core/dispatch.js";
import type { DispatchConfig } from "../core/document.js";
import { ToolweaveError } from "../core/errors.js";
import { isJsonObject, type JsonObject, type JsonValue, normalizeJson } from "../core/json.js";
import type { Question } from "../core/question.js";
import type { CallError, NormalizedCall } from "../core/tool-call.js";
import type { RunStore } from "../ports/run-store.js";
import { normalizeToolCalls } from "../providers/index.js";
import { type CallSet, hasFailed, identityIn, runCalls, type Standing } from "./dispatch-calls.js";
import { configureDispatch } from "./dispatch-config.js";
import { newId } from "./new-id.js";
import { type DriveOptions, defaultStore, type Settings, settingsOf } from "./options.js";
import { type CheckedCall, checkCalls } from "./read-calls.js";

export interface ToolDispatchOptions extends DriveOptions {
  /** The model's turn: its response, its message, the list of its calls, or those normalized. @default what `context` holds under `source_key` */
  calls?: unknown;
  /** What mappings read as `ctx`. @default {} */
  context?: unknown;
  /** @default one memory store of the process */
  store?: RunStore;
  /** Stands for these calls: a dispatch that exists is carried on. The call `n` is the run `<runId>[n]`. @default a UUID */
  runId?: string;
}

export interface ToolDispatchResult {
  /** `"waiting"`: for answers to `questions` or, where driving was stopped, to be carried on. */
  status: "completed" | "failed" | "waiting";
  runId: string;
  calls: readonly NormalizedCall[];
  /** The six keys. */
  context: JsonObject;
  /** One for each call, in call order; those of a dispatch that waits say so of calls that have not ended. */
  entries: readonly DispatchEntry[];
  /** One for each call, in call order: what the model is to be told once the dispatch has ended. */
  messages: readonly ToolMessage[];
  /** Of a dispatch that failed. */
  error?: ToolDispatchError;
  /** Of a dispatch that waits: each is answered in the run that it names. */
  questions?: readonly Question[];
}

/**
 * Runs the tool calls of one model turn: each by the workflow or tool that is mapped to its name, as a run of its own. A
 * call that fails undoes what it did, and nothing of other calls.
 *
 * A dispatch that waits is carried on by the same call with its `runId` and `store`: what is done is not done again.
 *
 * @throws ToolweaveError where the caller is at fault: `DefinitionError` for a configuration that can't be used,
 *   `INVALID_OPTIONS`, `UNKNOWN_CALL_SHAPE`, `DUPLICATE_CALL_ID` (before any handler starts), `RUN_CONFLICT` for a
 *   `runId` of other calls, `RUN_BUSY`; or where it can't be said how the runs stand: as `runWorkflow` does.
 */
export async function toolDispatch(config: DispatchConfig, options: ToolDispatchOptions): Promise<ToolDispatchResult> {
  const settings = settingsOf(options);
  const runId = runIdOf(options.runId);
  const dispatch = await configureDispatch(config, settings);
  const context = contextOf(options.context, settings);
  const calls = normalizeToolCalls(rawCalls(options, context, dispatch.plan.sourceKey));
  const { plan, plans, tools, workflows } = dispatch;
  const limits = { maxBytes: settings.limits.maxValueBytes, maxDepth: settings.limits.maxDepth };
  const checked = withoutSecrets(calls, await checkCalls(plan, calls, context, { plans, tools, limits }), settings);
  const store = options.store ?? defaultStore();
  const identityOf = identityIn(plan, calls, context);
  const mayExist = options.runId !== undefined;
  const set: CallSet = { dispatch, calls, checked, context, runId, store, mayExist, identityOf };
  return resultOf(set, await runCalls(set, { ...settings, workflows }), settings);
}

function resultOf(
  { dispatch, calls, runId }: CallSet,
  standings: readonly Standing[],
  settings: Settings,
): ToolDispatchResult {
  const { plan } = dispatch;
  const failsFast = !plan.ignoreErrors && standings.some(hasFailed);
  const waits = standings.some(({ kind }) => kind === "waits" || (kind === "not_started" && !failsFast));
  const outcomes = standings.map((standing) => outcomeOf(standing, waits && !failsFast));
  const entries = entriesOf(plan, calls, outcomes);
  const isCancelled = settings.signal?.aborted === true && outcomes.some(({ error }) => error?.code === "CANCELLED");
  const status = waits ? "waiting" : failsFast || isCancelled ? "failed" : "completed";
  const questions = standings.flatMap((standing) => (standing.kind === "waits" ? standing.questions : []));
  return {
    status,
    runId,
    calls,
    context: sixKeys(plan.outputKey, entries),
    entries,
    messages: toolMessages(entries),
    ...(status === "failed" && { error: dispatchError(entries, outcomes) }),
    ...(status === "waiting" && questions.length > 0 && { questions }),
  };
}

function outcomeOf(standing: Standing, isPending: boolean): HandlerOutcome {
  switch (standing.kind) {
    case "ended":
      return standing.outcome;
    case "waits":
      return { error: pending(standing.questions.length > 0 ? "waits for a person" : "has not ended") };
    case "not_started":
      return { error: isPending ? pending("has not started") : notRun };
    default:
      return standing satisfies never;
  }
}

function pending(how: string): CallError {
  return { code: notRun.code, message: `PENDING: this call ${how}. Its answer follows.` };
}

function rawCalls({ calls }: ToolDispatchOptions, context: JsonObject, key: string | undefined): unknown {
  if (calls !== undefined) return calls;
  if (key !== undefined && Object.hasOwn(context, key)) return context[key];
  const expected =
    key === undefined ? "or name its key in context as source_key" : `or as ${JSON.stringify(key)} in context`;
  throw invalid(`calls is missing: pass the model's message there, ${expected}`);
}

function contextOf(given: unknown, { limits }: Settings): JsonObject {
  const context: JsonValue = normalizeJson(given ?? {}, { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth });
  if (isJsonObject(context)) return context;
  throw invalid("context has to be an object");
}

/** The calls come from outside, and are stored with their runs: none may hold a secret. */
function withoutSecrets(
  calls: readonly NormalizedCall[],
  checked: readonly CheckedCall[],
  { scrub }: Settings,
): readonly CheckedCall[] {
  return calls.map((call, index) => {
    const each = checked[index] ?? { error: holdsSecret };
    const input = each.error === undefined ? each.input : null;
    return scrub.finds([callJson(call), input]) ? { error: holdsSecret } : each;
  });
}

const holdsSecret: CallError = {
  code: "SECRET_IN_DATA",
  message: "The call holds a secret, which no call may. A tool gets its secrets from its host.",
};

function runIdOf(given: string | undefined): string {
  if (given === undefined) return newId();
  if (typeof given === "string" && given !== "") return given;
  throw invalid("runId has to be a text that is not empty");
}

function invalid(why: string): ToolweaveError {
  return new ToolweaveError("INVALID_OPTIONS", `Options: ${why}.`);
}
