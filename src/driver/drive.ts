import { nextTimer } from "../core/clock.js";
import { ToolweaveError } from "../core/errors.js";
import { isoTime } from "../core/event.js";
import type { Call } from "../core/node.js";
import { questionView } from "../core/question-view.js";
import { type RunResult, resultOf } from "../core/result.js";
import type { RunState } from "../core/state.js";
import { Alarm } from "./alarm.js";
import { answered, answerQuestion, cancelRequested } from "./answer.js";
import { begin, stillHold } from "./begin.js";
import { Cleanups } from "./cleanups.js";
import { type Beginning, Flight, writeOf } from "./flight.js";
import { Intake } from "./intake.js";
import { hasCode } from "./journal.js";
import type { RunEvent, Settings } from "./options.js";
import { Outbox } from "./outbox.js";
import type { OwnedRun } from "./owned-run.js";
import { Pulse } from "./pulse.js";
import { type LateWrite, reportWrite, withUnrecorded } from "./report.js";
import { Section } from "./section.js";
import { watchRun } from "./watch-run.js";

/**
 * Drives an owned run: settle, decide, append, yield, start.
 *
 * 1. A call that settles is applied and appended at once, whatever the consumer does; what it leads to starts only when
 *    the consumer has taken the events before.
 * 2. A write is called straight from its own durable intent: nothing is awaited or yielded in between.
 * 3. An event is seen only when its record is durable.
 * 4. The run is touched by one at a time; nothing waits for the world meanwhile, but leaving.
 * 5. Whatever comes is looked at by whoever asks for the next event, and in the background when nobody does.
 */
export class Drive {
  private readonly state: RunState;
  private readonly section = new Section();
  private readonly pulse = new Pulse();
  private readonly flight: Flight;
  private readonly intake: Intake;
  private readonly outbox: Outbox;
  private readonly alarm: Alarm;
  /** Whether the consumer had something in hand since what may begin was last looked at. */
  private hasHeld = false;
  /** How many ask for the next event. */
  private demand = 0;
  private left: Promise<void> | undefined;
  /** Nothing is recorded here any more. */
  private hasLeft = false;
  private stopped: Promise<void> | undefined;
  private closed: Promise<void> | undefined;
  private failure: unknown;
  private result: RunResult | undefined;
  private readonly cleanups = new Cleanups();

  constructor(
    private readonly owned: OwnedRun,
    private readonly settings: Settings,
  ) {
    this.state = owned.state;
    this.state.events.length = 0;
    const { route } = owned;
    const tower = { rouse: () => this.rouse(), fail: (error: unknown) => this.fail(error) };
    const announce = (call: Call, attempt: number) => this.announce(call, attempt);
    this.flight = new Flight({ state: this.state, route, announce }, settings, tower);
    this.intake = new Intake(owned, this.flight, settings.clock, {
      publish: () => this.publish(),
      rest: () => this.setAlarm(),
    });
    this.outbox = new Outbox(
      {
        ...tower,
        isOpen: (id) => this.state.questions.has(id),
        answer: (id, answer) => this.answer(id, answer),
      },
      settings,
    );
    const ring = () => {
      this.intake.isTimeUp = true;
      this.rouse();
    };
    this.alarm = new Alarm(settings.clock, ring, tower.fail);
    owned.lease.keep();
    this.cleanups.listen(settings.signal, () => this.inBackground(() => this.requestCancel()));
    this.cleanups.listen(settings.stop, () => this.inBackground(() => (this.stopped ??= this.stop())));
    this.cleanups.add(watchRun(this.owned.journal.store, this.state.runId, () => this.noticeNews()));
    const now = settings.clock.now();
    for (const { question, seq, timer } of this.state.questions.values()) {
      if (timer !== undefined && timer.until <= now) continue;
      this.outbox.put({ type: "question", at: question.askedAt, seq, ...questionView(question) });
    }
  }

  /** The next event, where there is one already. */
  takeEvent(): RunEvent | undefined {
    const event = this.outbox.take();
    if (event === undefined) return undefined;
    this.hasHeld = true;
    // What came while the event was on its way out is not left until the next one is asked for.
    if (this.intake.hasCome) this.rouse();
    return event;
  }

  /** The next event, once there is one; `undefined` when the run ended or waits. */
  async nextEvent(): Promise<RunEvent | undefined> {
    this.demand++;
    try {
      for (;;) {
        const event = this.takeEvent();
        if (event !== undefined) return event;
        if (this.result !== undefined) return undefined;
        if (this.failure !== undefined) throw this.failure;
        if (this.left !== undefined) {
          await (this.stopped ?? this.left);
          return this.outbox.take();
        }
        const mayGo = this.section.enter();
        if (mayGo !== undefined) await mayGo;
        let isStarted = false;
        try {
          if (this.intake.isWaiting) await this.intake.takeIn();
          if (this.left === undefined && this.outbox.isEmpty) {
            const goingOn = this.goOn();
            if (goingOn === undefined) isStarted = true;
            else await goingOn;
          }
        } finally {
          this.section.leave();
        }
        if (isStarted && this.outbox.isEmpty) await this.pulse.taken();
      }
    } catch (error) {
      this.fail(error);
      await this.close();
      throw withUnrecorded(error, this.owned.unrecorded);
    } finally {
      this.demand--;
      if (this.intake.hasCome) this.rouse();
    }
  }

  get outcome(): RunResult | undefined {
    return this.result;
  }

  /** Stops driving at once: nothing more starts, what is in flight is aborted, awaited for a while, and recorded. */
  leave(): Promise<void> {
    if (this.result !== undefined || this.failure !== undefined) return this.close();
    if (this.left === undefined) {
      this.flight.ground();
      this.left = this.section.hold(() => this.settleFlight());
      this.rouse();
    }
    return this.left;
  }

  private async stop(): Promise<void> {
    await this.leave();
    if (this.failure === undefined) await this.section.hold(() => this.finish());
  }

  /** Answers an open question; resolves when the answer is durable. */
  async answer(id: string, given: unknown): Promise<void> {
    const isGiven = !this.isOver && (await this.section.hold(() => this.answerHere(id, given)));
    if (!isGiven) return answerQuestion(this.owned.journal.store, this.state.runId, id, given, this.settings);
    this.rouse();
  }

  /** @returns false where the run is no longer driven here: the answer then goes the way of everyone's. */
  private async answerHere(id: string, given: unknown): Promise<boolean> {
    if (this.isOver || this.owned.hasEnded) return false;
    const { limits, scrub } = this.owned.route;
    try {
      const now = () => this.settings.clock.now();
      await this.owned.appendFirst(() => answered(this.state, id, given, { now: now(), limits, scrub }));
    } catch (error) {
      if (!hasCode(error, "RUN_TAKEN_OVER")) throw error;
      return false;
    }
    this.publish();
    return true;
  }

  private get isOver(): boolean {
    return this.result !== undefined || this.left !== undefined || this.failure !== undefined;
  }

  /** Starts what is next, now that the consumer has seen all that came before. `undefined`: the world is awaited. */
  private goOn(): Promise<void> | undefined {
    if (this.state.ended !== undefined) return this.finish();
    const beginnings = this.flight.takeBeginnings();
    if (beginnings.length > 0) return this.begin(beginnings);
    this.hasHeld = false;
    this.flight.startPlanned();
    return this.outbox.isEmpty && this.isIdle() ? this.lookOnceMore() : undefined;
  }

  /** Before it is said that the run waits: what others say, and what is due. */
  private async lookOnceMore(): Promise<void> {
    this.intake.hasNews = true;
    this.intake.isTimeUp = true;
    await this.intake.takeIn();
    if (this.outbox.isEmpty && this.isIdle()) await this.finish();
  }

  /** Whether all that is left waits for people. */
  private isIdle(): boolean {
    if (!this.flight.isIdle || this.outbox.isAsking || this.state.ready.size > 0) return false;
    for (const { what } of this.state.timers) if (what !== "question") return false;
    return true;
  }

  private setAlarm(): void {
    this.alarm.set(this.left === undefined && this.state.ended === undefined ? nextTimer(this.state) : undefined);
  }

  private async begin(beginnings: readonly Beginning[]): Promise<void> {
    const mayHaveChanged = this.hasHeld;
    this.hasHeld = false;
    if (mayHaveChanged && !(await stillHold(this.state, this.flight, beginnings))) return this.intake.takeIn();
    await begin(this.owned, this.flight, beginnings);
    this.publish();
    await this.intake.takeIn();
    this.flight.startPlanned();
  }

  private announce(call: Call, attempt: number): void {
    call.announced = true;
    const { stepId, path, purpose } = call;
    const status = purpose === "undo" ? "undoing" : "started";
    const at = isoTime(this.settings.clock.now());
    this.outbox.send({ type: "step", runId: this.state.runId, at, status, stepId, path, attempt });
    this.rouse();
  }

  /** Waits for what is in flight, for the grace period at most, and records what came of it. */
  private async settleFlight(): Promise<void> {
    const { clock, limits } = this.settings;
    let isOver = false;
    const ring = () => {
      isOver = true;
      this.pulse.give();
    };
    const grace = new Alarm(clock, ring, ring);
    try {
      if (this.flight.size > 0) grace.set(clock.now() + limits.gracePeriodMs);
      await this.intake.takeIn();
      while (this.flight.size > 0 && !isOver) {
        await this.pulse.taken();
        await this.intake.takeIn();
      }
    } finally {
      grace.set(undefined);
      this.hasLeft = true;
      this.reportArrivals();
      await this.close();
    }
  }

  private async finish(): Promise<void> {
    if (this.result !== undefined) return;
    const { ended, questions, runId, seq } = this.state;
    if (ended === undefined && questions.size === 0 && this.left === undefined) {
      const message = `Run ${runId} can't go on: nothing is left to do or to wait for.`;
      throw new ToolweaveError("INVALID_JOURNAL", message);
    }
    // The lease is free before anyone learns that the run stands, so that they can resume it.
    await this.close();
    this.result = resultOf(this.state);
    const at = isoTime(ended?.at ?? this.settings.clock.now());
    this.outbox.send({ type: "result", at, seq: ended?.seq ?? seq - 1, ...this.result });
    this.outbox.close();
  }

  private close(): Promise<void> {
    this.closed ??= this.owned.lease.release();
    this.alarm.set(undefined);
    this.flight.close();
    this.cleanups.run();
    return this.closed;
  }

  private async requestCancel(): Promise<void> {
    await this.section.hold(async () => {
      if (this.failure !== undefined) return;
      await this.owned.appendFirst(() => cancelRequested(this.state));
      this.publish();
    });
    this.rouse();
  }

  private report(write: LateWrite): void {
    void reportWrite(this.owned.journal.store, this.state.runId, write, this.settings);
  }

  private noticeNews(): void {
    if (this.owned.isTelling) return;
    this.intake.hasNews = true;
    this.rouse();
  }

  /** Hands on the events of what is durable now. */
  private publish(): void {
    const { events } = this.state;
    if (events.length === 0) return;
    this.state.events = [];
    for (const event of events) this.outbox.put(event);
  }

  /** Something came: whoever waits goes on; when nobody does, it is recorded in the background. */
  private rouse(): void {
    this.pulse.give();
    if (this.failure !== undefined || this.hasLeft) return this.reportArrivals();
    if (this.demand > 0 || this.isOver) return;
    this.inBackground(() => this.section.hold(() => this.intake.takeIn()));
  }

  /** A driver that can't go on tells what became of the writes that it had in flight. */
  private reportArrivals(): void {
    for (const arrival of this.flight.takeArrivals()) {
      const write = writeOf(arrival);
      if (write !== undefined) this.report(write);
    }
  }

  private inBackground(work: () => Promise<void>): void {
    work().catch((error) => this.fail(error));
  }

  private fail(error: unknown): void {
    if (this.failure === undefined) {
      this.failure = error;
      if (hasCode(error, "RUN_TAKEN_OVER")) for (const write of this.owned.unrecorded.splice(0)) this.report(write);
      void this.close();
    }
    this.rouse();
  }
}
