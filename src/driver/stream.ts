import type { RunResult } from "../core/result.js";
import type { Drive } from "./drive.js";
import type { RunEvent } from "./options.js";
import { Section } from "./section.js";

type Turn = IteratorResult<RunEvent, RunResult | undefined>;

/** A run that is driven, or the result of one that has ended. */
export type Opened = { readonly drive: Drive } | { readonly result: RunResult; readonly event: RunEvent };

/** The events of a run. The generator returns the result too; `undefined` when it was left before there was one. */
export interface RunStream extends AsyncGenerator<RunEvent, RunResult | undefined, undefined> {
  /** Stops driving: see `RunOptions.stop`. */
  return(value?: RunResult | PromiseLike<RunResult | undefined>): Promise<Turn>;
}

export function runStream(open: () => Promise<Opened>): RunStream {
  return new HandWrittenStream(open);
}

/**
 * The stream of a run's events: an async generator written by hand, since a native one lets `return()` wait behind a
 * pending `next()`. Calls of `next` are served one after another; `return` takes effect at once.
 */
class HandWrittenStream implements RunStream {
  private opening: Promise<Opened> | undefined;
  private drive: Drive | undefined;
  private readonly turns = new Section();
  private isDone = false;

  constructor(private readonly open: () => Promise<Opened>) {}

  next(): Promise<Turn> {
    const event = this.isDone || !this.turns.isFree ? undefined : this.drive?.takeEvent();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    const mayGo = this.turns.enter();
    return mayGo === undefined ? this.turn() : mayGo.then(() => this.turn());
  }

  private async turn(): Promise<Turn> {
    try {
      if (this.isDone) return finished;
      if (this.drive === undefined) {
        this.opening ??= this.open();
        const opened = await this.opening;
        if ("result" in opened) return this.isDone ? finished : this.replay(opened);
        this.drive = opened.drive;
      }
      const event = this.isDone ? undefined : await this.drive.nextEvent();
      if (event !== undefined) return { done: false, value: event };
      return this.end(this.drive.outcome);
    } catch (error) {
      this.isDone = true;
      throw error;
    } finally {
      this.turns.leave();
    }
  }

  private isReplayed = false;

  private replay({ result, event }: Extract<Opened, { result: RunResult }>): Turn {
    if (this.isReplayed) return this.end(result);
    this.isReplayed = true;
    return { done: false, value: event };
  }

  private end(result: RunResult | undefined): Turn {
    this.isDone = true;
    return { done: true, value: result };
  }

  async return(value?: RunResult | PromiseLike<RunResult | undefined>): Promise<Turn> {
    this.isDone = true;
    const opened = await this.opening?.catch(ignore);
    if (opened !== undefined && "drive" in opened) await opened.drive.leave();
    return { done: true, value: await value };
  }

  async throw(error: unknown): Promise<Turn> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

const finished: Turn = { done: true, value: undefined };

function ignore(): undefined {}
