import type { Clock } from "../ports/clock.js";

/** A timer that is set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    return new Promise<void>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      let timer: ReturnType<typeof setTimeout>;
      const wait = (leftMs: number) => {
        timer = setTimeout(
          () => {
            if (leftMs > longestTimerMs) {
              wait(leftMs - longestTimerMs);
              return;
            }
            signal.removeEventListener("abort", stop);
            resolve();
          },
          Math.min(leftMs, longestTimerMs),
        );
      };
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
      wait(ms);
    });
  },
};
