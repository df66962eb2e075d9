import { fromJournal } from "../core/from-journal.js";
import type { Question } from "../core/question.js";
import { questionView } from "../core/question-view.js";
import type { RunStore } from "../ports/run-store.js";
import { listRuns } from "./list-runs.js";
import { readRun } from "./read-run.js";

/** Which questions; every given field must match. */
export interface QuestionFilter {
  /** Those of this run alone. */
  runId?: string;
  /** Those of runs of this workflow. */
  workflow?: string;
  kind?: Question["kind"];
}

/**
 * The questions that are open, in all runs: the oldest run first, and within a run in the order of asking. Each is what a
 * question event shows, with what a schema keeps from people masked; answer it with
 * `answerQuestion(store, question.runId, question.id, …)`.
 *
 * Only runs with open questions are read, one at a time and as questions are taken, without the code of their workflows.
 * A question that has expired is listed until its run is driven again, which closes it; it takes no answer.
 *
 * @throws ToolweaveError while it is read: `STORE_UNAVAILABLE`, `INVALID_JOURNAL`
 */
export async function* listQuestions(
  store: RunStore,
  { runId, workflow, kind }: QuestionFilter = {},
): AsyncGenerator<Question, void, undefined> {
  for await (const head of listRuns(store, runId === undefined ? { workflow, withOpenQuestions: true } : { runId })) {
    if (workflow !== undefined && head.workflow !== workflow) continue;
    const state = await readRun(store, head.runId);
    for (const { question } of state?.questions.values() ?? []) {
      if (kind === undefined || question.kind === kind) yield fromJournal(() => questionView(question));
    }
  }
}
