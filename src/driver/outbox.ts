import { isToolweaveError } from "../core/errors.js";
import { deepFreeze } from "../core/freeze.js";
import type { Answer, Question } from "../core/question.js";
import { Queue } from "../core/queue.js";
import type { RunEventData } from "../core/run-event.js";
import type { RunEvent, Settings } from "./options.js";

interface Desk {
  isOpen(questionId: string): boolean;
  answer(questionId: string, answer: Answer): Promise<void>;
  /** Something came that the driver should look at. */
  rouse(): void;
  fail(error: unknown): void;
}

/** The events on their way to the consumer. The host is asked about a question first; what it leaves open goes out. */
export class Outbox {
  private readonly events = new Queue<RunEvent>();
  private readonly asked = new Set<string>();
  private isClosed = false;

  constructor(
    private readonly desk: Desk,
    private readonly settings: Pick<Settings, "onQuestion" | "observer">,
  ) {}

  get isEmpty(): boolean {
    return this.events.size === 0;
  }

  /** Whether the host is being asked what is still open: it may have been answered elsewhere, or withdrawn. */
  get isAsking(): boolean {
    for (const id of this.asked) if (this.desk.isOpen(id)) return true;
    return false;
  }

  take(): RunEvent | undefined {
    for (let event = this.events.shift(); event !== undefined; event = this.events.shift()) {
      // A question that was closed before anyone saw it is not worth asking.
      if (event.type !== "question" || this.desk.isOpen(event.id)) return event;
    }
    return undefined;
  }

  put(event: RunEventData): void {
    if (event.type !== "question") return this.send(event);
    const { onQuestion } = this.settings;
    const { id } = event;
    const toAnswer: RunEvent = { ...event, answer: (answer) => this.desk.answer(id, answer) };
    if (onQuestion === undefined) return this.send(toAnswer);
    this.asked.add(id);
    this.askHost(onQuestion, event).then(
      (isAnswered) => {
        this.asked.delete(id);
        if (!isAnswered) this.send(toAnswer);
        this.desk.rouse();
      },
      (error) => this.desk.fail(error),
    );
  }

  /** Nothing goes out any more: the last event has. */
  close(): void {
    this.isClosed = true;
  }

  /** Sends an event out, past the host. */
  send(event: RunEvent): void {
    if (this.isClosed) return;
    // What it holds is shared with records and with what follows from them; the event itself is nobody else's.
    if (event.type === "step") {
      deepFreeze(event.result);
      deepFreeze(event.error);
    } else deepFreeze(event);
    this.events.push(event);
    try {
      this.settings.observer?.emit(event.type, event);
    } catch {
      // A listener that throws harms no run.
    }
  }

  /** Whether the host answered, or the question needs no answer any more. */
  private async askHost(onQuestion: NonNullable<Settings["onQuestion"]>, question: Question): Promise<boolean> {
    let answer: Answer | undefined;
    try {
      answer = await onQuestion(question);
    } catch {
      return false;
    }
    if (!this.desk.isOpen(question.id)) return true;
    if (answer === undefined) return false;
    try {
      await this.desk.answer(question.id, answer);
      return true;
    } catch (error) {
      if (isToolweaveError(error) && error.code !== "STORE_UNAVAILABLE") return false;
      throw error;
    }
  }
}
