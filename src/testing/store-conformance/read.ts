import { type CaseDefinition, collect, recordOf, recordsOf } from "./case.js";
import { expectSame, expectTrue } from "./expect.js";

/** More than any store is likely to fetch at once. */
const long = 3_000;

export const readCases: readonly CaseDefinition[] = [
  {
    name: "read: gives nothing of an unknown run",
    async check({ store, runId }) {
      expectSame(await collect(store.read(runId)), [], "the journal");
      expectSame(await collect(store.read(runId, 7)), [], "the journal from 7 on");
    },
  },
  {
    name: "head: is undefined for an unknown run",
    async check({ store, runId }) {
      expectSame(await store.head(runId), undefined, "the head");
    },
  },
  {
    name: "head: has no keys for what it does not say",
    async check({ store, runId, begin }) {
      await begin();
      const keys = Object.keys((await store.head(runId)) ?? {}).sort();
      expectSame(keys, ["createdAt", "openQuestions", "runId", "status", "updatedAt", "workflow"], "the keys");
    },
  },
  {
    name: "head: may be changed by whoever asked for it",
    async check({ store, runId, begin }) {
      await begin();
      const head = await store.head(runId);
      if (head !== undefined) head.status = "failed";
      expectSame((await store.head(runId))?.status, "running", "the status");
    },
  },
  {
    name: "read: starts at fromSeq",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 10), head());
      for (const from of [0, 1, 5, 9]) {
        expectSame(await collect(store.read(runId, from)), recordsOf(from, 10), `the journal from ${from} on`);
      }
    },
  },
  {
    name: "read: gives nothing from the end on",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 3), head());
      for (const from of [3, 4, 1_000]) {
        expectSame(await collect(store.read(runId, from)), [], `the journal from ${from} on`);
      }
    },
  },
  {
    name: "read: gives a long journal whole and in order",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, long), head());
      expectSame(await collect(store.read(runId)), recordsOf(0, long), "the journal");
      expectSame(await collect(store.read(runId, 1_234)), recordsOf(1_234, long), "the journal from the middle on");
    },
  },
  {
    name: "read: gives large records whole and in order",
    async check({ store, runId, head }) {
      const records = Array.from({ length: 12 }, (_, index) => recordOf(`${index}`.repeat(700_000)));
      await store.append(runId, 0, records, head());
      let seq = 0;
      for await (const record of store.read(runId)) {
        expectSame(record, records[seq], `record ${seq}`);
        seq += 1;
      }
      expectSame(seq, records.length, "the number of records");
    },
  },
  {
    name: "read: may be left before its end",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, long), head());
      for (let round = 0; round < 30; round++) {
        for await (const record of store.read(runId)) {
          expectSame(record, recordOf(0), "the first record");
          break;
        }
      }
      await store.append(runId, long, recordsOf(long, long + 1), head());
      expectSame(await collect(store.read(runId, long)), recordsOf(long, long + 1), "the tail");
    },
  },
  {
    name: "read: serves several readers at once",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, long), head());
      const journals = await Promise.all([0, 1, 2, 3].map((from) => collect(store.read(runId, from * 500))));
      for (const [index, journal] of journals.entries()) {
        expectSame(journal, recordsOf(index * 500, long), `reader ${index}`);
      }
    },
  },
  {
    name: "read: lets the reader append to the same run",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 5), head());
      let count = 0;
      for await (const _ of store.read(runId)) {
        if (count < 5) await store.append(runId, 5 + count, recordsOf(5 + count, 6 + count), head());
        count += 1;
      }
      expectTrue(count >= 5, "a reader sees what was there when it began");
      expectSame(await collect(store.read(runId)), recordsOf(0, 10), "the journal");
    },
  },
  {
    name: "read: sees whole appends only, without gaps, while others append",
    async check({ store, runId, head }) {
      const batches = 60;
      await store.append(runId, 0, recordsOf(0, 3), head());
      let written = 1;
      const writing = (async () => {
        for (; written < batches; written++) {
          await store.append(runId, written * 3, recordsOf(written * 3, written * 3 + 3), head());
        }
      })();
      while (written < batches) {
        const before = written;
        const journal = await collect(store.read(runId));
        expectSame(journal, recordsOf(0, journal.length), "the journal so far");
        expectSame(journal.length % 3, 0, "records of an append that is not whole");
        expectTrue(journal.length >= before * 3, "a reader sees what was there when it began");
      }
      await writing;
      expectSame(await collect(store.read(runId)), recordsOf(0, batches * 3), "the journal in the end");
    },
  },
  {
    name: "read: never finds the head apart from the records",
    async check({ store, runId, head }) {
      const appends = 60;
      let written = 0;
      const writing = (async () => {
        for (; written < appends; written++) {
          const openQuestions = written + 1;
          await store.append(runId, written, recordsOf(written, written + 1), head({ openQuestions }));
        }
      })();
      while (written < appends) {
        const before = (await store.head(runId))?.openQuestions ?? 0;
        const { length } = await collect(store.read(runId));
        const after = (await store.head(runId))?.openQuestions ?? 0;
        expectTrue(
          before <= length && length <= after,
          `head ${before}, records ${length}, head ${after}: in this order`,
        );
      }
      await writing;
    },
  },
  {
    name: "reopen: another handle sees the journal and the head at once",
    needs: "reopen",
    async check({ store, runId, head, reopen }) {
      const other = await reopen();
      for (let seq = 0; seq < 20; seq++) {
        await store.append(runId, seq, recordsOf(seq, seq + 1), head({ openQuestions: seq }));
        expectSame((await other.head(runId))?.openQuestions, seq, "the head through the other handle");
        expectSame(await collect(other.read(runId, seq)), recordsOf(seq, seq + 1), "the tail through the other handle");
      }
      expectSame(await collect((await reopen()).read(runId)), recordsOf(0, 20), "the journal through a third handle");
    },
  },
  {
    name: "reopen: handles append in turns",
    needs: "reopen",
    async check({ store, runId, head, reopen }) {
      const handles = [store, await reopen()];
      for (let seq = 0; seq < 20; seq++) {
        await handles[seq % 2]?.append(runId, seq, recordsOf(seq, seq + 1), head());
      }
      expectSame(await collect(store.read(runId)), recordsOf(0, 20), "the journal");
    },
  },
];
