import { describe, expect, it } from "vitest";
import { type AuditEntry, Auditor } from "../../src/core/audit.js";
import type { ErrorData } from "../../src/core/errors.js";
import { mask } from "../../src/core/mask.js";
import type { Fact, JournalRecord, QuestionAsked, WriteIntended } from "../../src/core/record.js";

const at = Date.UTC(2031, 4, 1);
const error: ErrorData = { code: "TOOL_FAILED", message: "closed for today" };
const decision = { by: "policy", at: "2031-05-01T00:00:00.000Z" };
const schema = { properties: { pin: { format: "password" } } };
const shown = { tool: "open", action: "Open", undo: null, fingerprint: "f1", purpose: "step" } as const;

function intent(path: string, attempt = 1): WriteIntended {
  const inputs = { door: "north", pin: "9182" };
  const base = { tool: "open", idempotent: false, action: "Open", fingerprint: "f1", decision };
  return { kind: "write_intended", path, attempt, inputs, masked: ["/pin"], ...base };
}

function asked(path: string, id = `${path}?1`, more: { supersedes?: string } = {}): QuestionAsked {
  const fields = { door: "north", pin: "9182" };
  const question = {
    kind: "approval",
    id,
    stepId: "open",
    path,
    ...shown,
    fields,
    masked: ["/pin"],
    schema,
    ...more,
  } as const;
  return { kind: "question_asked", path, question };
}

/** What the facts of a run are told as. */
function told(...facts: Fact[]): AuditEntry[] {
  const auditor = new Auditor("run-9", "doors");
  return facts.flatMap((fact, index) => auditor.read({ ...fact, at: at + index * 1_000 } as JournalRecord));
}

/** Without what every entry bears. */
function factsOf(entries: readonly AuditEntry[]): unknown[] {
  return entries.map(({ runId, workflow, seq, at: time, stepId, path, purpose, tool, ...fact }) => fact);
}

describe("an entry", () => {
  it.each([
    ["open", "open", "step"],
    ["open~fallback", "open", "fallback"],
    ["open~undo", "open", "undo"],
    ["open~fallback~undo", "open", "undo"],
    ["each#2[3]/side-door~undo", "side-door", "undo"],
    ["calls[0]", "calls", "step"],
  ])("of %s says where it belongs", (path, stepId, purpose) => {
    expect(told({ kind: "skipped", path: "first" }, intent(path))).toMatchObject([
      {
        runId: "run-9",
        workflow: "doors",
        seq: 1,
        at: "2031-05-01T00:00:01.000Z",
        stepId,
        path,
        purpose,
        tool: "open",
      },
    ]);
  });
});

describe("a write that was asked about", () => {
  it("is told with what was shown, and what was approved", () => {
    const answer = { decision: "approve", fields: { pin: "4711" }, by: "kim", note: "once" } as const;
    const facts = factsOf(told(asked("open"), { kind: "question_answered", id: "open?1", answer }));
    expect(facts).toStrictEqual([
      {
        kind: "asked",
        question: expect.objectContaining({ id: "open?1", runId: "run-9", fields: { door: "north", pin: mask } }),
      },
      {
        kind: "answered",
        questionId: "open?1",
        decision: "approve",
        by: "kim",
        note: "once",
        edits: { from: { door: "north", pin: mask }, to: { door: "north", pin: mask } },
      },
    ]);
  });

  it("is told with when the question expires", () => {
    expect(told({ ...asked("open"), expiresAfterMs: 60_000 })).toMatchObject([
      { question: { expiresAt: "2031-05-01T00:01:00.000Z" } },
    ]);
  });

  it("is told as superseded before the question that stands for it", () => {
    expect(factsOf(told(asked("open"), asked("open", "open?2", { supersedes: "open?1" }))).slice(1)).toMatchObject([
      { kind: "closed", questionId: "open?1", how: "superseded" },
      { kind: "asked", question: { id: "open?2" } },
    ]);
  });

  it("is told as expired, and as withdrawn when the run ends", () => {
    const facts = told(
      asked("open"),
      asked("shut"),
      { kind: "question_expired", id: "open?1" },
      { kind: "run_ended", status: "cancelled" },
    );
    expect(factsOf(facts).slice(2)).toStrictEqual([
      { kind: "closed", questionId: "open?1", how: "expired" },
      { kind: "closed", questionId: "shut?1", how: "withdrawn" },
    ]);
  });

  it("is answered once: a later answer, or one to another kind of question, tells nothing", () => {
    const reject = { kind: "question_answered", id: "open?1", answer: { decision: "reject" } } as const;
    const question = { kind: "input", id: "who?1", stepId: "who", path: "who", prompt: "Who?" } as const;
    const facts = told(
      { kind: "question_asked", path: "who", question },
      { kind: "question_answered", id: "who?1", answer: { value: "x" } },
      asked("open"),
      { kind: "question_answered", id: "open?1", answer: { value: "x" } },
      reject,
      reject,
    );
    expect(factsOf(facts).map((fact) => (fact as { kind: string }).kind)).toStrictEqual(["asked", "answered"]);
  });

  it("is told with what a person knows of a write in doubt", () => {
    const question = {
      kind: "in_doubt",
      id: "open?1",
      stepId: "open",
      path: "open",
      ...shown,
      fields: {},
      attempt: 1,
      error,
    } as const;
    const answer = { decision: "done", result: { id: 3 } } as const;
    const facts = told(
      { kind: "question_asked", path: "open", question },
      { kind: "question_answered", id: "open?1", answer },
    );
    expect(factsOf(facts)[1]).toStrictEqual({
      kind: "answered",
      questionId: "open?1",
      decision: "done",
      result: { id: 3 },
    });
  });
});

describe("a write that is made", () => {
  const intended = {
    kind: "intended",
    attempt: 1,
    idempotencyKey: "run-9:open",
    fingerprint: "f1",
    fields: { door: "north", pin: mask },
    decision,
  };

  it.each<[string, Fact, unknown]>([
    ["done", { kind: "completed", path: "open" }, { outcome: "done" }],
    [
      "done, and can't be undone",
      { kind: "completed", path: "open", undo: { error } },
      { outcome: "done", undoError: error },
    ],
    ["done, with its undo at hand", { kind: "completed", path: "open", undo: { inputs: {} } }, { outcome: "done" }],
    ["done too late", { kind: "failed", path: "open", error, outcome: "applied" }, { outcome: "done", error }],
    ["not applied", { kind: "failed", path: "open", error, outcome: "not_applied" }, { outcome: "not_applied", error }],
    ["refused", { kind: "failed", path: "open", error, outcome: "refused" }, { outcome: "refused", error }],
    ["in doubt", { kind: "doubted", path: "open", error }, { outcome: "in_doubt", error }],
    [
      "to be tried again",
      { kind: "retried", path: "open", attempt: 2, delayMs: 1_000, error, outcome: "not_applied" },
      { outcome: "not_applied", error, retryInMs: 1_000 },
    ],
    [
      "left in doubt by its driver",
      { kind: "run_taken", driver: "d2" },
      { outcome: "in_doubt", error: expect.objectContaining({ code: "TOOL_IN_DOUBT" }) },
    ],
  ])("%s", (_name, fact, outcome) => {
    expect(factsOf(told(intent("open"), fact))).toStrictEqual([
      intended,
      { kind: "outcome", attempt: 1, ...(outcome as object) },
    ]);
  });

  it("is withheld where its driver left before the call, and is then in nobody's doubt", () => {
    const facts = told(intent("open"), { kind: "withheld", path: "open" }, { kind: "run_taken", driver: "d2" });
    expect(factsOf(facts).slice(1)).toStrictEqual([{ kind: "withheld", attempt: 1 }]);
  });

  it("is told attempt by attempt, and once it has ended no more", () => {
    const facts = told(
      intent("open"),
      { kind: "doubted", path: "open", error },
      { kind: "run_taken", driver: "d2" },
      intent("open", 2),
      { kind: "completed", path: "open" },
      { kind: "failed", path: "open", error, outcome: "not_applied" },
    );
    expect(factsOf(facts)).toMatchObject([
      { kind: "intended", attempt: 1 },
      { outcome: "in_doubt", attempt: 1 },
      { kind: "intended", attempt: 2 },
      { outcome: "done", attempt: 2 },
    ]);
  });
});

describe("a write that is rejected", () => {
  it("is told with what it would have sent, and who said no", () => {
    const rejected = { tool: "open", inputs: { pin: "9182" }, masked: ["/pin"], decision };
    const facts = told({ kind: "failed", path: "open", error, outcome: "refused", rejected });
    expect(facts).toMatchObject([{ path: "open", tool: "open", kind: "rejected", fields: { pin: mask }, decision }]);
  });
});

describe("what is no write", () => {
  it.each<[string, Fact]>([
    ["a read", { kind: "completed", path: "look", result: 1 }],
    [
      "a read that is retried",
      { kind: "retried", path: "look", attempt: 2, delayMs: 1, error, outcome: "not_applied" },
    ],
    ["a container that failed", { kind: "failed", path: "both", error, outcome: "not_applied" }],
    ["an answer to an unknown question", { kind: "question_answered", id: "x?1", answer: { decision: "reject" } }],
    ["a cancel", { kind: "cancel_requested" }],
  ])("%s is not told of", (_name, fact) => {
    expect(told(fact)).toStrictEqual([]);
  });
});
