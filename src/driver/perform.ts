import { containerOf } from "../core/containers/index.js";
import type { Effect } from "../core/effect.js";
import { errorToJson, isToolweaveError } from "../core/errors.js";
import { readFailure } from "../core/failure.js";
import { isJsonObject, type JsonObject } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { CallSnapshot, Fact } from "../core/record.js";
import { type CallOutcome, settleCall } from "../core/settle.js";
import type { Call, Flow, RunState, Step } from "../core/state.js";
import { failed, keep, prepare, type Route, send } from "./call-tool.js";
import { CallContext, type Handle } from "./handle.js";
import { readCalls } from "./read-calls.js";

/** What performing an effect comes to. */
export type Performed =
  /** A fact, made when it is applied: only then is it known how the node stands. */
  | { readonly kind: "settle"; readonly outcome?: CallOutcome; settle(): Fact | undefined }
  /** A fact that begins something, and what is to be done as soon as it is durable. */
  | { readonly kind: "begin"; readonly fact: Fact; readonly goOn?: () => Promise<Performed> };

export interface World {
  readonly state: RunState;
  readonly route: Route;
  /** Says that a read or function starts. */
  announce(call: Call, attempt: number): void;
}

/** Does what an effect asks for. Never rejects. */
export async function perform(
  world: World,
  effect: Exclude<Effect, { kind: "commit" }>,
  handle: Handle,
): Promise<Performed> {
  switch (effect.kind) {
    case "call_tool":
      return callTool(world, effect, handle);
    case "run_code":
      return runCode(world, effect, handle);
    case "check_input":
      return checkInput(world, effect.node, effect.input);
    case "read_calls":
      return openDispatch(world, effect.node, effect.raw, effect.context);
    default:
      return effect satisfies never;
  }
}

async function callTool(
  world: World,
  effect: Extract<Effect, { kind: "call_tool" }>,
  handle: Handle,
): Promise<Performed> {
  const { route, state } = world;
  const { node: call, attempt } = effect;
  const prepared = await prepare(route, effect);
  switch (prepared.kind) {
    case "outcome":
      return settled(call, handle, prepared.outcome);
    case "ask":
      return { kind: "begin", fact: prepared.fact };
    case "read": {
      const { tool, inputs } = prepared;
      if (!handle.isWanted() || handle.isAborted) return { kind: "settle", settle: () => undefined };
      world.announce(call, attempt);
      const outcome = await send(route, tool, inputs, new CallContext(state, call, handle), () => handle.isAborted);
      return settled(call, handle, outcome.kind === "returned" ? { ...outcome, inputs } : outcome);
    }
    case "intent": {
      const { tool, fact } = prepared;
      const goOn = async (): Promise<Performed> => {
        const outcome = await send(
          route,
          tool,
          fact.inputs,
          new CallContext(state, call, handle),
          () => handle.isAborted,
        );
        return settled(call, handle, outcome);
      };
      return { kind: "begin", fact, goOn };
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
  const scope = { input: flow.input ?? {}, steps: Object.fromEntries(flow.results) };
  try {
    const returned = await run(scope, new CallContext(state, call, handle));
    if (returned instanceof Error) throw returned;
    return settled(call, handle, keep(route, returned));
  } catch (thrown) {
    const failure = readFailure(thrown, { effect: "read", aborted: handle.isAborted });
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
        const error = { ...inputMismatch(subject, validation.issues).toJSON(), ...place };
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
      return { kind: "entered", path, input: { ...validation.value, ...containerOf(step)?.beside(step, flow) } };
    },
  };
}

async function openDispatch(
  world: World,
  step: Step,
  raw: CallSnapshot["raw_call"],
  context: JsonObject,
): Promise<Performed> {
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
