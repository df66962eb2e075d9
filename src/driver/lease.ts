import type { RunStore } from "../ports/run-store.js";
import { reachStore } from "./journal.js";
import { unref } from "./unref.js";

/** A lease runs out so long after its last renewal, in milliseconds. */
const leaseMs = 30_000;

/** Keeps a claimed lease alive until it is stopped; the store's time, and so the machine's, is what counts here. */
export class LeaseKeeper {
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly store: RunStore,
    private readonly runId: string,
    private readonly owner: string,
  ) {}

  /** False when another driver holds a live lease. Without leases in the store always true. */
  async claim(): Promise<boolean> {
    const { lease } = this.store;
    return lease === undefined || reachStore(this.runId, () => lease.claim(this.runId, this.owner, leaseMs));
  }

  keep(): void {
    const { lease } = this.store;
    if (lease === undefined || this.timer !== undefined) return;
    // A renewal that fails is made up by the next. One that is refused means that the lease is another's: of a driver that
    // was taken over, which leaves it, or of one that took the run over, which its record in the journal says.
    const renew = async () =>
      (await lease.renew(this.runId, this.owner, leaseMs)) || lease.claim(this.runId, this.owner, leaseMs);
    this.timer = setInterval(() => void renew().catch(() => false), leaseMs / 3);
    unref(this.timer);
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    try {
      await this.store.lease?.release(this.runId, this.owner);
    } catch {
      // It runs out by itself.
    }
  }
}
