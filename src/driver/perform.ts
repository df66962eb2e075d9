import { flowsOf } from "../core/containers/index.js";
import type { CallTool, Effect, RunCode } from "../core/effect.js";
import { errorToJson, isToolweaveError } from "../core/errors.js";
import { readFailure } from "../core/failure.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import type { Call, Flow, Step } from "../core/node.js";
import type { Fact } from "../core/record.js";
import type { CallOutcome } from "../core/settle.js";
import type { RunState } from "../core/state.js";
import { stillHolds } from "./ask-write.js";
import { prepare, send } from "./call-tool.js";
import { CallContext, type Handle } from "./handle.js";
import { readCalls } from "./read-calls.js";
import type { Prepared, Route } from "./route.js";
import type { ListedTool } from "./tool-list.js";
import { failed, isError, keep } from "./tool-result.js";

/** What performing an effect comes to. */
export type Performed =
  /** What a call came to. The fact is made when it is applied: only then is it known how the call stands. */
  | { readonly kind: "outcome"; readonly outcome: CallOutcome }
  /** A fact, made when it is applied. */
  | { readonly kind: "settle"; settle(): Fact | undefined }
  /** A fact that begins something, and what is to be done as soon as it is durable. */
  | {
      readonly kind: "begin";
      readonly fact: Fact;
      readonly goOn?: () => void;
      /** Whether the fact may still begin after it had to wait. */
      readonly stillHolds?: () => Promise<boolean>;
    };

export interface World {
  readonly state: RunState;
  readonly route: Route;
  /** Says that a read or function starts. */
  announce(call: Call, attempt: number): void;
  /** Takes what an effect came to. */
  arrive(handle: Handle, what: Performed): void;
  /** What should never happen: the driver can't go on. */
  fail(error: unknown): void;
}

/** Does what an effect asks for; what it comes to arrives. */
export function perform(world: World, effect: Exclude<Effect, { kind: "commit" }>, handle: Handle): void {
  switch (effect.kind) {
    case "call_tool":
      return callTool(world, effect, handle);
    case "run_code":
      return later(world, handle, runCode(world, effect, handle));
    case "check_input":
      return later(world, handle, checkInput(world, effect.node, effect.input));
    case "read_calls":
      return later(world, handle, openDispatch(world, effect.node, effect.raw, effect.context));
    default:
      return effect satisfies never;
  }
}

function later(world: World, handle: Handle, performed: Promise<Performed>): void {
  performed.then((what) => world.arrive(handle, what)).catch(world.fail);
}

function callTool(world: World, effect: CallTool, handle: Handle): void {
  const prepared = prepare(world.route, effect);
  if (!(prepared instanceof Promise)) return callPrepared(world, effect, handle, prepared);
  prepared.then((ready) => callPrepared(world, effect, handle, ready)).catch(world.fail);
}

function callPrepared(world: World, { node: call, attempt }: CallTool, handle: Handle, prepared: Prepared): void {
  switch (prepared.kind) {
    case "outcome":
      return world.arrive(handle, prepared);
    case "ask":
      return world.arrive(handle, { kind: "begin", fact: prepared.fact });
    case "read":
      if (!handle.isWanted() || handle.isAborted) return world.arrive(handle, dropped);
      world.announce(call, attempt);
      void sendCall(world, call, handle, prepared.tool, prepared.inputs);
      return undefined;
    case "intent": {
      const { tool, fact } = prepared;
      return world.arrive(handle, {
        kind: "begin",
        fact,
        goOn: () => void sendCall(world, call, handle, tool, fact.inputs),
        stillHolds: () => stillHolds(world.route, call, tool, fact),
      });
    }
    default:
      return prepared satisfies never;
  }
}

const dropped: Performed = { kind: "settle", settle: () => undefined };

async function sendCall(world: World, call: Call, handle: Handle, tool: ListedTool, inputs: JsonObject): Promise<void> {
  const { route, state } = world;
  try {
    const outcome = await send(route, tool, inputs, new CallContext(state, call, handle), handle);
    world.arrive(handle, { kind: "outcome", outcome });
  } catch (error) {
    world.fail(error);
  }
}

async function runCode(world: World, effect: RunCode, handle: Handle): Promise<Performed> {
  const { route, state, announce } = world;
  const { node: call, attempt, run } = effect;
  announce(call, attempt);
  const { flow } = call.owner.kind === "step" ? call.owner : { flow: call.owner };
  // What the function sets in its scope is its own affair.
  const steps = Object.fromEntries(Array.from(flow.results, ([id, values]) => [id, { ...values }]));
  try {
    const returned = await run({ input: flow.input ?? {}, steps }, new CallContext(state, call, handle));
    if (isError(returned)) throw returned;
    return { kind: "outcome", outcome: keep(route, returned) };
  } catch (thrown) {
    const failure = readFailure(thrown, { effect: "read", aborted: handle.isAborted, scrub: route.scrub });
    const code = failure.error.code === "TOOL_FAILED" ? "STEP_FAILED" : failure.error.code;
    return { kind: "outcome", outcome: failed(route, { ...failure, error: { ...failure.error, code } }) };
  }
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
