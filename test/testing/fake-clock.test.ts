import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type FakeClock, fakeClock } from "../../src/testing/index.js";

const start = Date.UTC(2030, 0, 1);
const week = 7 * 24 * 60 * 60 * 1000;

/** Notes the time at which a sleep ended. */
function note(clock: FakeClock, log: string[], name: string, ms: number, signal?: AbortSignal): Promise<void> {
  return clock.sleep(ms, signal).then(
    () => void log.push(`${name} over at ${clock.now() - start}`),
    (reason: unknown) => void log.push(`${name} aborted (${String(reason)}) at ${clock.now() - start}`),
  );
}

describe("a fake clock that moves by itself", () => {
  it("stands still while nobody sleeps", async () => {
    const clock = fakeClock({ now: 1_000 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(1_000);
    expect(clock.waits).toEqual([]);
  });

  it("jumps over the longest wait", async () => {
    const clock = fakeClock();
    await clock.sleep(52 * week);
    expect(clock.now()).toBe(start + 52 * week);
    expect(clock.waits).toEqual([52 * week]);
  });

  it("ends sleeps in order of time, and of asking where the time is the same", async () => {
    const clock = fakeClock();
    const log: string[] = [];
    await Promise.all([
      note(clock, log, "a", 300),
      note(clock, log, "b", 100),
      note(clock, log, "c", 100),
      note(clock, log, "d", 0),
    ]);
    expect(log).toEqual(["d over at 0", "b over at 100", "c over at 100", "a over at 300"]);
    expect(clock.waits).toEqual([300, 100, 100, 0]);
  });

  it("lets what a sleep set off ask for its own before it goes on", async () => {
    const clock = fakeClock();
    const log: string[] = [];
    const long = note(clock, log, "long", 1_000);
    for (let turn = 1; turn <= 3; turn++) {
      await note(clock, log, `short ${turn}`, 100);
      for (let hop = 0; hop < 200; hop++) await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await long;
    expect(log).toEqual(["short 1 over at 100", "short 2 over at 200", "short 3 over at 300", "long over at 1000"]);
  });

  it("goes on with a sleep that is asked for at the very end of another", async () => {
    const clock = fakeClock();
    for (let turn = 0; turn < 100; turn++) {
      await clock.sleep(10);
      for (let hop = 0; hop < turn % 7; hop++) await Promise.resolve();
    }
    expect(clock.now()).toBe(start + 1_000);
  });

  it("never reaches the end of time", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const log: string[] = [];
    const endless = note(clock, log, "endless", Number.POSITIVE_INFINITY, controller.signal);
    await clock.sleep(5);
    controller.abort("enough");
    await endless;
    expect(log).toEqual(["endless aborted (enough) at 5"]);
  });
});

describe("a fake clock that is moved", () => {
  it("moves by advance alone", async () => {
    const clock = fakeClock({ auto: false });
    const log: string[] = [];
    void note(clock, log, "a", 100);
    await clock.advance(99);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(["a over at 100"]);
    await clock.advance(50);
    expect(clock.now()).toBe(start + 150);
  });

  it("ends sleeps on the way, also those asked for only then", async () => {
    const clock = fakeClock({ auto: false });
    const log: string[] = [];
    void note(clock, log, "poll 1", 100)
      .then(() => note(clock, log, "poll 2", 100))
      .then(() => note(clock, log, "poll 3", 100));
    await clock.advance(250);
    expect(log).toEqual(["poll 1 over at 100", "poll 2 over at 200"]);
    expect(clock.now()).toBe(start + 250);
    expect(clock.waits).toEqual([100, 100, 100]);
  });
});

describe.each([true, false])("a sleep of a fake clock (auto: %s)", (auto) => {
  it("is dropped as soon as it is aborted", async () => {
    const clock = fakeClock({ auto });
    const controller = new AbortController();
    const reason = new Error("enough");
    const sleep = clock.sleep(100, controller.signal);
    controller.abort(reason);
    await expect(sleep).rejects.toBe(reason);
    await clock.advance(500);
    expect(clock.now()).toBe(start + 500);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("does not begin when it is aborted already, yet was asked for", async () => {
    const clock = fakeClock({ auto });
    await expect(clock.sleep(100, AbortSignal.abort("late"))).rejects.toBe("late");
    expect(clock.now()).toBe(start);
    expect(clock.waits).toEqual([100]);
  });

  it("leaves the signal as it was", async () => {
    const clock = fakeClock({ auto });
    const { signal } = new AbortController();
    const sleep = clock.sleep(100, signal);
    await clock.advance(100);
    await sleep;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("of no length is over at once", async () => {
    const clock = fakeClock({ auto });
    await clock.sleep(0);
    await clock.sleep(-5);
    expect(clock.now()).toBe(start);
  });
});
