import { checkAnswer } from "../core/check-answer.js";
import type { JsonLimits } from "../core/json.js";
import type { Answer } from "../core/question.js";
import type { CancelRequested, QuestionAnswered } from "../core/record.js";
import type { RunState } from "../core/state.js";
import type { Clock } from "../ports/clock.js";
import type { RunStore } from "../ports/run-store.js";
import { appendToRun } from "./append-to-run.js";
import { systemClock } from "./clock.js";
import { defaultLimits, type Limits } from "./options.js";
import { refuseSecrets, type Scrubber, scrubber } from "./scrub.js";

export interface AnswerOptions {
  /** @default the machine's own time: what expiry is measured by */
  clock?: Clock;
  limits?: Partial<Limits>;
  /** Texts that no answer may hold. */
  secrets?: readonly string[];
}

/**
 * Answers an open question of a run, from any process; whoever drives the run goes on with it, else `resumeRun` does.
 * Resolves when the answer is durable. The first answer stands; the same again is no error.
 *
 * @throws ToolweaveError `ALREADY_ANSWERED` (`details.answer` is the first), `INVALID_ANSWER`, `QUESTION_CLOSED`,
 *   `QUESTION_EXPIRED`, `UNKNOWN_QUESTION`, `RUN_ENDED`, `UNKNOWN_RUN`, `SECRET_IN_DATA`, `STORE_UNAVAILABLE`. None of
 *   them changes anything.
 */
export async function answerQuestion(
  store: RunStore,
  runId: string,
  questionId: string,
  answer: Answer | unknown,
  options: AnswerOptions = {},
): Promise<void> {
  const { clock = systemClock, secrets = [] } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const scrub = scrubber(secrets);
  const jsonLimits = { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth };
  await appendToRun(store, runId, { clock }, (state) =>
    answered(state, questionId, answer, { now: clock.now(), limits: jsonLimits, scrub }),
  );
}

/** The record of an answer; `undefined` where the same answer stands already. @throws ToolweaveError as `answerQuestion` does */
export function answered(
  state: RunState,
  id: string,
  given: unknown,
  { now, limits, scrub }: { now: number; limits: JsonLimits; scrub: Scrubber },
): QuestionAnswered | undefined {
  const answer = checkAnswer(state, id, given, { now, limits });
  if (answer === undefined) return undefined;
  refuseSecrets(scrub, JSON.parse(JSON.stringify(answer)), `The answer to question ${id}`);
  return { kind: "question_answered", id, answer };
}

/**
 * Asks for a run to be cancelled, from any process: **what is done is undone.** Resolves when the request is durable. A
 * driver that is at work takes note of it at once, or within a second; else the run is cancelled when it is resumed.
 * A run that has ended, or undoes already, is left as it is.
 *
 * @throws ToolweaveError `UNKNOWN_RUN`, `STORE_UNAVAILABLE`
 */
export async function cancelRun(
  store: RunStore,
  runId: string,
  { clock = systemClock }: Pick<AnswerOptions, "clock"> = {},
): Promise<void> {
  await appendToRun(store, runId, { clock }, cancelRequested);
}

/** The record of a cancel; `undefined` where it would change nothing. */
export function cancelRequested(state: RunState): CancelRequested | undefined {
  return state.ended !== undefined || state.cancelRequested ? undefined : { kind: "cancel_requested" };
}
