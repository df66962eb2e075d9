import { ToolweaveError } from "../../core/errors.js";
import type { JsonObject } from "../../core/json.js";
import type { Answer, Question } from "../../core/question.js";
import type { JournalRecord } from "../../core/record.js";
import { cancelRun } from "../../driver/answer.js";
import { resumeRun, runWorkflow } from "../../driver/run.js";
import type { Policy } from "../../ports/policy.js";
import type { RunStore } from "../../ports/run-store.js";
import type { ToolCallContext } from "../../ports/tool-adapter.js";
import { memoryStore } from "../../stores/memory.js";
import type { FakeTool } from "../fake-tool.js";
import { arrive } from "./calls.js";
import { StageClock } from "./clock.js";
import type { Course } from "./course.js";
import { Person } from "./person.js";
import { type End, never, newProcess, type Pending, type Process } from "./process.js";
import type { Setup } from "./setup.js";
import { Witness } from "./witness.js";

export const runId = "run";

/**
 * Where one schedule is played: the real driver, in one process after another, on a store, a clock and tools that do
 * what the course says. Nothing here takes time, so all that can go on without the course has gone on once the event
 * loop has turned.
 */
export class Stage {
  readonly witness = new Witness();
  readonly clock = new StageClock();
  readonly person: Person;
  readonly processes: Process[] = [];
  /** What waits for the course, in the order in which it began. */
  readonly pending = new Set<Pending>();
  readonly broken = new Set<string>();
  /** Answers that are given again, by question. */
  readonly lastingAnswers = new Map<string, string>();
  /** Whether more than one thing of one process was on its way at once. */
  hasRaced = false;
  readonly store: RunStore;

  constructor(
    readonly setup: Setup,
    readonly course: Course,
  ) {
    this.person = new Person(setup.answers, this.witness);
    // Without leases: whoever resumes takes over.
    const { lease, ...store } = memoryStore();
    this.store = {
      ...store,
      append: async (id, expectedSeq, records, head) => {
        await store.append(id, expectedSeq, records, head);
        this.witness.stored(records);
      },
    };
  }

  /** The process that drives the run now, or did last. */
  get driver(): Process | undefined {
    return this.processes.at(-1);
  }

  /** Another process begins the run, or carries it on. */
  open(): void {
    const { workflow, workflows, input } = this.setup;
    const process = newProcess(this.processes.length);
    this.processes.push(process);
    const store = this.storeOf(process);
    const options = {
      tools: this.setup.cast.toolsOf(process.index, (...call) => this.call(process, ...call)),
      workflows,
      clock: this.clock.of(process),
      onQuestion: (question: Question) => this.ask(process, question),
      ...(this.setup.policy === undefined ? {} : { policy: this.decide(this.setup.policy) }),
    };
    const isKnown = this.witness.journal.length > 0;
    process.stream = isKnown
      ? resumeRun(store, runId, { ...options, takeOver: true })
      : runWorkflow(workflow, { ...options, input, runId, store });
    void this.attend(process).then((end) => {
      process.end = end;
    });
  }

  /** The process is no more. What it had on its way reached the systems, or did not. */
  kill(process: Process): void {
    process.isDead = true;
    for (const pending of this.pending) {
      if (pending.process !== process) continue;
      this.pending.delete(pending);
      if (pending.kind !== "call" || pending.tool.effect === "read") continue;
      const take = this.course.choose(`${pending.place}, as its process dies`, this.setup.menus.orphan);
      if (take === "arrives") arrive(this.witness, pending);
    }
  }

  /** What may happen anywhere. False where it is something else that is to happen. */
  disturb(process: Process, take: string): boolean {
    switch (take) {
      case "cancel":
        void cancelRun(this.store, runId, { clock: this.clock.of(process) });
        return true;
      case "taken over, unheard":
        process.isDeaf = true;
        this.open();
        return true;
      case "taken over":
        this.open();
        return true;
      case "leaves":
        process.hasLeft = true;
        // What can't be said of the run is said by the stream, too.
        process.stream?.return().catch(() => undefined);
        return true;
      case "time passes":
      case "passes":
        this.clock.moveToNext();
        return true;
      case "dies":
        this.kill(process);
        return true;
      default:
        return false;
    }
  }

  private async attend(process: Process): Promise<End> {
    const { stream } = process;
    let results = 0;
    try {
      for (;;) {
        const turn = await stream?.next();
        if (turn === undefined || turn.done) {
          if (turn?.value !== undefined && results !== 1) this.witness.find(`A stream gave ${results} result events.`);
          return { result: turn?.value };
        }
        this.witness.saw(turn.value);
        if (results > 0) this.witness.find(`An event (${turn.value.type}) came behind the result.`);
        if (turn.value.type === "result") results++;
      }
    } catch (error) {
      return { error };
    }
  }

  private call(process: Process, tool: FakeTool, inputs: JsonObject, context: ToolCallContext): Promise<unknown> {
    if (process.isDead) return never();
    this.witness.called(tool, inputs, context);
    const { path, attempt } = context;
    const place = attempt === 1 ? `call ${path}` : `call ${path}, attempt ${attempt}`;
    return new Promise((resolve, reject) => {
      this.pending.add({ kind: "call", process, place, tool, inputs, context, resolve, reject });
    });
  }

  private ask(process: Process, question: Question): Promise<Answer | undefined> {
    if (process.isDead) return never();
    this.witness.asked(question);
    return new Promise((resolve) => {
      this.pending.add({ kind: "question", process, place: `question ${question.id}`, question, resolve });
    });
  }

  private decide(policy: Policy): Policy {
    return async (write) => {
      const verdict = await policy(write);
      this.witness.decided(write, typeof verdict === "string" ? verdict : verdict.decision);
      return verdict;
    };
  }

  /** The store as one process sees it. */
  private storeOf(process: Process): RunStore {
    const { store } = this;
    return {
      ...store,
      append: (id, expectedSeq, records, head) => {
        if (process.isDead) return never();
        const append = () => store.append(id, expectedSeq, records, head);
        return this.append(process, records, append);
      },
      watch: (id, onChange) =>
        store.watch?.(id, () => {
          if (!process.isDead && !process.isDeaf) onChange();
        }) ?? (() => undefined),
    };
  }

  private async append(
    process: Process,
    records: readonly JournalRecord[],
    append: () => Promise<void>,
  ): Promise<void> {
    const take = this.course.choose(`record ${nameOf(records)}`, this.setup.menus.record);
    switch (take) {
      case "dies before":
        this.kill(process);
        return never();
      case "dies after":
        await append().catch(() => undefined);
        this.kill(process);
        return never();
      case "out of reach, not stored":
        process.isCutOff = true;
        throw outOfReach();
      case "out of reach, stored":
        process.isCutOff = true;
        await append().catch(() => undefined);
        throw outOfReach();
      case "cancelled before":
        // The append then meets the record of another.
        await cancelRun(this.store, runId, { clock: this.clock.of(process) }).catch(() => undefined);
        return append();
      default:
        await append();
        this.disturb(process, take);
        if (process.isDead) return never();
    }
  }
}

function outOfReach(): ToolweaveError {
  return new ToolweaveError("STORE_UNAVAILABLE", "The store can't be reached.");
}

function nameOf(records: readonly JournalRecord[]): string {
  const names = records.map(oneName);
  return names.length < 3 ? names.join(", ") : `${names[0]} … ${names.at(-1)}`;
}

function oneName(record: JournalRecord): string {
  if ("id" in record) return `${record.kind} ${record.id}`;
  return "path" in record ? `${record.kind} ${record.path}` : record.kind;
}
