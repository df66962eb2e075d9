import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/driver/clock.js";

const day = 24 * 60 * 60 * 1000;

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 5_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function watch(sleep: Promise<void>): { state: string; reason?: unknown } {
    const seen: { state: string; reason?: unknown } = { state: "pending" };
    sleep.then(
      () => Object.assign(seen, { state: "over" }),
      (reason: unknown) => Object.assign(seen, { state: "aborted", reason }),
    );
    return seen;
  }

  it("tells the time", () => {
    expect(systemClock.now()).toBe(5_000);
  });

  // From 2^31 ms on, a single timer would fire at once.
  it.each([0, 1, 1_000, 2 ** 31 - 1, 2 ** 31, 30 * day, 3 * (2 ** 31 - 1), 400 * day])("sleeps %d ms", async (ms) => {
    const { signal } = new AbortController();
    const sleep = watch(systemClock.sleep(ms, signal));
    if (ms > 0) {
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(sleep.state).toBe("pending");
    }
    await vi.advanceTimersByTimeAsync(1);
    expect(sleep.state).toBe("over");
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each([
    ["before its first timer", 1_000, 10],
    ["in a later chunk", 60 * day, 2 ** 31 + 10],
  ])("ends as soon as it is aborted, %s", async (_, ms, after) => {
    const controller = new AbortController();
    const sleep = watch(systemClock.sleep(ms, controller.signal));
    await vi.advanceTimersByTimeAsync(after);
    const reason = new Error("enough");
    controller.abort(reason);
    await Promise.resolve();
    expect(sleep).toEqual({ state: "aborted", reason });
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("does not begin when it is aborted already", async () => {
    const signal = AbortSignal.abort("over before it began");
    await expect(systemClock.sleep(1_000, signal)).rejects.toBe("over before it began");
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("leaves a signal as it was after many sleeps", async () => {
    const { signal } = new AbortController();
    for (let turn = 0; turn < 50; turn++) {
      const sleep = systemClock.sleep(1, signal);
      await vi.advanceTimersByTimeAsync(1);
      await sleep;
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
