import { apply } from "../core/apply.js";
import { ToolweaveError } from "../core/errors.js";
import type { Fact, JournalRecord } from "../core/record.js";
import type { RunState } from "../core/state.js";
import { headOf } from "./head.js";
import type { Journal } from "./journal.js";
import type { LeaseKeeper } from "./lease.js";
import { recordFact, stamped } from "./record-fact.js";
import type { LateWrite } from "./report.js";
import type { Route } from "./route.js";

/**
 * A run whose start or takeover this driver has made durable: only such a run may be driven. Keeps its state and its
 * journal in step.
 *
 * 1. Outcomes, and what follows from them alone, are applied before they are appended: what others may have appended
 *    meanwhile commutes with them.
 * 2. What begins something is appended before it is applied, and not at all when others came first.
 * 3. Once an append failed, or another driver took the run over, nothing more is written: the state may be ahead of the
 *    journal then, or the run another's.
 */
export class OwnedRun {
  /** Outcomes of writes that are applied and not yet durable. */
  readonly unrecorded: LateWrite[] = [];
  private isAppending = false;
  private end: { readonly error: unknown } | undefined;

  constructor(
    readonly state: RunState,
    readonly journal: Journal,
    readonly lease: LeaseKeeper,
    readonly route: Route,
  ) {}

  /** Whether a store is being told of an append of this run's own. */
  get isTelling(): boolean {
    return this.isAppending;
  }

  /** Whether nothing more is written. */
  get hasEnded(): boolean {
    return this.end !== undefined;
  }

  /** @throws what ended the writing, once something did */
  check(): void {
    if (this.end !== undefined) throw this.end.error;
  }

  /** Applies a fact of the driver's own; it is to be written next. */
  record(fact: Fact): JournalRecord {
    return recordFact(this.state, fact, this.route.clock);
  }

  /** Appends what is applied already. */
  async write(records: JournalRecord[]): Promise<void> {
    try {
      for (;;) {
        const others = await this.append(records);
        if (others === undefined) break;
        // Those of others came first, so ours, and the events made of them, stand further behind.
        for (const event of this.state.events) if (event.seq !== undefined) event.seq += others.length;
        const { ended } = this.state;
        if (ended !== undefined) this.state.ended = { ...ended, seq: ended.seq + others.length };
        this.applyOthers(others);
      }
    } catch (error) {
      this.endWith(error);
    }
    if (this.unrecorded.length > 0) this.unrecorded.length = 0;
  }

  /** Appends what begins something, then applies it. False when others came first: nothing was begun then. */
  async begin(facts: readonly Fact[]): Promise<boolean> {
    const at = this.route.clock.now();
    const records = facts.map((fact) => stamped(fact, at));
    try {
      const others = await this.append(records, records);
      if (others !== undefined) {
        this.applyOthers(others);
        return false;
      }
    } catch (error) {
      this.endWith(error);
    }
    for (const record of records) apply(this.state, record);
    return true;
  }

  /** Appends what anybody may append, given the run as it stands, then applies it. */
  async appendFirst(decide: () => Fact | undefined): Promise<void> {
    for (let fact = decide(); fact !== undefined; fact = decide()) {
      if (await this.begin([fact])) return;
    }
  }

  /** Applies what others appended. @throws ToolweaveError `RUN_TAKEN_OVER` */
  async readNews(): Promise<void> {
    this.applyOthers(await this.journal.news());
  }

  private append(records: JournalRecord[], coming?: readonly JournalRecord[]): Promise<JournalRecord[] | undefined> {
    this.check();
    // What a store says while it is called is of this append; what it says later may be of another's.
    this.isAppending = true;
    const appending = this.journal.append(records, headOf(this.state, coming));
    this.isAppending = false;
    return appending;
  }

  private endWith(error: unknown): never {
    this.end ??= { error };
    throw error;
  }

  private applyOthers(others: readonly JournalRecord[]): void {
    for (const record of others) {
      if (record.kind !== "run_taken") {
        apply(this.state, record);
        continue;
      }
      const message = `Run ${this.state.runId} was taken over by another driver. Nothing more is started here.`;
      this.endWith(new ToolweaveError("RUN_TAKEN_OVER", message));
    }
  }
}
