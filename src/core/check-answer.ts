import { z } from "zod";
import { ToolweaveError } from "./errors.js";
import { canonicalJson, type JsonLimits, type JsonValue, normalizeJson } from "./json.js";
import { holdsMask, mask } from "./mask.js";
import { once } from "./once.js";
import type { Answer, ApprovalAnswer, Question } from "./question.js";
import { editedFields } from "./question-view.js";
import { compileSchema, type Issue, type JsonSchema } from "./schema.js";
import type { RunState } from "./state.js";

const answerSchemas = once(() => {
  const by = { by: z.string().optional(), note: z.string().optional() };
  const fields = z.record(z.string(), z.unknown());
  return {
    approval: z.discriminatedUnion("decision", [
      z.strictObject({ decision: z.literal("approve"), fields: fields.optional(), ...by }),
      z.strictObject({ decision: z.literal("reject"), ...by }),
    ]),
    // JSON is never undefined, so this asks for the key.
    input: z.strictObject({ value: z.unknown().refine((value) => value !== undefined), ...by }),
    in_doubt: z.discriminatedUnion("decision", [
      z.strictObject({ decision: z.literal("done"), result: z.unknown().optional(), ...by }),
      z.strictObject({ decision: z.enum(["not_applied", "retry", "fail"]), ...by }),
    ]),
  };
});

const expected = {
  approval: '{ "decision": "approve", "fields"?: { … } } or { "decision": "reject" }',
  input: '{ "value": … }',
  in_doubt: '{ "decision": "done", "result"?: … }, or "not_applied", "retry" or "fail"',
} as const;

/**
 * Checks an answer that somebody gives.
 *
 * @returns the answer to record, or `undefined` when the very same answer stands already.
 * @throws ToolweaveError `INVALID_ANSWER`, `ALREADY_ANSWERED` (`details.answer` is the first), `QUESTION_CLOSED`,
 *   `QUESTION_EXPIRED`, `UNKNOWN_QUESTION` or `RUN_ENDED`; nothing is changed then.
 */
export function checkAnswer(
  state: RunState,
  id: string,
  given: unknown,
  { now, limits }: { now: number; limits: JsonLimits },
): Answer | undefined {
  const open = state.questions.get(id);
  if (open === undefined) return checkLate(state, id, given, limits);
  const { question } = open;
  if (question.expiresAt !== undefined && Date.parse(question.expiresAt) <= now) throw expiredQuestion(id);
  const answer = parseAnswer(question, given, limits);
  if (holdsMask(asJson(answer))) {
    throw invalid(
      question,
      `it gives ${mask} back, which stands for what was not shown. Leave it out, or give the value`,
    );
  }
  const issues = issuesOf(question, answer);
  if (issues.length > 0) {
    const list = issues.map(({ pointer, message }) => `${pointer || "/"}: ${message}`).join("; ");
    throw invalid(question, `what it gives does not fit the question's schema: ${list.replace(/[.]$/, "")}`, issues);
  }
  return answer;
}

/** An answer to what is no longer open: the same again is no error. */
function checkLate(state: RunState, id: string, given: unknown, limits: JsonLimits): undefined {
  const closed = state.closed.get(id);
  if (closed === undefined) {
    const { ended, runId } = state;
    if (ended === undefined) {
      throw new ToolweaveError(
        "UNKNOWN_QUESTION",
        `Run ${runId} has no such question. listQuestions tells what is open.`,
      );
    }
    throw new ToolweaveError("RUN_ENDED", `Run ${runId} has ended: it is ${ended.status}. resumeRun gives its result.`);
  }
  if (closed.state === "expired") throw expiredQuestion(id);
  if (closed.state === "answered") {
    const { answer, shown: first } = closed;
    if (canonicalJson(asJson(answer)) === canonicalJson(asNormalJson(given, limits))) return undefined;
    const what = "decision" in first ? `"${first.decision}"` : "a value";
    const who = first.by === undefined ? "" : ` by ${JSON.stringify(first.by)}`;
    throw new ToolweaveError(
      "ALREADY_ANSWERED",
      `Question ${id} was answered before, with ${what}${who}. That answer stands.`,
      {
        details: { answer: asJson(first) },
      },
    );
  }
  throw new ToolweaveError("QUESTION_CLOSED", `Question ${id} was ${closed.state}, and takes no answer any more.`);
}

function parseAnswer(question: Question, given: unknown, limits: JsonLimits): Answer {
  const answer = normalAnswer(question, given, limits);
  if (isAnswer(question, answer)) return answer;
  throw invalid(question, `expected ${expected[question.kind]}, with "by" and "note" where known`);
}

function isAnswer({ kind }: Question, given: unknown): given is Answer {
  // What zod gives is not the answer: it would lose an own key named "__proto__".
  return answerSchemas()[kind].safeParse(given).success;
}

function normalAnswer(question: Question, given: unknown, limits: JsonLimits): JsonValue {
  try {
    return normalizeJson(given, limits);
  } catch (error) {
    throw invalid(question, "it has to be JSON, within the limits", undefined, error);
  }
}

function issuesOf(question: Question, answer: Answer): readonly Issue[] {
  if (question.kind === "input") {
    return "value" in answer && question.schema !== undefined ? issuesAgainst(question.schema, answer.value) : [];
  }
  if (question.kind !== "approval" || !isApproval(answer) || answer.fields === undefined) return [];
  if (question.schema === undefined) {
    throw invalid(question, "this tool's schema can't check edits: approve the fields as they are, or reject");
  }
  return issuesAgainst(question.schema, editedFields(question, answer));
}

function isApproval(answer: Answer): answer is ApprovalAnswer {
  return "decision" in answer && answer.decision === "approve";
}

function issuesAgainst(schema: JsonSchema, value: JsonValue): readonly Issue[] {
  return compileSchema(schema).validateJson(value);
}

function invalid(question: Question, why: string, issues: readonly Issue[] = [], cause?: unknown): ToolweaveError {
  return new ToolweaveError("INVALID_ANSWER", `The answer to question ${question.id} does not fit: ${why}.`, {
    path: question.path,
    details: { issues: issues.map(({ pointer, message }) => ({ pointer, message })) },
    cause,
  });
}

function expiredQuestion(id: string): ToolweaveError {
  return new ToolweaveError("QUESTION_EXPIRED", `Question ${id} expired before it was answered.`);
}

function asJson(answer: Answer): JsonValue {
  return JSON.parse(JSON.stringify(answer));
}

function asNormalJson(given: unknown, limits: JsonLimits): JsonValue {
  try {
    return normalizeJson(given, limits);
  } catch {
    return null;
  }
}
