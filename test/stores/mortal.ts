import type { JournalRecord } from "../../src/core/record.js";
import type { RunStore } from "../../src/ports/run-store.js";

/** A store as a process sees it that dies: from then on nothing that it asks of the store is done, or answered. */
export interface Mortal {
  readonly store: RunStore;
  /** Resolves when it has died. */
  readonly death: Promise<void>;
}

type Fatal = (records: readonly JournalRecord[]) => boolean;

/**
 * @param fatal the append at which it dies
 * @param when whether that append is still made
 */
export function mortal(store: RunStore, fatal: Fatal, when: "before" | "after"): Mortal {
  let isDead = false;
  let tell = (): void => undefined;
  const death = new Promise<void>((resolve) => {
    tell = resolve;
  });

  async function die(): Promise<never> {
    isDead = true;
    tell();
    return never();
  }

  return {
    death,
    store: {
      async append(runId, expectedSeq, records, head) {
        if (isDead) return never();
        if (!fatal(records)) return store.append(runId, expectedSeq, records, head);
        if (when === "after") await store.append(runId, expectedSeq, records, head);
        return die();
      },
      async *read(...place) {
        if (isDead) await never();
        yield* store.read(...place);
      },
      head: (runId) => (isDead ? never() : store.head(runId)),
      list: (filter) => store.list(filter),
      delete: (runId) => store.delete(runId),
      watch: () => () => undefined,
    },
  };
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Selects the append of a record of that kind and path. */
export function appendOf(kind: JournalRecord["kind"], path: string): Fatal {
  return (records) => records.some((record) => record.kind === kind && "path" in record && record.path === path);
}
