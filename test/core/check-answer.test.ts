import { describe, expect, it, test } from "vitest";
import { checkAnswer } from "../../src/core/check-answer.js";
import type { StepDocument } from "../../src/core/document.js";
import { isToolweaveError } from "../../src/core/errors.js";
import { defaultJsonLimits } from "../../src/core/json.js";
import {
  answered,
  approvalAsked,
  completed,
  doubtAsked,
  expired,
  fold,
  inputAsked,
  intended,
  type Told,
  taken,
} from "./journal.js";

/** Answers, and what becomes of them: the answer to record, none where it stands already, or why it can't be taken. */

const steps: StepDocument[] = [{ id: "a", tool: "t" }];
const number = { type: "number" } as const;
const fields = {
  type: "object",
  properties: { x: { type: "number" }, none: false, pin: { type: "string", writeOnly: true } },
} as const;
const approval = approvalAsked("a", { schema: fields });

function check(journal: readonly Told[], given: unknown, { id = "a?1", now = 0 } = {}): unknown {
  try {
    return checkAnswer(fold(steps, journal), id, given, { now, limits: defaultJsonLimits });
  } catch (error) {
    if (!isToolweaveError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

describe("an answer that fits is recorded", () => {
  it.each<[asked: Told[], given: object]>([
    [[approval], { decision: "approve" }],
    [[approval], { decision: "approve", fields: { x: 2 }, by: "ada", note: "less" }],
    [[approval], { decision: "reject", by: "ada" }],
    [[inputAsked("a")], { value: { any: "thing" } }],
    [[inputAsked("a", { schema: number })], { value: 4 }],
    [[intended("a"), taken, doubtAsked("a")], { decision: "done", result: [1] }],
    [[intended("a"), taken, doubtAsked("a")], { decision: "retry" }],
    [[approvalAsked("a", {}, 10)], { decision: "approve" }],
  ])("%#: %j", (asked, given) => {
    expect(check(asked, given)).toStrictEqual(given);
  });
});

describe("an answer that does not fit is refused", () => {
  const says = (why: string) => `INVALID_ANSWER: The answer to question a?1 does not fit: ${why}.`;
  it.each<[asked: Told, given: unknown, message: string]>([
    [
      approval,
      { decision: "maybe" },
      says(
        'expected { "decision": "approve", "fields"?: { … } } or { "decision": "reject" }, with "by" and "note" where known',
      ),
    ],
    [
      approval,
      { decision: "reject", fields: {} },
      says(
        'expected { "decision": "approve", "fields"?: { … } } or { "decision": "reject" }, with "by" and "note" where known',
      ),
    ],
    [inputAsked("a"), {}, says('expected { "value": … }, with "by" and "note" where known')],
    [approval, { decision: "approve", fields: { x: 1n } }, says("it has to be JSON, within the limits")],
    [
      approval,
      { decision: "approve", fields: { pin: "[masked]" } },
      says("it gives [masked] back, which stands for what was not shown. Leave it out, or give the value"),
    ],
    [
      approval,
      { decision: "approve", fields: { none: 1 } },
      says("what it gives does not fit the question's schema: /none: Nothing may stand here"),
    ],
    [
      approval,
      { decision: "approve", fields: { none: 1, pin: 2 } },
      says(
        `what it gives does not fit the question's schema: /none: Nothing may stand here.; /pin: The value type "number" is invalid. Expected "string"`,
      ),
    ],
    [
      inputAsked("a", { schema: false }),
      { value: "4" },
      says("what it gives does not fit the question's schema: /: Nothing may stand here"),
    ],
    [
      approvalAsked("a"),
      { decision: "approve", fields: { x: 2 } },
      says("this tool's schema can't check edits: approve the fields as they are, or reject"),
    ],
  ])("%#", (asked, given, message) => {
    expect(check([asked], given)).toBe(message);
  });
});

describe("a question that is not open takes no answer", () => {
  const yes = { decision: "approve", by: "ada" } as const;
  const ended = { kind: "run_ended", status: "completed" } as const;
  it.each<
    [name: string, journal: Told[], given: unknown, result: string | undefined, more?: { id?: string; now?: number }]
  >([
    ["unknown", [], yes, "UNKNOWN_QUESTION: Run r has no such question. listQuestions tells what is open."],
    [
      "of a run that ended",
      [completed("a"), ended],
      yes,
      "RUN_ENDED: Run r has ended: it is completed. resumeRun gives its result.",
    ],
    [
      "expired, and not yet closed",
      [approvalAsked("a", {}, 10)],
      yes,
      "QUESTION_EXPIRED: Question a?1 expired before it was answered.",
      { now: 10 },
    ],
    [
      "expired",
      [approvalAsked("a", {}, 10), expired("a")],
      yes,
      "QUESTION_EXPIRED: Question a?1 expired before it was answered.",
    ],
    ["withdrawn", [approval, ended], yes, "QUESTION_CLOSED: Question a?1 was withdrawn, and takes no answer any more."],
    [
      "superseded",
      [approval, answered("a", yes), approvalAsked("a", { id: "a?2", supersedes: "a?1" })],
      yes,
      "QUESTION_CLOSED: Question a?1 was superseded, and takes no answer any more.",
    ],
    ["answered in the same way", [approval, answered("a", yes)], { by: "ada", decision: "approve" }, undefined],
    [
      "answered otherwise",
      [approval, answered("a", yes)],
      { decision: "reject" },
      'ALREADY_ANSWERED: Question a?1 was answered before, with "approve" by "ada". That answer stands.',
    ],
    [
      "answered with a value",
      [inputAsked("a"), answered("a", { value: 1 })],
      { value: 2 },
      "ALREADY_ANSWERED: Question a?1 was answered before, with a value. That answer stands.",
    ],
    [
      "answered, by what is no JSON",
      [inputAsked("a"), answered("a", { value: 1 })],
      1n,
      "ALREADY_ANSWERED: Question a?1 was answered before, with a value. That answer stands.",
    ],
  ])("%s", (_name, journal, given, result, more) => {
    expect(check(journal, given, more)).toBe(result);
  });

  test("and names the first answer, as people see it", () => {
    const state = fold(steps, [approval, answered("a", { decision: "approve", fields: { pin: "1234", x: 2 } })]);
    const again = () => checkAnswer(state, "a?1", { decision: "reject" }, { now: 0, limits: defaultJsonLimits });
    const answer = { decision: "approve", fields: { pin: "[masked]", x: 2 } };
    expect(again).toThrowError(expect.objectContaining({ code: "ALREADY_ANSWERED", details: { answer } }));
  });
});
