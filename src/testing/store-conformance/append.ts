import type { RunHead } from "../../ports/run-store.js";
import { type CaseDefinition, collect, recordOf, recordsOf } from "./case.js";
import { expectConflict, expectSame, expectSameHead } from "./expect.js";

/** Heads as a run's life brings them, each of which replaces the whole of the one before. */
const life: readonly Partial<RunHead>[] = [
  { status: "waiting", openQuestions: 2, wakeAt: "2031-05-02T00:00:00.000Z", updatedAt: "2031-05-01T11:00:00.001Z" },
  { status: "running", phase: "undoing", updatedAt: "2031-05-01T11:00:00.002Z" },
  { status: "waiting", phase: "undoing", openQuestions: 1, updatedAt: "2031-05-01T12:00:00.000Z" },
  { status: "failed", phase: "undoing", updatedAt: "2031-05-03T00:00:00.999Z" },
];

export const appendCases: readonly CaseDefinition[] = [
  {
    name: "append: begins a run with its records and its head",
    async check({ store, runId, head }) {
      await store.append(runId, 0, [recordOf("first")], head());
      expectSame(await collect(store.read(runId)), [recordOf("first")], "the journal");
      expectSameHead(await store.head(runId), head(), "the head");
    },
  },
  {
    name: "append: adds behind the records that are there, in order",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 3), head());
      await store.append(runId, 3, recordsOf(3, 4), head());
      await store.append(runId, 4, recordsOf(4, 9), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, 9), "the journal");
    },
  },
  {
    name: "append: resolves to nothing",
    async check({ store, runId, head }) {
      expectSame(await store.append(runId, 0, recordsOf(0, 1), head()), undefined, "what append resolves to");
    },
  },
  {
    name: "append: replaces the whole head, optional fields included",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 1), head());
      for (const [index, change] of life.entries()) {
        await store.append(runId, index + 1, recordsOf(index + 1, index + 2), head(change));
        expectSameHead(await store.head(runId), head(change), `the head after append ${index + 1}`);
      }
    },
  },
  {
    name: "append: of no records replaces the head alone",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 2), head());
      await store.append(runId, 2, [], head({ status: "completed" }));
      expectSameHead(await store.head(runId), head({ status: "completed" }), "the head");
      expectSame(await collect(store.read(runId)), recordsOf(0, 2), "the journal");
      await expectConflict(store.append(runId, 1, [], head()), "no records behind fewer than are there");
    },
  },
  {
    name: "append: keeps runs apart",
    async check({ store, runId, head }) {
      const other = { ...head(), runId: `${runId}-other`, status: "waiting" } as const;
      await store.append(runId, 0, recordsOf(0, 1), head());
      await store.append(other.runId, 0, recordsOf(100, 103), other);
      await store.append(runId, 1, recordsOf(1, 2), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, 2), "the journal of the one");
      expectSame(await collect(store.read(other.runId)), recordsOf(100, 103), "the journal of the other");
      expectSameHead(await store.head(runId), head(), "the head of the one");
      expectSameHead(await store.head(other.runId), other, "the head of the other");
    },
  },
  {
    name: "append: does not keep the array of records that it is given",
    async check({ store, runId, head }) {
      const records = recordsOf(0, 2);
      await store.append(runId, 0, records, head());
      records.push(recordOf("afterthought"));
      expectSame(await collect(store.read(runId)), recordsOf(0, 2), "the journal");
      await store.append(runId, 2, recordsOf(2, 3), head());
    },
  },
  {
    name: "append: does not keep the head that it is given",
    async check({ store, runId, head }) {
      const given = head();
      await store.append(runId, 0, recordsOf(0, 1), given);
      given.status = "failed";
      expectSameHead(await store.head(runId), head(), "the head");
    },
  },
  {
    name: "append: takes 10,000 records at once",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 1), head());
      await store.append(runId, 1, recordsOf(1, 10_001), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, 10_001), "the journal");
    },
  },
  {
    name: "append: takes hundreds of appends one after another",
    async check({ store, runId, head }) {
      for (let seq = 0; seq < 300; seq++) await store.append(runId, seq, recordsOf(seq, seq + 1), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, 300), "the journal");
    },
  },
  {
    name: "conflict: a run that is begun can't be begun again",
    async check({ store, runId, head }) {
      await store.append(runId, 0, [recordOf("mine")], head());
      await expectConflict(
        store.append(runId, 0, [recordOf("yours")], head({ status: "failed" })),
        "a second beginning",
      );
      expectSame(await collect(store.read(runId)), [recordOf("mine")], "the journal");
      expectSameHead(await store.head(runId), head(), "the head");
    },
  },
  {
    name: "conflict: more records are there than expected",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 5), head());
      for (const expected of [0, 1, 4]) {
        await expectConflict(
          store.append(runId, expected, [recordOf("late")], head()),
          `5 records, expected ${expected}`,
        );
      }
      expectSame(await collect(store.read(runId)), recordsOf(0, 5), "the journal");
    },
  },
  {
    name: "conflict: fewer records are there than expected",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 2), head());
      for (const expected of [3, 4, 1_000]) {
        await expectConflict(
          store.append(runId, expected, [recordOf("early")], head()),
          `2 records, expected ${expected}`,
        );
      }
      expectSame(await collect(store.read(runId)), recordsOf(0, 2), "the journal");
    },
  },
  {
    name: "conflict: an unknown run has no records to append behind",
    async check({ store, runId, head, listed }) {
      await expectConflict(store.append(runId, 1, [recordOf("orphan")], head()), "no run, expected 1");
      expectSame(await store.head(runId), undefined, "the head");
      expectSame(await collect(store.read(runId)), [], "the journal");
      expectSame(await listed(), [], "the list");
    },
  },
  {
    name: "conflict: writes none of a batch, and leaves the head",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 4), head());
      // Its first records collide, or leave a gap; its last ones would fit.
      await expectConflict(store.append(runId, 2, recordsOf(50, 60), head({ status: "failed" })), "a batch too early");
      await expectConflict(store.append(runId, 5, recordsOf(50, 60), head({ status: "failed" })), "a batch too late");
      expectSame(await collect(store.read(runId)), recordsOf(0, 4), "the journal");
      expectSameHead(await store.head(runId), head(), "the head");
    },
  },
  {
    name: "conflict: the right count still works afterwards",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 2), head());
      await expectConflict(store.append(runId, 1, recordsOf(90, 93), head()), "an append that comes too late");
      await store.append(runId, 2, recordsOf(2, 4), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, 4), "the journal");
    },
  },
  {
    name: "conflict: hinders no other run",
    async check({ store, runId, head, begin }) {
      await begin();
      const other = head({ runId: `${runId}-other` });
      const [, refused] = await Promise.allSettled([
        store.append(other.runId, 0, recordsOf(0, 3), other),
        store.append(runId, 0, recordsOf(0, 3), head()),
      ]);
      expectSame(refused.status, "rejected", "the second beginning");
      expectSame(await collect(store.read(other.runId)), recordsOf(0, 3), "the journal of the other run");
    },
  },
];
