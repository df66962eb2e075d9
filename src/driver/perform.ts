import { flowsOf } from "../core/containers/index.js";
import type { Effect } from "../core/effect.js";
import { errorToJson, isToolweaveError } from "../core/errors.js";
import { readFailure } from "../core/failure.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { Call, Flow, Step } from "../core/node.js";
import type { Fact } from "../core/record.js";
import { type CallOutcome, settleCall } from "../core/settle.js";
import type { RunState } from "../core/state.js";
import { stillHolds } from "./ask-write.js";
import { prepare, send } from "./call-tool.js";
import { callContext, type Handle } from "./handle.js";
import { readCalls } from "./read-calls.js";
import type { Prepared, Route } from "./route.js";
import type { ListedTool } from "./tool-list.js";
import { failed, isError, keep } from "./tool-result.js";

/** What performing an effect comes to. */
export type Performed =
  /** A fact, made when it is applied: only then is it known how the node stands. */
  | { readonly kind: "settle"; readonly outcome?: CallOutcome; settle(): Fact | undefined }
  /** A fact that begins something, and what is to be done as soon as it is durable. */
  | {
      readonly kind: "begin";
      readonly fact: Fact;
      readonly goOn?: (arrive: Arrive) => void;
      /** Whether the fact may still begin after it had to wait. */
      readonly stillHolds?: () => Promise<boolean>;
    };

export type Arrive = (what: Performed) => void;

export interface World {
  readonly state: RunState;
  readonly route: Route;
  /** Says that a read or function starts. */
  announce(call: Call, attempt: number): void;
  /** What should never happen: the driver can't go on. */
  fail(error: unknown): void;
}

/** Does what an effect asks for, and tells `arrive` what it came to. */
export function perform(
  world: World,
  effect: Exclude<Effect, { kind: "commit" }>,
  handle: Handle,
  arrive: Arrive,
): void {
  switch (effect.kind) {
    case "call_tool":
      return callTool(world, effect, handle, arrive);
    case "run_code":
      return later(world, runCode(world, effect, handle), arrive);
    case "check_input":
      return later(world, checkInput(world, effect.node, effect.input), arrive);
    case "read_calls":
      return later(world, openDispatch(world, effect.node, effect.raw, effect.context), arrive);
    default:
      return effect satisfies never;
  }
}

function later(world: World, performed: Promise<Performed>, arrive: Arrive): void {
  performed.then(arrive).catch(world.fail);
}

function callTool(world: World, effect: Extract<Effect, { kind: "call_tool" }>, handle: Handle, arrive: Arrive): void {
  const prepared = prepare(world.route, effect);
  if (!(prepared instanceof Promise)) return callPrepared(world, effect, handle, prepared, arrive);
  prepared.then((ready) => callPrepared(world, effect, handle, ready, arrive)).catch(world.fail);
}

function callPrepared(
  world: World,
  { node: call, attempt }: Extract<Effect, { kind: "call_tool" }>,
  handle: Handle,
  prepared: Prepared,
  arrive: Arrive,
): void {
  const { route, state } = world;
  const sendCall = (tool: ListedTool, inputs: JsonObject, arriveAt: Arrive, sent?: JsonObject): void => {
    const context = callContext(state, call, handle);
    send(route, tool, inputs, context, handle)
      .then((outcome) =>
        arriveAt(settled(call, handle, sent && outcome.kind === "returned" ? { ...outcome, inputs: sent } : outcome)),
      )
      .catch(world.fail);
  };
  switch (prepared.kind) {
    case "outcome":
      return arrive(settled(call, handle, prepared.outcome));
    case "ask":
      return arrive({ kind: "begin", fact: prepared.fact });
    case "read": {
      if (!handle.isWanted() || handle.isAborted) return arrive({ kind: "settle", settle: () => undefined });
      world.announce(call, attempt);
      return sendCall(prepared.tool, prepared.inputs, arrive, prepared.inputs);
    }
    case "intent": {
      const { tool, fact } = prepared;
      return arrive({
        kind: "begin",
        fact,
        goOn: (arriveAt) => sendCall(tool, fact.inputs, arriveAt),
        stillHolds: () => stillHolds(route, call, fact),
      });
    }
    default:
      return prepared satisfies never;
  }
}

async function runCode(
  world: World,
  effect: Extract<Effect, { kind: "run_code" }>,
  handle: Handle,
): Promise<Performed> {
  const { route, state, announce } = world;
  const { node: call, attempt, run } = effect;
  announce(call, attempt);
  const { flow } = call.owner.kind === "step" ? call.owner : { flow: call.owner };
  // What the function sets in its scope is its own affair.
  const steps = Object.fromEntries(Array.from(flow.results, ([id, values]) => [id, { ...values }]));
  try {
    const returned = await run({ input: flow.input ?? {}, steps }, callContext(state, call, handle));
    if (isError(returned)) throw returned;
    return settled(call, handle, keep(route, returned));
  } catch (thrown) {
    const failure = readFailure(thrown, { effect: "read", aborted: handle.isAborted, scrub: route.scrub });
    const code = failure.error.code === "TOOL_FAILED" ? "STEP_FAILED" : failure.error.code;
    return settled(call, handle, failed(route, { ...failure, error: { ...failure.error, code } }));
  }
}

function settled(call: Call, handle: Handle, outcome: CallOutcome): Performed {
  // A read that was dropped and therefore failed says nothing: it is made again.
  const isDropped = handle.isAborted && !handle.isWrite && outcome.kind !== "returned";
  return { kind: "settle", outcome, settle: () => (isDropped ? undefined : settleCall(call, outcome)) };
}

async function checkInput(world: World, flow: Flow, input: JsonObject): Promise<Performed> {
  const { owner: step, plan, path } = flow;
  const validation = await plan.input?.validate(input, world.route.limits);
  return {
    kind: "settle",
    settle: () => {
      if (step === undefined || validation === undefined) return undefined;
      const subject = `Workflow ${plan.name}`;
      const place = { stepId: step.plan.id, path };
      if ("issues" in validation) {
        const error = { ...world.route.scrub.error(inputMismatch(subject, validation.issues).toJSON()), ...place };
        return { kind: "failed", path, error, outcome: "not_applied" };
      }
      if (!isJsonObject(validation.value)) {
        const error = {
          code: "INVALID_INPUT" as const,
          message: `${subject}: its schema has to give an object.`,
          ...place,
        };
        return { kind: "failed", path, error, outcome: "not_applied" };
      }
      const { value } = validation;
      return { kind: "entered", path, input: flowsOf(step).lay(step, flow, value) };
    },
  };
}

async function openDispatch(world: World, step: Step, raw: JsonValue, context: JsonObject): Promise<Performed> {
  const { path, attempt } = step;
  try {
    const calls = await readCalls(world, step, raw, context);
    return { kind: "settle", settle: () => ({ kind: "opened", path, attempt, count: calls.length, calls }) };
  } catch (thrown) {
    if (!isToolweaveError(thrown)) throw thrown;
    const error = { ...errorToJson(thrown), stepId: step.plan.id, path };
    return { kind: "settle", settle: () => ({ kind: "failed", path, error, outcome: "not_applied" }) };
  }
}
