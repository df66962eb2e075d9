import type { RunStore } from "../../src/ports/run-store.js";

/** Where a process can die: two points at each append, four at each call, numbered from 1 as they are come to. */
export class Points {
  private reserved = 0;

  /** @param dieAt `undefined`: never. */
  constructor(private dieAt: number | undefined) {}

  get passed(): number {
    return this.reserved;
  }

  /** Lets the process live on, whatever it does behind its job. */
  disarm(): void {
    this.dieAt = undefined;
  }

  /** Takes the next points; says at which of them, from 0, the process is to die. */
  reserve(count: number): number | undefined {
    const first = this.reserved + 1;
    this.reserved += count;
    if (this.dieAt === undefined || this.dieAt < first || this.dieAt > this.reserved) return undefined;
    return this.dieAt - first;
  }
}

/** Without a word to anyone, as when the power goes. */
export function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;);
}

/** A store whose process dies right before or right after one of its appends. */
export function deadly(store: RunStore, points: Points): RunStore {
  return {
    ...store,
    async append(...append) {
      const death = points.reserve(2);
      if (death === 0) die();
      await store.append(...append);
      if (death === 1) die();
    },
  };
}

/** A store whose leases run out after so long, whatever they are claimed for: that of a dead driver is soon over. */
export function hasty(store: RunStore, ttlMs: number): RunStore {
  const { lease } = store;
  if (lease === undefined) return store;
  return {
    ...store,
    lease: {
      claim: (runId, owner) => lease.claim(runId, owner, ttlMs),
      renew: (runId, owner) => lease.renew(runId, owner, ttlMs),
      release: (runId, owner) => lease.release(runId, owner),
    },
  };
}
