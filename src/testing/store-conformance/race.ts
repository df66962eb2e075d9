import type { RunHead, RunStore } from "../../ports/run-store.js";
import { type CaseDefinition, collect, recordOf, recordsOf } from "./case.js";
import { expectSame, expectSameHead, expectTrue, isConflict, winnersOf } from "./expect.js";

const rivals = 20;

export const raceCases: readonly CaseDefinition[] = [
  {
    name: "race: of those who begin a run one wins",
    async check({ store, runId, head }) {
      await expectOneWinner(runId, 0, rivalsOf([store], head()), store);
    },
  },
  {
    name: "race: of those who append behind the same record one wins",
    async check({ store, runId, head }) {
      await store.append(runId, 0, recordsOf(0, 3), head());
      await expectOneWinner(runId, 3, rivalsOf([store], head()), store);
    },
  },
  {
    name: "race: of those who begin a run through two handles one wins",
    needs: "reopen",
    async check({ store, runId, head, reopen }) {
      await expectOneWinner(runId, 0, rivalsOf([store, await reopen()], head()), store);
    },
  },
  {
    name: "race: of those who append through two handles one wins",
    needs: "reopen",
    async check({ store, runId, head, reopen }) {
      await store.append(runId, 0, recordsOf(0, 3), head());
      await expectOneWinner(runId, 3, rivalsOf([await reopen(), store], head()), store);
    },
  },
  {
    name: "race: those who try again all get in, each once",
    async check({ store, runId, head }) {
      await expectAllGetIn(runId, rivalsOf([store], head()), store);
    },
  },
  {
    name: "race: those who try again through two handles all get in, each once",
    needs: "reopen",
    async check({ store, runId, head, reopen }) {
      await expectAllGetIn(runId, rivalsOf([store, await reopen()], head()), store);
    },
  },
  {
    name: "race: runs of their own do not get in each other's way",
    async check({ store, runId, head }) {
      const heads = Array.from({ length: rivals }, (_, index) => head({ runId: `${runId}-${index}` }));
      await Promise.all(
        heads.map(async (each, index) => {
          await store.append(each.runId, 0, recordsOf(index, index + 2), each);
          await store.append(each.runId, 2, recordsOf(index + 2, index + 3), each);
        }),
      );
      for (const [index, each] of heads.entries()) {
        expectSame(await collect(store.read(each.runId)), recordsOf(index, index + 3), `journal ${index}`);
      }
    },
  },
];

interface Rival {
  readonly store: RunStore;
  readonly head: RunHead;
  readonly records: ReturnType<typeof recordsOf>;
}

/** Rivals whose batches are of different sizes, and whose heads tell them apart. */
function rivalsOf(stores: readonly RunStore[], head: RunHead): Rival[] {
  return Array.from({ length: rivals }, (_, index) => ({
    store: stores[index % stores.length] as RunStore,
    head: { ...head, openQuestions: index },
    records: Array.from({ length: 1 + (index % 3) }, (_, place) => recordOf({ rival: index, place })),
  }));
}

async function expectOneWinner(runId: string, seq: number, all: readonly Rival[], reader: RunStore): Promise<void> {
  const winners = await winnersOf(all.map(({ store, records, head }) => store.append(runId, seq, records, head)));
  expectSame(winners.length, 1, "the number of winners");
  const winner = all[winners[0] ?? 0];
  expectSame(await collect(reader.read(runId, seq)), winner?.records, "the journal from the contested record on");
  expectSameHead(await reader.head(runId), winner?.head ?? {}, "the head");
}

async function expectAllGetIn(runId: string, all: readonly Rival[], reader: RunStore): Promise<void> {
  await Promise.all(all.map((rival) => appendUntilIn(runId, rival)));
  const journal = (await collect(reader.read(runId))).map((record) => JSON.stringify(record));
  const expected = all.flatMap(({ records }) => records.map((record) => JSON.stringify(record)));
  expectSame([...journal].sort(), [...expected].sort(), "the records, in whatever order");
  for (const { records } of all) {
    const places = records.map((record) => journal.indexOf(JSON.stringify(record)));
    const [first = 0] = places;
    expectTrue(
      places.every((place, index) => place === first + index),
      "the records of one append stand together",
    );
  }
}

async function appendUntilIn(runId: string, { store, records, head }: Rival): Promise<void> {
  for (;;) {
    const seq = (await collect(store.read(runId))).length;
    try {
      return await store.append(runId, seq, records, head);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}
