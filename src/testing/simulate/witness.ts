import { canonicalJson, type JsonObject, type JsonValue } from "../../core/json.js";
import type { Answer, Question, QuestionBody } from "../../core/question.js";
import type { JournalRecord } from "../../core/record.js";
import type { RunEvent } from "../../driver/options.js";
import type { PolicyVerdict, PolicyWrite } from "../../ports/policy.js";
import type { ToolCallContext } from "../../ports/tool-adapter.js";
import type { FakeTool } from "../fake-tool.js";

/** A write that reached its system: what it did there. */
export interface SimulatedWrite {
  readonly tool: string;
  readonly path: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly inputs: JsonObject;
  readonly result: JsonValue;
}

interface Verdict {
  readonly isApproved: boolean;
  /** What may run; absent where people are not shown all of it. */
  readonly fields?: JsonObject;
}

/**
 * Sees all that happens in one schedule, from outside the engine, and finds what must never be:
 *
 * 1. An event that is seen before its record is durable.
 * 2. A write that is called without its own durable intent, without approval, after a rejection, or with other inputs
 *    than were shown and approved.
 * 3. A write that is called again when it is done.
 * 4. An effect that is made twice.
 */
export class Witness {
  readonly journal: JournalRecord[] = [];
  readonly writes: SimulatedWrite[] = [];
  /** Whether a system refused by itself. */
  hasRefusal = false;
  /** What was found first. */
  problem: string | undefined;
  /** What was thrown there, if anything. */
  cause: unknown;
  private readonly byKey = new Map<string, SimulatedWrite>();
  private readonly failed = new Set<string>();
  private readonly intents = new Map<string, JsonObject>();
  private readonly completed = new Set<string>();
  private readonly questions = new Map<string, QuestionBody>();
  private readonly answers = new Map<string, Answer>();
  private readonly verdicts = new Map<string, Verdict>();

  find(problem: string, cause?: unknown): void {
    if (this.problem !== undefined) return;
    this.problem = problem;
    this.cause = cause;
  }

  /** What a key did, if anything. */
  writeOf(idempotencyKey: string): SimulatedWrite | undefined {
    return this.byKey.get(idempotencyKey);
  }

  /** Whether this very attempt reached the system and did nothing there. */
  hasFailed(path: string, attempt: number): boolean {
    return this.failed.has(`${path}#${attempt}`);
  }

  /** Whether any call failed. */
  get hasFailure(): boolean {
    return this.failed.size > 0;
  }

  isAnswered(questionId: string): boolean {
    return this.answers.has(questionId);
  }

  stored(records: readonly JournalRecord[]): void {
    for (const record of records) {
      this.journal.push(record);
      if (record.kind === "write_intended") this.intents.set(`${record.path}#${record.attempt}`, record.inputs);
      else if (record.kind === "completed") this.completed.add(record.path);
      else if (record.kind === "question_asked") this.questions.set(record.question.id, record.question);
      else if (record.kind === "question_answered") this.answered(record.id, record.answer);
    }
  }

  saw(event: RunEvent): void {
    if (event.seq !== undefined && event.seq >= this.journal.length) {
      this.find(`An event (${event.type}) was seen before its record was stored.`);
    }
  }

  asked(question: Question): void {
    const stored = this.questions.get(question.id);
    if (stored === undefined) return this.find(`Question ${question.id} was asked before it was stored.`);
    if (question.kind === "input" || stored.kind === "input" || question.masked !== undefined) return;
    if (!isSame(question.fields, stored.fields))
      this.find(`Question ${question.id} shows other fields than are stored.`);
  }

  decided({ path, fields, masked }: PolicyWrite, verdict: PolicyVerdict["decision"]): void {
    if (verdict === "ask") return;
    this.verdicts.set(path, { isApproved: verdict === "approve", ...(masked === undefined && { fields }) });
  }

  /** A write is on its way. */
  called(tool: FakeTool, inputs: JsonObject, { path, attempt }: ToolCallContext): void {
    if (tool.effect === "read") return;
    const intent = this.intents.get(`${path}#${attempt}`);
    const verdict = this.verdicts.get(path);
    if (intent === undefined) return this.find(`${path}: ${tool.name} was called before its intent was stored.`);
    if (verdict === undefined) return this.find(`${path}: ${tool.name} was called, and nobody had approved it.`);
    if (!verdict.isApproved) return this.find(`${path}: ${tool.name} was called though it was rejected.`);
    if (!isSame(inputs, intent))
      return this.find(`${path}: ${tool.name} was called with other inputs than are stored.`);
    if (verdict.fields !== undefined && !isSame(inputs, verdict.fields)) {
      return this.find(`${path}: ${tool.name} was called with other inputs than were approved.`);
    }
    if (this.completed.has(path)) this.find(`${path}: ${tool.name} was called again after it had been done.`);
  }

  /** @param isChange whether the system differs from what it was before the call */
  made(tool: FakeTool, write: SimulatedWrite, isChange: boolean): void {
    const { idempotencyKey: key, path } = write;
    if (!this.byKey.has(key)) {
      this.byKey.set(key, write);
      this.writes.push(write);
    } else if (tool.idempotent !== true) {
      this.find(`${path}: ${tool.name} was made twice with one idempotency key.`);
    } else if (isChange) {
      this.find(
        `${path}: ${tool.name} was made twice with one idempotency key. It says that it is idempotent, and the second ` +
          "call changed the state of its system again.",
      );
    }
  }

  /** A call reached its system, which did nothing. */
  failedAt({ path, attempt }: ToolCallContext): void {
    this.failed.add(`${path}#${attempt}`);
  }

  /** The first answer stands. */
  private answered(id: string, answer: Answer): void {
    const question = this.questions.get(id);
    if (question === undefined || this.answers.has(id)) return;
    this.answers.set(id, answer);
    if (question.kind !== "approval" || !("decision" in answer)) return;
    const edits = "fields" in answer ? answer.fields : undefined;
    this.verdicts.set(question.path, {
      isApproved: answer.decision === "approve",
      fields: { ...question.fields, ...edits },
    });
  }
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b) || canonicalJson(a) === canonicalJson(b);
}
