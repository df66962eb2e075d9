import type { Clock } from "../../ports/clock.js";

interface Sleep {
  readonly due: number;
  readonly isHeard: () => boolean;
  wake(): void;
}

/** The one time of all processes of a schedule; it moves when it is told to. */
export class StageClock {
  private readonly sleeps = new Set<Sleep>();
  private time = Date.UTC(2030, 0, 1);

  /** The clock as one process sees it; nothing wakes one that is dead. */
  of(process: { readonly isDead: boolean }): Clock {
    return {
      now: () => this.time,
      sleep: (ms, signal) => this.sleep(ms, signal, () => !process.isDead),
    };
  }

  get isAwaited(): boolean {
    for (const { isHeard } of this.sleeps) if (isHeard()) return true;
    return false;
  }

  /** Moves on to what is due first, and wakes all that is due then. */
  moveToNext(): void {
    const heard = [...this.sleeps].filter(({ isHeard }) => isHeard());
    this.moveTo(Math.min(...heard.map(({ due }) => due)));
  }

  moveTo(time: number): void {
    this.time = Math.max(this.time, time);
    for (const sleep of this.sleeps) if (sleep.due <= this.time) sleep.wake();
  }

  private sleep(ms: number, signal: AbortSignal, isHeard: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const drop = () => {
        this.sleeps.delete(sleep);
        reject(signal.reason);
      };
      const sleep: Sleep = {
        due: this.time + ms,
        isHeard,
        wake: () => {
          this.sleeps.delete(sleep);
          signal.removeEventListener("abort", drop);
          if (isHeard()) resolve();
        },
      };
      signal.addEventListener("abort", drop);
      this.sleeps.add(sleep);
      if (ms <= 0) sleep.wake();
    });
  }
}
