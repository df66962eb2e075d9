import { emitQuestion, isoTime } from "./event.js";
import type { Call, Timer } from "./node.js";
import type { Question } from "./question.js";
import { queue } from "./queue.js";
import type { QuestionAnswered, QuestionAsked, QuestionExpired } from "./record.js";
import type { RunState } from "./state.js";
import { closeQuestion } from "./tree.js";

/** Questions as they open and close. */

export function asked(state: RunState, call: Call, record: QuestionAsked): void {
  const { question: body, expiresAfterMs } = record;
  const question: Question = { ...body, runId: state.runId, askedAt: isoTime(state.updatedAt) };
  let timer: Timer | undefined;
  if (expiresAfterMs !== undefined) {
    const until = state.updatedAt + expiresAfterMs;
    question.expiresAt = isoTime(until);
    timer = { until, what: "question", node: call, questionId: body.id };
    state.timers.add(timer);
  }
  if (question.kind === "approval" && question.supersedes !== undefined) {
    state.closed.set(question.supersedes, { state: "superseded" });
  }
  call.phase = "asked";
  call.questionsAsked++;
  call.approval = undefined;
  call.question = { question, call, seq: state.seq, timer };
  state.questions.set(question.id, call.question);
  emitQuestion(state, question);
}

export function replied(state: RunState, record: QuestionAnswered | QuestionExpired): void {
  const open = state.questions.get(record.id);
  if (open === undefined) return;
  const { call, question } = open;
  const answer = record.kind === "question_answered" ? record.answer : undefined;
  closeQuestion(state, call, answer === undefined ? { state: "expired" } : { state: "answered", question, answer });
  const at = isoTime(state.updatedAt);
  call.reply = { question, answer, at };
  if (question.kind === "approval" && answer !== undefined && "decision" in answer && answer.decision === "approve") {
    call.approval = { question, answer, at };
  }
  call.phase = "answered";
  queue(state, call);
}
