import { planOf } from "../core/define.js";
import type { Workflow } from "../core/document.js";
import { isToolweaveError, ToolweaveError } from "../core/errors.js";
import { isoTime } from "../core/event.js";
import { isJsonObject, type JsonObject, type JsonValue, normalizeJson } from "../core/json.js";
import { inputMismatch } from "../core/mismatch.js";
import { type RunResult, resultOf } from "../core/result.js";
import type { RunState } from "../core/state.js";
import type { RunStore } from "../ports/run-store.js";
import { checkBeforeRun } from "./check-workflow.js";
import { Drive } from "./drive.js";
import { newId } from "./new-id.js";
import { defaultStore, type ResumeOptions, type RunOptions, type Settings, settingsOf } from "./options.js";
import { readRun } from "./read-run.js";
import { refuseSecrets } from "./scrub.js";
import { type Opened, type RunStream, runStream } from "./stream.js";
import { identityOf, type Start, startRun, takeRun } from "./take-run.js";

/**
 * Runs a workflow. The stream ends with one `result` event, whose fields are also what the generator returns; a run that fails
 * is a result. A run of the same `runId`, document and input is carried on where it stands.
 *
 * Nothing happens before the first event is asked for, and new calls start only as further events are.
 *
 * @throws ToolweaveError from the stream, before any record: `INVALID_OPTIONS`, `INVALID_INPUT`, `SECRET_IN_DATA`,
 *   `RUN_CONFLICT`, `RUN_BUSY`, `DefinitionError` for a workflow that its tools do not fit; later `STORE_UNAVAILABLE`
 *   (`details.unrecorded` are the outcomes of writes that could not be stored) and `RUN_TAKEN_OVER`, after which the run
 *   can be resumed as it is stored.
 */
export function runWorkflow<Input>(workflow: Workflow<Input>, options: RunOptions<Input>): RunStream {
  return runStream(async () => {
    const settings = settingsOf(options);
    const store = options.store ?? defaultStore();
    planOf(workflow);
    const given = givenInput(options.input, settings);
    const runId = runIdOf(options.runId);
    const identity = identityOf(workflow, given);
    if (options.runId !== undefined) {
      const existing = await readRun(store, runId);
      if (existing !== undefined) return carryOn(store, existing, identity, workflow, settings);
    }
    const tools = await checkBeforeRun(workflow, settings);
    const start: Start = { workflow, runId, identity, input: await checkInput(workflow, given, settings) };
    const owned = await startRun(store, start, settings, tools);
    if (owned !== undefined) return { drive: new Drive(owned, settings) };
    const rival = await readRun(store, runId);
    if (rival === undefined)
      throw new ToolweaveError("RUN_CONFLICT", `Run ${runId} can't be started: its store has records of it.`);
    return carryOn(store, rival, identity, workflow, settings);
  });
}

/**
 * Carries a stored run on, in any process, or yields the `result` of one that has ended. Open questions are yielded
 * again; a write that was in flight when its driver was gone is in doubt.
 *
 * @throws ToolweaveError from the stream: `UNKNOWN_RUN`, `RUN_BUSY` while another driver lives (unless `takeOver`),
 *   `CODE_REQUIRED` for a workflow with code that is not in `workflows`, and as `runWorkflow` does.
 */
export function resumeRun(store: RunStore, runId: string, options: ResumeOptions): RunStream {
  return runStream(() => open(store, runId, settingsOf(options), options.takeOver ?? false));
}

/** Runs a workflow until it ends or waits, and returns the result. */
export async function runToEnd<Input>(workflow: Workflow<Input>, options: RunOptions<Input>): Promise<RunResult> {
  for await (const event of runWorkflow(workflow, options)) {
    if (event.type !== "result") continue;
    const { type, at, seq, ...result } = event;
    return result;
  }
  throw new ToolweaveError("RUN_ENDED", "The run's stream ended without a result.");
}

async function open(store: RunStore, runId: string, settings: Settings, takeOver: boolean): Promise<Opened> {
  const taken = await takeRun(store, runId, settings, { takeOver });
  return "untaken" in taken ? ended(taken.untaken) : { drive: new Drive(taken, settings) };
}

function ended(state: RunState): Opened {
  const result = resultOf(state);
  const { at, seq } = state.ended ?? { at: state.updatedAt, seq: state.seq };
  return { result, event: { type: "result", at: isoTime(at), seq, ...result } };
}

/** A run id stands for one document and input. */
function carryOn(
  store: RunStore,
  existing: RunState,
  identity: string,
  workflow: Workflow,
  settings: Settings,
): Promise<Opened> | Opened {
  const { runId } = existing;
  if (existing.identity !== identity) {
    throw new ToolweaveError(
      "RUN_CONFLICT",
      `Run ${runId} exists with another document or input. Use another runId, or resumeRun to carry that run on.`,
    );
  }
  const workflows = [workflow, ...settings.workflows.filter(({ name }) => name !== workflow.name)];
  return open(store, runId, { ...settings, workflows }, false);
}

function runIdOf(given: string | undefined): string {
  if (given === undefined) return newId();
  if (typeof given === "string" && given !== "" && given.isWellFormed() && !given.includes("\0")) return given;
  throw new ToolweaveError(
    "INVALID_OPTIONS",
    "Options: runId has to be a text that is not empty, of well-formed Unicode, without the character U+0000.",
  );
}

function givenInput(input: unknown, settings: Settings): JsonObject {
  const given = asJson(input ?? {}, settings);
  if (!isJsonObject(given)) throw new ToolweaveError("INVALID_INPUT", "The run's input has to be an object.");
  refuseSecrets(settings.scrub, given, "The run's input");
  return given;
}

function asJson(input: unknown, { limits }: Settings): JsonValue {
  try {
    return normalizeJson(input, { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth });
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    const { pointer } = error;
    throw new ToolweaveError("INVALID_INPUT", `The run's input can't be kept. ${error.message}`, {
      pointer,
      cause: error,
    });
  }
}

async function checkInput(workflow: Workflow, given: JsonObject, { limits }: Settings): Promise<JsonObject> {
  const validator = planOf(workflow).input;
  const validation = await validator?.validate(given, { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth });
  if (validation === undefined) return given;
  if ("issues" in validation) throw inputMismatch(`Workflow ${workflow.name}`, validation.issues);
  if (isJsonObject(validation.value)) return validation.value;
  throw new ToolweaveError("INVALID_INPUT", `Workflow ${workflow.name}: its input_schema has to give an object.`);
}
