import { type CaseDefinition, collect, recordsOf } from "./case.js";
import { expectConflict, expectSame, expectSameHead, expectTrue } from "./expect.js";

export const deleteCases: readonly CaseDefinition[] = [
  {
    name: "delete: removes the journal and the head",
    async check({ store, runId, head, listed }) {
      await store.append(runId, 0, recordsOf(0, 700), head());
      await store.delete(runId);
      expectSame(await store.head(runId), undefined, "the head");
      expectSame(await collect(store.read(runId)), [], "the journal");
      expectSame(await listed(), [], "the list");
    },
  },
  {
    name: "delete: leaves other runs alone",
    async check({ store, runId, begin, listed }) {
      await begin();
      const neighbours = [await begin({ runId: `${runId}-` }), await begin({ runId: runId.slice(0, -1) })];
      await store.delete(runId);
      expectSame((await listed()).sort(), neighbours.map((each) => each.runId).sort(), "the list");
      for (const each of neighbours) {
        expectSameHead(await store.head(each.runId), each, "the head of another run");
        expectSame((await collect(store.read(each.runId))).length, 1, "the records of another run");
      }
    },
  },
  {
    name: "delete: of an unknown run does nothing",
    async check({ store, runId }) {
      await store.delete(runId);
      await store.delete(runId);
    },
  },
  {
    name: "delete: lets a run of that id begin anew",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 5), head({ status: "failed" }));
      await store.delete(runId);
      await expectConflict(store.append(runId, 5, recordsOf(5, 6), head()), "an append behind what was deleted");
      await store.append(runId, 0, recordsOf(10, 12), head());
      expectSame(await collect(store.read(runId)), recordsOf(10, 12), "the journal");
      expectSameHead(await store.head(runId), head(), "the head");
    },
  },
  {
    name: "delete: gives a reader that is at it no other journal than the one it began",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 2_000), head());
      let seq = 0;
      for await (const record of store.read(runId)) {
        expectSame(record, recordsOf(seq, seq + 1)[0], `record ${seq}`);
        if (seq === 0) await store.delete(runId);
        seq += 1;
      }
    },
  },
  {
    name: "delete: ends the lease",
    needs: "lease",
    async check({ store, runId, lease, begin }) {
      await begin();
      await lease.claim(runId, "ada", 60_000);
      await store.delete(runId);
      expectTrue(!(await lease.renew(runId, "ada", 60_000)), "a lease of a run that was deleted can't be renewed");
      expectTrue(await lease.claim(runId, "bea", 60_000), "another may claim the run");
    },
  },
  {
    name: "delete: is seen through another handle",
    needs: "reopen",
    async check({ store, runId, begin, reopen }) {
      const other = await reopen();
      await begin();
      await other.delete(runId);
      expectSame(await store.head(runId), undefined, "the head");
      expectSame(await collect(store.read(runId)), [], "the journal");
      await begin();
      expectSame((await other.head(runId))?.runId, runId, "the head of the new run, through the other handle");
    },
  },
];
