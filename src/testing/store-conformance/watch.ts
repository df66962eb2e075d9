import { type CaseDefinition, collect, recordsOf } from "./case.js";
import { eventually, expectSame, isConflict } from "./expect.js";

const cases: readonly Omit<CaseDefinition, "needs">[] = [
  {
    name: "an append is hinted at",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let hints = 0;
      const stop = watch(runId, () => (hints += 1));
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually("a hint", () => hints > 0);
      stop();
    },
  },
  {
    name: "the records are there when the hint comes",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let seen = 0;
      const stop = watch(runId, async () => {
        seen = Math.max(seen, (await collect(store.read(runId, 1))).length);
      });
      await store.append(runId, 1, recordsOf(1, 4), head());
      await eventually("a hint that finds the records", () => seen === 3);
      stop();
    },
  },
  {
    name: "every append is hinted at, those that come close together by one hint at least",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let seen = 0;
      const stop = watch(runId, async () => {
        seen = Math.max(seen, (await collect(store.read(runId, 1))).length);
      });
      for (let seq = 1; seq <= 50; seq++) await store.append(runId, seq, recordsOf(seq, seq + 1), head());
      await eventually("a hint that finds the last record", () => seen === 50);
      stop();
    },
  },
  {
    name: "a run may be watched before it begins",
    async check({ runId, begin, watch }) {
      let hints = 0;
      const stop = watch(runId, () => (hints += 1));
      await begin();
      await eventually("a hint", () => hints > 0);
      stop();
    },
  },
  {
    name: "several may watch, and one may stop",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      const hints = [0, 0];
      const stops = hints.map((_, index) => watch(runId, () => (hints[index] = (hints[index] ?? 0) + 1)));
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually("hints to both", () => hints.every((count) => count > 0));
      stops[0]?.();
      const [first, second = 0] = hints;
      await store.append(runId, 2, recordsOf(2, 3), head());
      await eventually("a hint to the other", () => (hints[1] ?? 0) > second);
      expectSame(hints[0], first, "the hints to the one that has stopped");
      stops[1]?.();
    },
  },
  {
    name: "the same function may watch twice, and stop once",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let hints = 0;
      const onChange = () => (hints += 1);
      const [stop, stopOther] = [watch(runId, onChange), watch(runId, onChange)];
      stop();
      stop();
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually("a hint", () => hints > 0);
      stopOther();
    },
  },
  {
    name: "one who stopped is not called again",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let late = 0;
      const stop = watch(runId, () => (late += 1));
      stop();
      late = 0;
      let hints = 0;
      const stopOther = watch(runId, () => (hints += 1));
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually("a hint to another", () => hints > 0);
      expectSame(late, 0, "the hints to the one that has stopped");
      stopOther();
    },
  },
  {
    name: "who is called may append",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      const faults: unknown[] = [];
      const stop = watch(runId, () => {
        // A hint that comes of something else, or while this append is being made, finds other records.
        store.append(runId, 2, recordsOf(2, 3), head()).catch((error: unknown) => {
          if (!isConflict(error)) faults.push(error);
        });
      });
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually(
        "a hint to append on",
        async () => faults.length > 0 || (await collect(store.read(runId, 1))).length === 2,
      );
      expectSame(faults, [], "what appending on a hint came to");
      expectSame(await collect(store.read(runId, 1)), recordsOf(1, 3), "the journal");
      stop();
    },
  },
  {
    name: "who is called may stop",
    async check({ store, runId, head, begin, watch }) {
      await begin();
      let hints = 0;
      const stop = watch(runId, () => {
        hints += 1;
        stop();
      });
      await store.append(runId, 1, recordsOf(1, 2), head());
      await eventually("a hint", () => hints === 1);
      await store.append(runId, 2, recordsOf(2, 3), head());
      await store.append(runId, 3, recordsOf(3, 4), head());
      expectSame(hints, 1, "the hints");
    },
  },
];

export const watchCases: readonly CaseDefinition[] = [
  ...cases.map(({ name, check }) => ({ name: `watch: ${name}`, needs: "watch", check }) satisfies CaseDefinition),
  {
    name: "reopen: an append through another handle is hinted at, where there is a watch",
    needs: "reopen",
    async check({ store, runId, head, begin, reopen }) {
      await begin();
      const other = await reopen();
      let hints = 0;
      const stop = store.watch?.(runId, () => (hints += 1));
      if (stop === undefined) return;
      await other.append(runId, 1, recordsOf(1, 2), head());
      await eventually("a hint", () => hints > 0);
      stop();
    },
  },
];
