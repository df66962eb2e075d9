import { emitQuestion, isoTime } from "./event.js";
import type { Call, Reply, Timer } from "./node.js";
import type { Answer, ApprovalAnswer, DoubtAnswer, Question } from "./question.js";
import { answerView } from "./question-view.js";
import { queue } from "./queue.js";
import type { QuestionAnswered, QuestionAsked, QuestionExpired } from "./record.js";
import type { ClosedQuestion, RunState } from "./state.js";
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

/** An answer that is none to its question changes nothing. */
export function replied(state: RunState, record: QuestionAnswered | QuestionExpired): void {
  const open = state.questions.get(record.id);
  if (open === undefined) return;
  const { call, question } = open;
  const at = isoTime(state.updatedAt);
  const reply: Reply | undefined =
    record.kind === "question_expired" ? { kind: "expired", question, at } : replyOf(question, record.answer, at);
  if (reply === undefined) return;
  closeQuestion(state, call, closedBy(reply));
  call.reply = reply;
  if (reply.kind === "approval" && reply.answer.decision === "approve") call.approval = reply;
  call.phase = "answered";
  queue(state, call);
}

/** What is kept of a question: whoever answers late is told of the first answer. */
function closedBy(reply: Reply): ClosedQuestion {
  if (reply.kind === "expired") return { state: "expired" };
  const { question, answer } = reply;
  return { state: "answered", answer, shown: answerView(question, answer) };
}

function replyOf(question: Question, answer: Answer, at: string): Reply | undefined {
  if ("value" in answer) return question.kind === "input" ? { kind: "input", question, answer, at } : undefined;
  if (isApproval(answer)) return question.kind === "approval" ? { kind: "approval", question, answer, at } : undefined;
  return question.kind === "in_doubt" ? { kind: "in_doubt", question, answer, at } : undefined;
}

function isApproval(answer: ApprovalAnswer | DoubtAnswer): answer is ApprovalAnswer {
  return answer.decision === "approve" || answer.decision === "reject";
}
