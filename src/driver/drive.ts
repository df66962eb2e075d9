import { apply } from "../core/apply.js";
import { dueTimers, nextTimer } from "../core/clock.js";
import type { Effect } from "../core/effect.js";
import { errorText, ToolweaveError } from "../core/errors.js";
import { isoTime } from "../core/event.js";
import type { JsonValue } from "../core/json.js";
import { next, wake } from "../core/next.js";
import { checkAnswer } from "../core/question.js";
import type { Answer, Fact, JournalRecord, Question } from "../core/record.js";
import { type RunResult, resultOf } from "../core/result.js";
import { type CallOutcome, settleCall } from "../core/settle.js";
import { type Call, type Node, queue, type RunState } from "../core/state.js";
import type { RunHead } from "../ports/run-store.js";
import { answerQuestion, refuseSecrets } from "./answer.js";
import type { Route } from "./call-tool.js";
import { Handle } from "./handle.js";
import { headOf } from "./head.js";
import { hasCode, type Journal } from "./journal.js";
import type { LeaseKeeper } from "./lease.js";
import type { RunEvent, Settings } from "./options.js";
import { type Performed, perform } from "./perform.js";
import { type LateWrite, reportWrite } from "./report.js";
import { Section } from "./section.js";

/** A run whose start or takeover this driver has made durable: only such a run may be driven. */
export interface OwnedRun {
  readonly state: RunState;
  readonly journal: Journal;
  readonly lease: LeaseKeeper;
  readonly route: Route;
}

/** A fact that begins something, its node, and what follows once it is durable. */
interface Beginning {
  readonly node: Node;
  readonly handle: Handle;
  readonly fact: Fact;
  readonly goOn: (() => Promise<Performed>) | undefined;
}

interface Delivery {
  readonly handle: Handle;
  readonly outcome?: CallOutcome;
  settle(): Fact | undefined;
}

interface Start {
  readonly effect: Exclude<Effect, { kind: "commit" }>;
  readonly handle: Handle;
}

/**
 * Drives an owned run: settle, decide, append, yield, start.
 *
 * 1. A call that settles is applied and appended at once, whatever the consumer does; what it leads to starts only when
 *    the consumer has taken the events before.
 * 2. Outcomes are applied before they are appended: what others may have appended meanwhile commutes with them. What
 *    begins something is appended before it is applied, and derived anew when others came first.
 * 3. A write is called straight from its own durable intent: nothing is awaited or yielded in between.
 * 4. An event is seen only when its record is durable.
 * 5. The state and the journal are touched in one section at a time; nothing waits for the world inside it.
 */
export class Drive {
  private readonly state: RunState;
  private readonly journal: Journal;
  private readonly section = new Section();
  private readonly events: RunEvent[] = [];
  private readonly mailbox: Delivery[] = [];
  private readonly handles = new Map<Node, Handle>();
  private readonly asking = new Set<string>();
  private starts: Start[] = [];
  private beginnings: Beginning[] = [];
  private expiries: Fact[] = [];
  /** Outcomes of writes that are applied and not yet durable. */
  private unrecorded: LateWrite[] = [];
  private sleep: { readonly until: number; readonly controller: AbortController } | undefined;
  private waiters: (() => void)[] = [];
  private isRoused = false;
  private isTimeUp = false;
  private hasNews = false;
  private isAppending = false;
  private seenStops = 0;
  private steps = 0;
  private left: Promise<void> | undefined;
  private stopped: Promise<void> | undefined;
  private closed: Promise<void> | undefined;
  private failure: unknown;
  private result: RunResult | undefined;
  private readonly cleanups: (() => void)[] = [];

  constructor(
    private readonly owned: OwnedRun,
    private readonly settings: Settings,
  ) {
    this.state = owned.state;
    this.journal = owned.journal;
    this.state.events.length = 0;
    owned.lease.keep();
    this.listen(settings.signal, () => this.inBackground(() => this.appendForeign({ kind: "cancel_requested" })));
    this.listen(settings.stop, () => this.inBackground(() => (this.stopped ??= this.stop())));
    const unwatch = this.journal.store.watch?.(this.state.runId, () => this.noticeNews());
    if (unwatch !== undefined) this.cleanups.push(unwatch);
    for (const { question } of this.state.questions.values()) this.offer(question);
  }

  /** The next event, once there is one; `undefined` when the run ended or waits. */
  async nextEvent(): Promise<RunEvent | undefined> {
    this.steps++;
    try {
      for (;;) {
        const event = this.takeEvent();
        if (event !== undefined) return event;
        if (this.failure !== undefined) throw this.failure;
        if (this.result !== undefined) return undefined;
        if (this.left !== undefined) {
          await (this.stopped ?? this.left);
          return this.takeEvent();
        }
        await this.section.enter(() => this.advance());
        if (this.events.length === 0 && this.result === undefined) await this.woken();
      }
    } catch (error) {
      this.failure ??= error;
      await this.close();
      throw error;
    } finally {
      this.steps--;
    }
  }

  get outcome(): RunResult | undefined {
    return this.result;
  }

  /** Stops driving at once: nothing more starts, what is in flight is aborted, awaited for a while, and recorded. */
  leave(): Promise<void> {
    if (this.result !== undefined) return this.close();
    if (this.left === undefined) {
      this.starts = [];
      this.beginnings = [];
      for (const handle of this.handles.values()) handle.abort();
      this.left = this.section.enter(() => this.settleFlight());
      this.rouse();
    }
    return this.left;
  }

  private async stop(): Promise<void> {
    await this.leave();
    await this.section.enter(() => this.finish());
  }

  /** Answers an open question; resolves when the answer is durable. */
  async answer(id: string, given: unknown): Promise<void> {
    if (this.result !== undefined || this.left !== undefined || this.failure !== undefined) {
      return answerQuestion(this.journal.store, this.state.runId, id, given, this.settings);
    }
    await this.section.enter(async () => {
      const { clock } = this.settings;
      const answer = checkAnswer(this.state, id, given, { now: clock.now(), limits: this.owned.route.limits });
      if (answer === undefined) return;
      refuseSecrets(id, answer, this.owned.route.scrub.finds);
      await this.appendFirst({ kind: "question_answered", id, answer });
      this.publish();
    });
    this.rouse();
  }

  private takeEvent(): RunEvent | undefined {
    for (let event = this.events.shift(); event !== undefined; event = this.events.shift()) {
      // A question that was closed before anyone saw it is not worth asking.
      if (event.type !== "question" || this.state.questions.has(event.id)) return event;
    }
    return undefined;
  }

  /** One turn: record what came, then, when the consumer has seen all of it, start what is next. */
  private async advance(): Promise<void> {
    if (this.left !== undefined) return;
    await this.settle();
    if (this.events.length > 0) return;
    if (this.state.ended !== undefined) return this.finish();
    if (this.beginnings.length > 0) await this.begin();
    for (const start of this.starts.splice(0)) this.start(start);
    if (this.events.length > 0 || this.mailbox.length > 0 || !this.isIdle()) return;
    this.hasNews = true;
    this.isTimeUp = true;
    await this.settle();
    if (this.events.length === 0 && this.isIdle()) await this.finish();
  }

  /** Whether all that is left waits for people. */
  private isIdle(): boolean {
    if (this.handles.size > 0 || this.asking.size > 0 || this.state.ready.size > 0) return false;
    if (this.starts.length > 0 || this.beginnings.length > 0 || this.mailbox.length > 0) return false;
    for (const { what } of this.state.timers) if (what !== "question") return false;
    return true;
  }

  /** Records what came of the world and of time, and all that it leads to without the world. */
  private async settle(): Promise<void> {
    if (this.hasNews) await this.readNews();
    for (;;) {
      const records = this.decide();
      if (records.length > 0) await this.write(records);
      else if (this.expiries.length > 0) await this.expire();
      else break;
      this.publish();
    }
    this.armTimer();
  }

  /** Whether a question expired depends on what others said of it first. */
  private async expire(): Promise<void> {
    for (const fact of this.expiries.splice(0)) {
      if (fact.kind === "question_expired" && this.state.questions.has(fact.id)) await this.appendFirst(fact);
    }
  }

  private decide(): JournalRecord[] {
    const records: JournalRecord[] = [];
    for (let delivery = this.mailbox.shift(); delivery !== undefined; delivery = this.mailbox.shift()) {
      const { handle } = delivery;
      if (this.handles.get(handle.node) !== handle) continue;
      this.handles.delete(handle.node);
      if (!handle.isWanted()) continue;
      const fact = delivery.settle();
      if (fact === undefined) continue;
      if (handle.isWrite) this.unrecorded.push(lateWrite(handle, delivery.outcome));
      records.push(this.record(fact));
    }
    if (this.isTimeUp) this.passTime(records);
    for (let decision = next(this.state); decision !== undefined; decision = next(this.state)) {
      if (!("node" in decision)) records.push(this.record(decision));
      else this.plan(decision);
    }
    if (this.state.stops !== this.seenStops) this.abortStopped();
    return records;
  }

  private passTime(records: JournalRecord[]): void {
    this.isTimeUp = false;
    for (const timer of dueTimers(this.state, this.settings.clock.now())) {
      if (!this.state.timers.has(timer)) continue;
      const fact = wake(this.state, timer);
      if (fact?.kind === "question_expired") this.expiries.push(fact);
      else if (fact !== undefined) records.push(this.record(fact));
    }
  }

  private plan(effect: Effect): void {
    const { node } = effect;
    const handle = new Handle(node, "attempt" in effect ? effect.attempt : 1);
    if (effect.kind === "commit") this.beginnings.push({ node, handle, fact: effect.fact, goOn: undefined });
    else this.starts.push({ effect, handle });
  }

  private record(fact: Fact): JournalRecord {
    const record = { ...fact, at: this.settings.clock.now() };
    apply(this.state, record);
    return record;
  }

  /** Appends what is applied already. */
  private async write(records: JournalRecord[]): Promise<void> {
    for (;;) {
      const others = await this.append(records, headOf(this.state));
      if (others === undefined) {
        this.unrecorded = [];
        return;
      }
      // Those of others came first, so ours, and the events made of them, stand further behind.
      for (const event of this.state.events) if (event.seq !== undefined) event.seq += others.length;
      this.applyOthers(others);
    }
  }

  /** Makes beginnings durable, applies them, and does what follows at once. */
  private async begin(): Promise<void> {
    const wanted = this.beginnings.splice(0).filter(({ handle }) => handle.isWanted());
    if (wanted.length === 0) return;
    const at = this.settings.clock.now();
    const begun = wanted.map(({ node, fact }) => ({ node, record: { ...fact, at } as JournalRecord }));
    const records = begun.map(({ record }) => record);
    const others = await this.append(records, headOf(this.state, records));
    if (others !== undefined) {
      this.applyOthers(others);
      for (const { node, handle } of wanted) {
        this.handles.delete(node);
        if (handle.isWanted()) queue(this.state, node);
      }
      this.rouse();
      return;
    }
    for (const { record } of begun) apply(this.state, record);
    const withheld: JournalRecord[] = [];
    for (const { node, handle, fact, goOn } of wanted) {
      if (goOn === undefined) {
        this.handles.delete(node);
      } else if (this.left === undefined) {
        handle.isWrite = true;
        this.deliver(handle, goOn());
      } else {
        // The consumer left while the intent was being appended.
        this.handles.delete(node);
        if (fact.kind === "write_intended") withheld.push(this.record({ kind: "withheld", path: fact.path }));
      }
    }
    if (withheld.length > 0) await this.write(withheld);
    this.publish();
    await this.settle();
  }

  private start({ effect, handle }: Start): void {
    if (!handle.isWanted()) return;
    this.handles.set(effect.node, handle);
    const world = { state: this.state, route: this.owned.route, announce: this.announce };
    this.deliver(handle, perform(world, effect, handle));
  }

  private deliver(handle: Handle, performed: Promise<Performed>): void {
    performed.then(
      (what) => this.receive(handle, what),
      (error) => this.fail(error),
    );
  }

  private receive(handle: Handle, what: Performed): void {
    if (this.handles.get(handle.node) !== handle) return;
    if (what.kind === "settle") {
      if (this.failure !== undefined && handle.isWrite) return this.report(lateWrite(handle, what.outcome));
      this.mailbox.push({ handle, outcome: what.outcome, settle: what.settle });
    } else if (this.left === undefined && handle.isWanted()) {
      this.beginnings.push({ node: handle.node, handle, fact: what.fact, goOn: what.goOn });
    } else {
      this.handles.delete(handle.node);
    }
    this.rouse();
  }

  private report(write: LateWrite): void {
    void reportWrite(this.journal.store, this.state.runId, write, this.settings);
  }

  private readonly announce = (call: Call, attempt: number): void => {
    call.announced = true;
    const { runId } = this.state;
    const at = isoTime(this.settings.clock.now());
    const { stepId, path } = call;
    const status = call.purpose === "undo" ? "undoing" : "started";
    this.emit({ type: "step", runId, at, status, stepId, path, attempt });
    this.rouse();
  };

  /** Aborts what is no longer wanted. A write is given time to settle. */
  private abortStopped(): void {
    this.seenStops = this.state.stops;
    for (const [node, handle] of this.handles) {
      const mustStop = node.kind === "call" && node.aborted;
      if (handle.isWanted() && !mustStop) continue;
      if (handle.isAborted) continue;
      handle.abort();
      if (handle.isWrite && handle.isWanted()) this.giveGrace(handle);
      else this.handles.delete(node);
    }
  }

  private giveGrace(handle: Handle): void {
    const { clock, limits } = this.settings;
    const controller = new AbortController();
    this.cleanups.push(() => controller.abort());
    clock.sleep(limits.gracePeriodMs, controller.signal).then(
      () => {
        if (this.handles.get(handle.node) !== handle || handle.node.kind !== "call") return;
        const call = handle.node;
        this.mailbox.push({ handle, settle: () => settleCall(call, { kind: "failed", ...unsettled }) });
        this.rouse();
      },
      () => undefined,
    );
  }

  /** Waits for what is in flight, for the grace period at most, and records what came of it. */
  private async settleFlight(): Promise<void> {
    const { clock, limits } = this.settings;
    const controller = new AbortController();
    let isOver = this.handles.size === 0;
    if (!isOver) {
      clock.sleep(limits.gracePeriodMs, controller.signal).then(
        () => {
          isOver = true;
          this.rouse();
        },
        () => undefined,
      );
    }
    try {
      await this.settle();
      while (this.handles.size > 0 && !isOver) {
        await this.woken();
        await this.settle();
      }
    } finally {
      controller.abort();
      await this.close();
    }
  }

  private async finish(): Promise<void> {
    if (this.result !== undefined) return;
    const { ended, questions } = this.state;
    if (ended === undefined && questions.size === 0 && this.left === undefined) {
      throw new ToolweaveError(
        "INVALID_JOURNAL",
        `Run ${this.state.runId} can't go on: nothing is left to do or to wait for.`,
      );
    }
    // The lease is free before anyone learns that the run stands, so that they can resume it.
    await this.close();
    this.result = resultOf(this.state);
    const at = isoTime(ended?.at ?? this.settings.clock.now());
    this.emit({ type: "result", at, seq: ended?.seq ?? this.state.seq - 1, ...this.result });
  }

  private close(): Promise<void> {
    this.closed ??= this.owned.lease.release();
    this.sleep?.controller.abort();
    this.sleep = undefined;
    for (const cleanup of this.cleanups.splice(0)) cleanup();
    return this.closed;
  }

  private async append(records: JournalRecord[], head: RunHead): Promise<JournalRecord[] | undefined> {
    this.isAppending = true;
    try {
      return await this.journal.append(records, head);
    } catch (error) {
      throw hasCode(error, "STORE_UNAVAILABLE") ? withUnrecorded(error, this.unrecorded) : error;
    } finally {
      this.isAppending = false;
    }
  }

  /** Appends a fact that anybody may append, then applies it. */
  private async appendForeign(fact: Fact): Promise<void> {
    if (this.result !== undefined || this.failure !== undefined) return;
    await this.section.enter(async () => {
      await this.appendFirst(fact);
      this.publish();
    });
    this.rouse();
  }

  private async appendFirst(fact: Fact): Promise<void> {
    for (;;) {
      const record: JournalRecord = { ...fact, at: this.settings.clock.now() };
      const others = await this.append([record], headOf(this.state, [record]));
      if (others === undefined) return apply(this.state, record);
      this.applyOthers(others);
    }
  }

  private applyOthers(others: readonly JournalRecord[]): void {
    for (const record of others) {
      if (record.kind === "run_taken") {
        const error = takenOver(this.state.runId);
        this.failure ??= error;
        for (const write of this.unrecorded.splice(0)) this.report(write);
        throw error;
      }
      apply(this.state, record);
    }
  }

  private noticeNews(): void {
    if (this.isAppending || this.hasNews) return;
    this.hasNews = true;
    this.rouse();
  }

  private async readNews(): Promise<void> {
    this.hasNews = false;
    this.applyOthers(await this.journal.news());
  }

  /** Hands on the events of what is durable now. */
  private publish(): void {
    const events = this.state.events.splice(0);
    for (const event of events) {
      if (event.type === "question") this.offer(event);
      else this.emit(event);
    }
  }

  /** Asks the host first; what it leaves open comes in the stream. */
  private offer(question: Question): void {
    const { onQuestion } = this.settings;
    const open = this.state.questions.get(question.id);
    const event: RunEvent = {
      ...question,
      type: "question",
      at: question.askedAt,
      seq: open?.seq ?? this.state.seq,
      answer: (answer) => this.answer(question.id, answer),
    };
    if (onQuestion === undefined) return this.emit(event);
    this.asking.add(question.id);
    this.askHost(onQuestion, question).then(
      (isAnswered) => {
        this.asking.delete(question.id);
        if (!isAnswered) this.emit(event);
        this.rouse();
      },
      (error) => this.fail(error),
    );
  }

  private async askHost(onQuestion: NonNullable<Settings["onQuestion"]>, question: Question): Promise<boolean> {
    let answer: Answer | undefined;
    try {
      answer = await onQuestion(question);
    } catch {
      return false;
    }
    if (answer === undefined || !this.state.questions.has(question.id)) return answer !== undefined;
    try {
      await this.answer(question.id, answer);
      return true;
    } catch (error) {
      if (error instanceof ToolweaveError && error.code !== "STORE_UNAVAILABLE") return false;
      throw error;
    }
  }

  private emit(event: RunEvent): void {
    this.events.push(event);
    try {
      this.settings.observer?.emit(event.type, event);
    } catch {
      // A listener that throws harms no run.
    }
  }

  private armTimer(): void {
    const until = this.left === undefined && this.state.ended === undefined ? nextTimer(this.state) : undefined;
    if (until === this.sleep?.until) return;
    this.sleep?.controller.abort();
    this.sleep = undefined;
    if (until === undefined) return;
    const controller = new AbortController();
    this.sleep = { until, controller };
    const { clock } = this.settings;
    clock.sleep(Math.max(0, until - clock.now()), controller.signal).then(
      () => {
        if (this.sleep?.controller !== controller) return;
        this.sleep = undefined;
        this.isTimeUp = true;
        this.rouse();
      },
      () => undefined,
    );
  }

  /** Something came: whoever waits goes on; when nobody does, it is recorded in the background. */
  private rouse(): void {
    this.isRoused = this.waiters.length === 0;
    for (const resolve of this.waiters.splice(0)) resolve();
    if (!this.isRoused || this.steps > 0 || this.left !== undefined) return;
    if (this.result !== undefined || this.failure !== undefined) return;
    this.inBackground(() => this.section.enter(() => this.settle()));
  }

  private woken(): Promise<void> {
    if (!this.isRoused) return new Promise((resolve) => this.waiters.push(resolve));
    this.isRoused = false;
    return Promise.resolve();
  }

  private inBackground(work: () => Promise<void>): void {
    work().catch((error) => this.fail(error));
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.rouse();
  }

  private listen(signal: AbortSignal | undefined, react: () => void): void {
    if (signal === undefined) return;
    if (signal.aborted) return react();
    signal.addEventListener("abort", react, { once: true });
    this.cleanups.push(() => signal.removeEventListener("abort", react));
  }
}

const unsettled = {
  outcome: "in_doubt",
  error: {
    code: "TOOL_IN_DOUBT",
    message: "The call was aborted and did not settle, so nobody knows whether it was made.",
  },
} as const;

function takenOver(runId: string): ToolweaveError {
  const message = `Run ${runId} was taken over by another driver. Nothing more is started here.`;
  return new ToolweaveError("RUN_TAKEN_OVER", message);
}

function lateWrite({ node, attempt }: Handle, outcome: CallOutcome = { kind: "failed", ...unsettled }): LateWrite {
  return { path: node.path, attempt, outcome };
}

/** What the driver knows and could not make durable: the outcomes of writes. */
function withUnrecorded(error: unknown, writes: readonly LateWrite[]): ToolweaveError {
  const unrecorded: JsonValue = JSON.parse(JSON.stringify(writes));
  return new ToolweaveError("STORE_UNAVAILABLE", errorText(error), { details: { unrecorded }, cause: error });
}
