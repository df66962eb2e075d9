import type { JsonObject, JsonValue } from "./json.js";
import { maskAt, maskedBy } from "./mask.js";
import type { Answer, ApprovalAnswer, ApprovalQuestion, Question } from "./question.js";

/** The fields that run: those that were shown, with the answer's changes. */
export function editedFields(question: ApprovalQuestion, answer: ApprovalAnswer): JsonObject {
  return { ...question.fields, ...answer.fields };
}

/** A question as people see it. */
export function questionView<Q extends Question>(question: Q): Q;
export function questionView(question: Question): Question {
  if (question.kind !== "input") {
    return question.masked === undefined ? question : { ...question, fields: maskAt(question.fields, question.masked) };
  }
  return question.default === undefined ? question : { ...question, default: inputView(question, question.default) };
}

/** A value of an input question as people see it. */
export function inputView({ schema }: Extract<Question, { kind: "input" }>, value: JsonValue): JsonValue {
  return maskAt(value, maskedBy(schema, value).masked);
}

/** An answer as people see it. */
export function answerView(question: Question, answer: Answer): Answer {
  if ("value" in answer)
    return question.kind === "input" ? { ...answer, value: inputView(question, answer.value) } : answer;
  if (question.kind !== "approval" || !("fields" in answer) || answer.fields === undefined) return answer;
  const { fields } = answer;
  const shown = Object.entries(fieldsView(question, answer)).filter(([key]) => Object.hasOwn(fields, key));
  return { ...answer, fields: Object.fromEntries(shown) };
}

/** The fields that run after an answer, as people see them. */
export function fieldsView(question: ApprovalQuestion, answer: ApprovalAnswer): JsonObject {
  const fields = editedFields(question, answer);
  return maskAt(fields, maskedBy(question.schema, fields).masked);
}
