import { checkAnswer } from "../core/check-answer.js";
import type { Answer } from "../core/question.js";
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
  await appendToRun(store, runId, { clock }, (state) => {
    const checked = checkAnswer(state, questionId, answer, {
      now: clock.now(),
      limits: { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth },
    });
    if (checked === undefined) return undefined;
    refuseSecretAnswer(questionId, checked, scrub);
    return { kind: "question_answered", id: questionId, answer: checked };
  });
}

export function refuseSecretAnswer(id: string, answer: Answer, scrub: Scrubber): void {
  refuseSecrets(scrub, JSON.parse(JSON.stringify(answer)), `The answer to question ${id}`);
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
  await appendToRun(store, runId, { clock }, (state) =>
    state.ended !== undefined || state.cancelRequested ? undefined : { kind: "cancel_requested" },
  );
}
