import { defineWorkflow } from "../../src/core/define.js";
import type { Workflow, WorkflowDocument } from "../../src/core/document.js";
import type { Answer } from "../../src/core/question.js";
import type { JournalRecord } from "../../src/core/record.js";
import type { QuestionEvent, ResultEvent, RunEvent, RunOptions } from "../../src/driver/options.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStream } from "../../src/driver/stream.js";
import type { Clock } from "../../src/ports/clock.js";
import type { Policy } from "../../src/ports/policy.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  type ScriptEntry,
  type ScriptedTool,
  type ScriptedToolOptions,
  scriptedTool,
} from "../../src/testing/scripted-tool.js";

/** What nearly every test of a run needs: a workflow, tools, a store, and what came of it. */

export function flow(steps: WorkflowDocument["steps"], more: Partial<Omit<WorkflowDocument, "steps">> = {}): Workflow {
  return defineWorkflow({ name: "trip", ...more, steps });
}

type ToolMore = Partial<Omit<ScriptedToolOptions, "name" | "script" | "effect">>;

export function read(name: string, script: readonly ScriptEntry[] = ["found"], more: ToolMore = {}): ScriptedTool {
  return scriptedTool({ ...more, name, effect: "read", script });
}

export function write(name: string, script: readonly ScriptEntry[] = [{ id: 7 }], more: ToolMore = {}): ScriptedTool {
  return scriptedTool({ ...more, name, effect: "write", script });
}

export const approveAll: Policy = () => "approve";

/** Options of a run on its own store and clock, where every write is approved. */
export function options<More extends object>(
  given: Partial<RunOptions> & More,
): RunOptions & More & { store: RunStore; clock: Clock } {
  const { store = memoryStore(), clock = fakeClock() } = given;
  return { policy: approveAll, runId: "run-1", tools: [], ...given, store, clock };
}

export interface Seen {
  events: RunEvent[];
  /** `"pay completed"`, `"pay?1 approval"`, `"result failed"`. */
  labels: string[];
  result: ResultEvent;
}

/** Takes all events of a run. */
export async function drain(stream: RunStream, onEvent?: (event: RunEvent) => unknown): Promise<Seen> {
  const events: RunEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    await onEvent?.(event);
  }
  const result = events.at(-1);
  if (result?.type !== "result") throw new Error(`The stream ended without a result: ${events.map(labelOf)}`);
  return { events, labels: events.map(labelOf), result };
}

export function labelOf(event: RunEvent): string {
  if (event.type === "step") return `${event.path} ${event.status}`;
  return event.type === "question" ? `${event.id} ${event.kind}` : `result ${event.status}`;
}

/** Gives every question the same answer, or that of a function; `undefined` leaves it open. */
export function answering(answer: Answer | ((question: QuestionEvent) => Answer | undefined)) {
  return async (event: RunEvent): Promise<void> => {
    if (event.type !== "question") return;
    const given = typeof answer === "function" ? answer(event) : answer;
    if (given !== undefined) await event.answer(given);
  };
}

export function run(workflow: Workflow, given: Partial<RunOptions>, onEvent?: (event: RunEvent) => unknown) {
  return drain(runWorkflow(workflow, options(given)), onEvent);
}

export function resume(store: RunStore, given: Partial<RunOptions> & { takeOver?: boolean } = {}, runId = "run-1") {
  return resumeRun(store, runId, { policy: approveAll, clock: fakeClock(), tools: [], ...given });
}

export async function journalOf(store: RunStore, runId = "run-1"): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of store.read(runId)) records.push(record);
  return records;
}

/** Takes events up to a question. */
export async function untilQuestion(stream: RunStream): Promise<QuestionEvent> {
  const event = await until(stream, ({ type }) => type === "question");
  if (event.type !== "question") throw new Error("The stream ended without a question.");
  return event;
}

/** Takes events up to the first of a kind. */
export async function until(stream: RunStream, isIt: (event: RunEvent) => boolean): Promise<RunEvent> {
  for (;;) {
    const turn = await stream.next();
    if (turn.done) throw new Error("The stream ended before.");
    if (isIt(turn.value)) return turn.value;
  }
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("It was not rejected.");
    },
    (error: unknown) => error,
  );
}

/** A promise, and how to settle it from outside. */
export function deferred<T = unknown>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Turns of the event loop: as many as whatever is under way can need. */
export async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
