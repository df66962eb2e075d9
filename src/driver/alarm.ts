import type { Clock } from "../ports/clock.js";

/** Rings when a time has come; set for one time at once. */
export class Alarm {
  private sleep: { readonly until: number; readonly controller: AbortController } | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly ring: () => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  /** @param until milliseconds since the Unix epoch; `undefined`: never. */
  set(until: number | undefined): void {
    if (until === this.sleep?.until) return;
    this.sleep?.controller.abort();
    this.sleep = undefined;
    if (until === undefined) return;
    const controller = new AbortController();
    this.sleep = { until, controller };
    this.clock.sleep(Math.max(0, until - this.clock.now()), controller.signal).then(
      () => {
        if (this.sleep?.controller !== controller) return;
        this.sleep = undefined;
        this.ring();
      },
      // Nobody waits for a sleep that was broken off.
      (error) => (controller.signal.aborted ? undefined : this.fail(error)),
    );
  }
}
