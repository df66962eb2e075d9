import type { ErrorData, FailureOutcome } from "./errors.js";
import { isoTime } from "./event.js";
import type { JsonObject, JsonValue } from "./json.js";
import { maskAt } from "./mask.js";
import type { Purpose } from "./node.js";
import type { ApprovalAnswer, ApprovalQuestion, DoubtAnswer, DoubtQuestion } from "./question.js";
import { fieldsView, questionView } from "./question-view.js";
import type {
  Completed,
  Decision,
  Failed,
  JournalRecord,
  QuestionAnswered,
  QuestionAsked,
  WriteIntended,
} from "./record.js";

/** One fact about one write, as a journal tells it; what its tool's schema keeps from people is masked. */
export type AuditEntry = AuditPlace & AuditFact;

export interface AuditPlace {
  runId: string;
  /** The name of the run's workflow. */
  workflow: string;
  /** Of the record that tells it. */
  seq: number;
  /** ISO 8601, by the clock of the driver, or of whoever answered. */
  at: string;
  stepId: string;
  /** The write's, such as `pay`, `pay~fallback` or `pay~undo`: all entries of one write bear the same. */
  path: string;
  purpose: Purpose;
  tool: string;
}

export type AuditFact =
  /** A person was asked: whether to make the write, or whether it was made. */
  | { kind: "asked"; question: ApprovalQuestion | DoubtQuestion }
  /** Somebody answered. */
  | {
      kind: "answered";
      questionId: string;
      decision: ApprovalAnswer["decision"] | DoubtAnswer["decision"];
      by?: string;
      note?: string;
      /** Where the answer changed fields: as they were shown, and as they were approved. */
      edits?: { from: JsonObject; to: JsonObject };
      /** What the tool would have returned, of a write that a person knows to be done. */
      result?: JsonValue;
    }
  /**
   * Nobody's answer counts any more. A question that was withdrawn is told of when its run ends: the record that withdrew
   * it says so only by what it leads to.
   */
  | { kind: "closed"; questionId: string; how: "expired" | "superseded" | "withdrawn" }
  /** An attempt is about to be made. */
  | {
      kind: "intended";
      attempt: number;
      idempotencyKey: string;
      fingerprint: string;
      fields: JsonObject;
      decision: Decision;
    }
  /** The attempt was not made: its driver left before the call. */
  | { kind: "withheld"; attempt: number }
  /** A person or the policy said no. */
  | { kind: "rejected"; fields: JsonObject; decision: Decision }
  | {
      kind: "outcome";
      attempt: number;
      outcome: "done" | FailureOutcome;
      /** Of `done`: its result can't be kept, or came too late. */
      error?: ErrorData;
      /** When another attempt follows: after so many milliseconds. */
      retryInMs?: number;
      /** Why it can't be undone if it has to be: the inputs of its compensation did not resolve. */
      undoError?: ErrorData;
    };

/** Reads the records of one run in order, and tells of each what it says of a write. Needs no code of the workflow. */
export class Auditor {
  private seq = 0;
  private readonly asked = new Map<string, ApprovalQuestion | DoubtQuestion>();
  /** The last intent of every write that has not come to its end, by path. */
  private readonly intents = new Map<string, WriteIntended>();
  private readonly inFlight = new Set<WriteIntended>();

  constructor(
    private readonly runId: string,
    private readonly workflow: string,
  ) {}

  read(record: JournalRecord): AuditEntry[] {
    const seq = this.seq++;
    const at = isoTime(record.at);
    const { runId, workflow } = this;
    return this.factsOf(record).map(({ path, tool, fact }) => {
      return { runId, workflow, seq, at, stepId: stepIdOf(path), path, purpose: purposeOf(path), tool, ...fact };
    });
  }

  private factsOf(record: JournalRecord): Told[] {
    switch (record.kind) {
      case "question_asked":
        return this.questionAsked(record);
      case "question_answered":
        return this.questionAnswered(record);
      case "question_expired":
        return this.closed(record.id, "expired");
      case "write_intended":
        return this.intended(record);
      case "withheld":
        return this.settled(record.path, ({ attempt }) => ({ kind: "withheld", attempt }));
      case "completed":
      case "failed":
        return this.ended(record);
      case "retried": {
        const { error, outcome, delayMs: retryInMs } = record;
        return this.settled(record.path, ({ attempt }) => ({ kind: "outcome", attempt, outcome, error, retryInMs }));
      }
      case "doubted": {
        const { error } = record;
        return this.settled(record.path, ({ attempt }) => ({ kind: "outcome", attempt, outcome: "in_doubt", error }));
      }
      case "run_taken":
        return [...this.inFlight].flatMap(({ path }) =>
          this.settled(path, ({ attempt }) => ({ kind: "outcome", attempt, outcome: "in_doubt", error: driverGone })),
        );
      case "run_ended":
        return [...this.asked.keys()].flatMap((id) => this.closed(id, "withdrawn"));
      default:
        return [];
    }
  }

  private questionAsked({ path, question: body, expiresAfterMs, ...record }: JournalRecord & QuestionAsked): Told[] {
    if (body.kind === "input") return [];
    const question: ApprovalQuestion | DoubtQuestion = { ...body, runId: this.runId, askedAt: isoTime(record.at) };
    if (expiresAfterMs !== undefined) question.expiresAt = isoTime(record.at + expiresAfterMs);
    const superseded = question.kind === "approval" ? this.closed(question.supersedes, "superseded") : [];
    this.asked.set(question.id, question);
    return [...superseded, { path, tool: question.tool, fact: { kind: "asked", question: questionView(question) } }];
  }

  private questionAnswered({ id, answer }: QuestionAnswered): Told[] {
    const question = this.asked.get(id);
    if (question === undefined || !("decision" in answer)) return [];
    this.asked.delete(id);
    const { decision, by, note } = answer;
    const fact: AuditFact = { kind: "answered", questionId: id, decision };
    if (by !== undefined) fact.by = by;
    if (note !== undefined) fact.note = note;
    if ("result" in answer && answer.result !== undefined) fact.result = answer.result;
    if (question.kind === "approval" && "fields" in answer && answer.fields !== undefined) {
      fact.edits = { from: maskAt(question.fields, question.masked), to: fieldsView(question, answer) };
    }
    return [{ path: question.path, tool: question.tool, fact }];
  }

  private closed(id: string | undefined, how: "expired" | "superseded" | "withdrawn"): Told[] {
    const question = id === undefined ? undefined : this.asked.get(id);
    if (question === undefined) return [];
    this.asked.delete(question.id);
    return [{ path: question.path, tool: question.tool, fact: { kind: "closed", questionId: question.id, how } }];
  }

  private intended(intent: WriteIntended): Told[] {
    const { path, attempt, tool, inputs, masked, fingerprint, decision } = intent;
    this.intents.set(path, intent);
    this.inFlight.add(intent);
    const fields = maskAt(inputs, masked);
    const idempotencyKey = `${this.runId}:${path}`;
    return [{ path, tool, fact: { kind: "intended", attempt, idempotencyKey, fingerprint, fields, decision } }];
  }

  /** What came of the last attempt at a path, if that was a write. */
  private settled(path: string, factOf: (intent: WriteIntended) => AuditFact): Told[] {
    const intent = this.intents.get(path);
    if (intent === undefined) return [];
    this.inFlight.delete(intent);
    return [{ path, tool: intent.tool, fact: factOf(intent) }];
  }

  private ended(record: Completed | Failed): Told[] {
    const { path } = record;
    const told = this.settled(path, ({ attempt }) => ({ kind: "outcome", attempt, ...outcomeOf(record) }));
    this.intents.delete(path);
    if (record.kind === "completed" || record.rejected === undefined) return told;
    const { tool, inputs, masked, decision } = record.rejected;
    return [{ path, tool, fact: { kind: "rejected", fields: maskAt(inputs, masked), decision } }];
  }
}

interface Told {
  readonly path: string;
  readonly tool: string;
  readonly fact: AuditFact;
}

function outcomeOf(record: Completed | Failed): Omit<Extract<AuditFact, { kind: "outcome" }>, "kind" | "attempt"> {
  const undoError = record.undo !== undefined && "error" in record.undo ? { undoError: record.undo.error } : {};
  if (record.kind === "completed") return { outcome: "done", ...undoError };
  const { outcome, error } = record;
  return { outcome: outcome === "applied" ? "done" : outcome, error, ...undoError };
}

const driverGone: ErrorData = {
  code: "TOOL_IN_DOUBT",
  message: "The driver was gone before the tool answered, so nobody knows whether the write was made.",
};

function stepIdOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9_-].*$/, "");
}

/** Ids hold no `~`, so what stands behind one says what the call is for. */
function purposeOf(path: string): Purpose {
  if (path.endsWith("~undo")) return "undo";
  return path.endsWith("~fallback") ? "fallback" : "step";
}
