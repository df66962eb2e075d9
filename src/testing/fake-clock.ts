import type { Clock } from "../ports/clock.js";

export interface FakeClockOptions {
  /** The time it starts at, in milliseconds since the Unix epoch. @default 2030-01-01T00:00:00Z */
  now?: number;
  /** Whether it moves by itself. @default true */
  auto?: boolean;
}

/** A clock whose time costs none. */
export interface FakeClock extends Clock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Moves the time on, and ends each sleep that is due on the way, also one asked for only then, in order. */
  advance(ms: number): Promise<void>;
  /** The milliseconds of every sleep asked for so far, in order. */
  readonly waits: readonly number[];
}

interface Sleep {
  readonly due: number;
  wake(): void;
}

/**
 * A clock for tests. By itself it moves when a sleep is pending and nothing else goes on: after two turns of the event
 * loop in which nobody asked for a sleep or gave one up, it jumps to the sleep that is due first. A week's wait takes
 * microseconds.
 *
 * It can't see work that waits for the world: a socket, a file, a real timer. While such work goes on, its time runs
 * away, a time-out strikes at once, and a loop that polls is turned as fast as the machine can. Tests with real work
 * take `fakeClock({ auto: false })`, whose time moves by `advance` alone, or let their tools wait by `clock.sleep`.
 */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  const { auto = true } = options;
  const waits: number[] = [];
  const sleeps = new Set<Sleep>();
  let now = options.now ?? Date.UTC(2030, 0, 1);
  let changes = 0;
  let isMoving = false;

  /** Ends the sleep that is due first by then; of several, the one asked for first. */
  function wakeFirst(time: number): boolean {
    let first: Sleep | undefined;
    for (const sleep of sleeps) if (sleep.due <= time && (first === undefined || sleep.due < first.due)) first = sleep;
    if (first === undefined) return false;
    now = Math.max(now, first.due);
    first.wake();
    return true;
  }

  async function quiet(): Promise<void> {
    let quietTurns = 0;
    while (quietTurns < 2) {
      const before = changes;
      await new Promise((resolve) => setImmediate(resolve));
      quietTurns = changes === before ? quietTurns + 1 : 0;
    }
  }

  async function move(): Promise<void> {
    isMoving = true;
    do await quiet();
    while (wakeFirst(Number.MAX_VALUE));
    isMoving = false;
  }

  return {
    waits,
    now: () => now,
    sleep(ms, signal) {
      waits.push(ms);
      changes += 1;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        if (ms <= 0) {
          resolve();
          return;
        }
        const end = () => {
          sleeps.delete(sleep);
          changes += 1;
          signal?.removeEventListener("abort", drop);
        };
        const drop = () => {
          end();
          reject(signal?.reason);
        };
        const sleep: Sleep = {
          due: now + ms,
          wake() {
            end();
            resolve();
          },
        };
        sleeps.add(sleep);
        signal?.addEventListener("abort", drop);
        if (auto && !isMoving) void move();
      });
    },
    async advance(ms) {
      const end = now + ms;
      do await quiet();
      while (wakeFirst(end));
      now = Math.max(now, end);
    },
  };
}
