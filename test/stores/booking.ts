import type { Question } from "../../src/core/question.js";
import { systemClock } from "../../src/driver/clock.js";
import { listQuestions } from "../../src/driver/list-questions.js";
import type { RunOptions } from "../../src/driver/options.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { ScriptedTool } from "../../src/testing/scripted-tool.js";
import { flow, options, write } from "../driver/harness.js";

/** What the scenarios of restarts and approvals are made of. */

/** In real time: that of a fake clock runs away while a database is waited for. */
export function realOptions<More extends object>(given: Partial<RunOptions> & More) {
  return options({ ...given, clock: systemClock });
}

let runs = 0;

/** The run's id, another for every test: all of them share a database. */
export function newRunId(): string {
  runs += 1;
  return `scenario-${runs}`;
}

/** A step that books, and that `release` undoes. */
export const booking = (id: string) => ({
  id,
  tool: "book",
  inputs: { for: id },
  compensate: { tool: "release", inputs: { of: id } },
});

/** Three bookings, and a write that fails. */
export const order = flow([booking("a"), booking("b"), booking("c"), { id: "d", tool: "refuse", inputs: {} }]);

export const refuse = () => write("refuse", [new Error("Nobody wants it.")]);

/** Which steps a tool was called for. */
export function calledFor(tool: ScriptedTool): string[] {
  return tool.calls.map(({ path }) => path.replace("~undo", ""));
}

export async function openQuestions(store: RunStore, runId: string): Promise<Question[]> {
  const questions: Question[] = [];
  for await (const question of listQuestions(store, { runId })) questions.push(question);
  return questions;
}
