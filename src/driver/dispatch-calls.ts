import { callMetadata, type HandlerOutcome, handlerInput, resultOfFlow } from "../core/dispatch.js";
import { ToolweaveError } from "../core/errors.js";
import type { JsonObject, JsonValue } from "../core/json.js";
import type { Flow } from "../core/node.js";
import type { DispatchPlan } from "../core/plan.js";
import type { Question } from "../core/question.js";
import { resultOf } from "../core/result.js";
import type { RunState } from "../core/state.js";
import type { CallError, NormalizedCall } from "../core/tool-call.js";
import type { RunStore } from "../ports/run-store.js";
import type { Dispatch } from "./dispatch-config.js";
import { Drive } from "./drive.js";
import { digestOfAll } from "./fingerprint.js";
import { startUntold } from "./first-read.js";
import type { Settings } from "./options.js";
import type { OwnedRun } from "./owned-run.js";
import type { CheckedCall } from "./read-calls.js";
import { readRun } from "./read-run.js";
import { type Start, startRun, takeRun } from "./take-run.js";

/** A set of calls that was checked, each run of which is named after the set's. */
export interface CallSet {
  readonly dispatch: Dispatch;
  readonly calls: readonly NormalizedCall[];
  readonly checked: readonly CheckedCall[];
  /** What mappings read. */
  readonly context: JsonObject;
  readonly runId: string;
  readonly store: RunStore;
  /** Whether runs of the set may be stored already. */
  readonly mayExist: boolean;
  /** What the run of a call stands for, whatever its handler's document and schema say by now. */
  identityOf(index: number): string;
}

/** How a call of a set stands. */
export type Standing =
  | { readonly kind: "not_started" }
  /** For people or, where driving was stopped, for whoever carries it on. */
  | { readonly kind: "waits"; readonly questions: readonly Question[] }
  | { readonly kind: "ended"; readonly outcome: HandlerOutcome };

const notStarted: Standing = { kind: "not_started" };

/**
 * Runs the calls of a set, each as a run of its own.
 *
 * 1. A run that is stored goes on whatever becomes of the others; what it came to is never asked for again.
 * 2. Calls start in call order, and only while fewer than `maxConcurrent` run or wait.
 * 3. Under `fail_fast` none starts once one has failed, and one that can't be run has failed from the start.
 * 4. A cancelled set starts the rest all the same: each is cancelled before it does anything, and that is recorded.
 *
 * @throws ToolweaveError once nothing is in flight any more: `RUN_CONFLICT`, `RUN_BUSY`, `RUN_TAKEN_OVER`,
 *   `STORE_UNAVAILABLE`, `CODE_REQUIRED`
 */
export async function runCalls(set: CallSet, settings: Settings): Promise<readonly Standing[]> {
  const { plan } = set.dispatch;
  const { signal, stop } = settings;
  const standings = await standingsBefore(set);
  const begun = standings.flatMap(({ kind }, index) => (kind === "waits" ? [index] : []));
  set.checked.forEach(({ error }, index) => {
    if (error !== undefined && standings[index] === notStarted)
      standings[index] = { kind: "ended", outcome: { error } };
  });
  let hasFault = false;
  let fault: unknown;
  let isFailed = !plan.ignoreErrors && standings.some(hasFailed);
  let next = 0;

  const mayStart = () => !hasFault && !stop?.aborted && (!isFailed || signal?.aborted === true);
  const takeNext = (): number | undefined => {
    while (standings[next] !== undefined && standings[next] !== notStarted) next++;
    return next < standings.length && mayStart() ? next++ : undefined;
  };
  const lane = async (first: number | undefined, goesOn: boolean): Promise<void> => {
    for (let index = first ?? takeNext(); index !== undefined; index = goesOn ? takeNext() : undefined) {
      const standing = await runCall(set, index, index === first, settings);
      standings[index] = standing;
      isFailed ||= !plan.ignoreErrors && hasFailed(standing);
      // One that waits keeps its place.
      if (standing.kind === "waits" && !signal?.aborted) return;
    }
  };
  const lanes = Math.min(Math.max(plan.maxConcurrent, begun.length), set.calls.length);
  await Promise.all(
    Array.from({ length: lanes }, (_, place) =>
      lane(begun[place], place < plan.maxConcurrent).catch((error: unknown) => {
        fault = hasFault ? fault : error;
        hasFault = true;
      }),
    ),
  );
  if (hasFault) throw fault;
  return standings;
}

export function hasFailed(standing: Standing): boolean {
  return standing.kind === "ended" && standing.outcome.error !== undefined;
}

/** How the calls stand by what is stored of them. Those that have begun and not ended wait. */
async function standingsBefore(set: CallSet): Promise<Standing[]> {
  const standings: Standing[] = set.calls.map(() => notStarted);
  if (!set.mayExist) return standings;
  for (const [index, call] of set.calls.entries()) {
    const state = await readOwn(set, index);
    if (state !== undefined) standings[index] = standingOf(set, call, state);
  }
  return standings;
}

/** @throws ToolweaveError `RUN_CONFLICT` */
async function readOwn(set: CallSet, index: number): Promise<RunState | undefined> {
  const runId = runIdOf(set, index);
  const state = await readRun(set.store, runId);
  if (state === undefined || state.identity === set.identityOf(index)) return state;
  throw new ToolweaveError(
    "RUN_CONFLICT",
    `Run ${runId} exists for another call. Carry a dispatch on with the calls and context that it began with.`,
  );
}

async function runCall(set: CallSet, index: number, isBegun: boolean, settings: Settings): Promise<Standing> {
  const call = set.calls[index];
  if (call === undefined) return notStarted;
  const owned = isBegun ? await takeCall(set, index, settings) : await startCall(set, index, call, settings);
  if ("untaken" in owned) return standingOf(set, call, owned.untaken);
  const drive = new Drive(owned, settings);
  while ((await drive.nextEvent()) !== undefined);
  return standingOf(set, call, owned.state);
}

function takeCall(set: CallSet, index: number, settings: Settings): ReturnType<typeof takeRun> {
  return takeRun(set.store, runIdOf(set, index), settings, { takeOver: false });
}

async function startCall(
  set: CallSet,
  index: number,
  call: NormalizedCall,
  settings: Settings,
): Promise<OwnedRun | { untaken: RunState }> {
  const checked = set.checked[index];
  if (checked === undefined || checked.error !== undefined) throw new TypeError(`Call ${index} can't be run.`);
  const { handler, input } = checked;
  const start: Start = {
    workflow: set.dispatch.handlerWorkflow(handler),
    runId: runIdOf(set, index),
    input: handler.kind === "tool" ? input : Object.freeze({ ...input, ...callMetadata(call) }),
    identity: set.identityOf(index),
  };
  const { store, dispatch } = set;
  const begin = isUntold(set, settings) ? startUntold : startRun;
  const owned = await begin(store, start, settings, dispatch.tools);
  if (owned !== undefined) return owned;
  // Somebody else was faster.
  await readOwn(set, index);
  return takeCall(set, index, settings);
}

/** Whether nobody can know of a run of the set before it is told of. */
function isUntold({ mayExist }: CallSet, { observer, signal }: Settings): boolean {
  return !mayExist && observer === undefined && !signal?.aborted;
}

function runIdOf({ runId }: CallSet, index: number): string {
  return `${runId}[${index}]`;
}

/** What the run of a call stands for: its place in the set, and what all handlers of the set would be given. */
export function identityIn(
  plan: DispatchPlan,
  calls: readonly NormalizedCall[],
  context: JsonObject,
): CallSet["identityOf"] {
  // Made once the first run is started or found: a set that is refused may be of any size.
  let set: string | undefined;
  return (index) => {
    set ??= digestOfAll(standingFor(plan, calls, context));
    return `${set}[${index}]`;
  };
}

function* standingFor(
  plan: DispatchPlan,
  calls: readonly NormalizedCall[],
  context: JsonObject,
): Generator<JsonObject> {
  // A handler workflow is given the whole call beside what is mapped.
  for (const call of calls) {
    const { id, name, arguments: given } = call;
    const input = handlerInput(plan, call, context);
    yield input === given ? { id, name, arguments: given } : { id, name, arguments: given, input };
  }
}

function standingOf({ dispatch }: CallSet, call: NormalizedCall, state: RunState): Standing {
  if (state.ended === undefined) return { kind: "waits", questions: resultOf(state).questions ?? [] };
  const { root, undoErrors } = state;
  const { status, output, error } = state.ended;
  const isDone = status === "completed";
  const isTool = dispatch.plan.handlers.get(call.name)?.kind === "tool";
  const result = isTool ? (isDone ? output : lastResult(root)) : resultOfFlow(root, isDone ? output : undefined);
  const kept = result === undefined ? {} : { result };
  if (isDone) return { kind: "ended", outcome: kept };
  if (status === "cancelled") return { kind: "ended", outcome: { ...kept, error: cancelled(state) } };
  return { kind: "ended", outcome: { ...kept, error: error ?? failed, undoErrors } };
}

/** What a tool gave although its run did not complete: it answered a call that was cancelled. */
function lastResult({ plan, results }: Flow): JsonValue | undefined {
  return results.get(plan.steps.at(-1)?.id ?? "")?.result;
}

const failed: CallError = { code: "STEP_FAILED", message: "" };

function cancelled({ writes }: RunState): CallError {
  const doubts = writes.filter(({ state }) => state === "in_doubt" || state === "undo_in_doubt");
  const tools = [...new Set(doubts.map(({ tool }) => tool))].join(", ");
  const message = "The call was cancelled.";
  return {
    code: "CANCELLED",
    message: tools === "" ? message : `${message} Nobody knows whether it was done: ${tools}.`,
  };
}
