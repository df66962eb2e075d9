import { dueTimers } from "../core/clock.js";
import { next, wake } from "../core/next.js";
import type { JournalRecord, QuestionExpired } from "../core/record.js";
import type { Clock } from "../ports/clock.js";
import { type Flight, factOf, writeOf } from "./flight.js";
import type { OwnedRun } from "./owned-run.js";

/** Records what came of the world, of others and of time, and all that it leads to without the world. */
export class Intake {
  /** Whether others may have appended something. */
  hasNews = false;
  /** Whether something may have come due. At first, since nobody drove the run before. */
  isTimeUp = true;
  private expiries: QuestionExpired[] = [];
  private seenStops = 0;

  constructor(
    private readonly owned: OwnedRun,
    private readonly flight: Flight,
    private readonly clock: Clock,
    private readonly told: {
      /** Something became durable. */
      publish(): void;
      /** All that came is taken in. */
      rest(): void;
    },
  ) {}

  /** Whether something came. */
  get hasCome(): boolean {
    return this.flight.hasArrivals || this.hasNews || this.isTimeUp;
  }

  /** Whether something came, or follows from what came. */
  get isWaiting(): boolean {
    const { ready, cancelRequested, cancelBegun, stops } = this.owned.state;
    return (
      this.hasCome ||
      ready.size > 0 ||
      (cancelRequested && !cancelBegun) ||
      stops !== this.seenStops ||
      this.owned.hasEnded
    );
  }

  /** @throws ToolweaveError as an append does; what ended the writing, once something did */
  async takeIn(): Promise<void> {
    for (;;) {
      this.owned.check();
      if (this.hasNews) await this.readNews();
      const records = this.decide();
      if (records.length > 0) await this.owned.write(records);
      else if (this.expiries.length > 0) await this.expire();
      else return this.told.rest();
      this.told.publish();
    }
  }

  private readNews(): Promise<void> {
    this.hasNews = false;
    return this.owned.readNews();
  }

  /** Whether a question expired depends on what others said of it first. */
  private async expire(): Promise<void> {
    for (const fact of this.expiries.splice(0)) {
      await this.owned.appendFirst(() => (this.owned.state.questions.has(fact.id) ? fact : undefined));
    }
  }

  private decide(): JournalRecord[] {
    const { owned, flight } = this;
    const records: JournalRecord[] = [];
    for (const arrival of flight.takeArrivals()) {
      // The one before may have ended what this one is for.
      const fact = arrival.handle.isWanted() ? factOf(arrival) : undefined;
      if (fact === undefined) continue;
      const write = writeOf(arrival);
      if (write !== undefined) owned.unrecorded.push(write);
      records.push(owned.record(fact));
    }
    this.takeDecisions(records);
    if (this.isTimeUp) {
      // What settled before a deadline wins, so time passes only now.
      this.passTime(records);
      this.takeDecisions(records);
    }
    if (owned.state.stops !== this.seenStops) {
      this.seenStops = owned.state.stops;
      flight.abortStopped();
    }
    return records;
  }

  private takeDecisions(records: JournalRecord[]): void {
    const { owned, flight } = this;
    for (let decision = next(owned.state); decision !== undefined; decision = next(owned.state)) {
      if ("node" in decision) flight.plan(decision);
      else records.push(owned.record(decision));
    }
  }

  private passTime(records: JournalRecord[]): void {
    const { state } = this.owned;
    this.isTimeUp = false;
    for (const timer of dueTimers(state, this.clock.now())) {
      if (!state.timers.has(timer)) continue;
      const fact = wake(state, timer);
      if (fact?.kind === "question_expired") this.expiries.push(fact);
      else if (fact !== undefined) records.push(this.owned.record(fact));
    }
  }
}
