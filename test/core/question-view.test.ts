import { describe, expect, it } from "vitest";
import { mask } from "../../src/core/mask.js";
import type { ApprovalQuestion, DoubtQuestion, InputQuestion } from "../../src/core/question.js";
import { answerView, fieldsView, questionView } from "../../src/core/question-view.js";

const schema = { properties: { code: { format: "password" }, door: { type: "string" } } };
const place = { id: "open?1", stepId: "open", path: "open", runId: "r", askedAt: "2031-05-01T00:00:00.000Z" };
const write = { ...place, tool: "open", action: "Open", undo: null, fingerprint: "f", purpose: "step" } as const;
const fields = { code: "9182", door: "north" };
const approval: ApprovalQuestion = { ...write, kind: "approval", fields, masked: ["/code"], schema };
const plain: ApprovalQuestion = { ...write, kind: "approval", fields: { door: "north" }, schema };
const error = { code: "TOOL_IN_DOUBT", message: "cut" } as const;
const doubt: DoubtQuestion = { ...write, kind: "in_doubt", fields, masked: ["/code"], attempt: 1, error };
const ask: InputQuestion = {
  ...place,
  kind: "input",
  prompt: "Code?",
  schema: { format: "password" },
  default: "0000",
};

describe("questionView", () => {
  it.each([
    ["an approval", approval],
    ["a doubt", doubt],
  ])("masks the fields of %s", (_name, question) => {
    expect(questionView(question)).toStrictEqual({ ...question, fields: { code: mask, door: "north" } });
    expect(question.fields).toStrictEqual(fields);
  });

  it("gives the very question where nothing is kept from people", () => {
    expect(questionView(plain)).toBe(plain);
    const { default: _, ...open } = ask;
    expect(questionView(open)).toBe(open);
  });

  it("masks the default of an input", () => {
    expect(questionView(ask)).toStrictEqual({ ...ask, default: mask });
    expect(questionView({ ...ask, schema: { type: "string" } }).default).toBe("0000");
  });
});

describe("answerView", () => {
  it("masks what an edit changes", () => {
    const answer = { decision: "approve", fields: { code: "4711", door: "south" }, by: "kim" } as const;
    expect(answerView(approval, answer)).toStrictEqual({ ...answer, fields: { code: mask, door: "south" } });
  });

  it("shows what was changed alone", () => {
    const answer = { decision: "approve", fields: { door: "south" } } as const;
    expect(answerView(approval, answer)).toStrictEqual(answer);
  });

  it("masks a value that was given", () => {
    expect(answerView(ask, { value: "4711", note: "n" })).toStrictEqual({ value: mask, note: "n" });
  });

  it("leaves every other answer as it is", () => {
    const reject = { decision: "reject", by: "kim" } as const;
    const done = { decision: "done", result: { id: 1 } } as const;
    expect(answerView(approval, reject)).toBe(reject);
    expect(answerView(doubt, done)).toBe(done);
    const asShown = { decision: "approve" } as const;
    expect(answerView(approval, asShown)).toBe(asShown);
    const value = { value: 1 } as const;
    expect(answerView(approval, value)).toBe(value);
  });
});

describe("fieldsView", () => {
  it("masks what the edited fields hold, also where they held it not before", () => {
    expect(fieldsView(plain, { decision: "approve", fields: { code: "4711" } })).toStrictEqual({
      code: mask,
      door: "north",
    });
  });
});
