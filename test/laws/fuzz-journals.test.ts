import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { errorFromJson } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { auditLog } from "../../src/driver/audit-log.js";
import { inspectRun } from "../../src/driver/inspect-run.js";
import { listQuestions } from "../../src/driver/list-questions.js";
import { listWrites } from "../../src/driver/list-writes.js";
import { runToEnd } from "../../src/driver/run.js";
import type { RunHead, RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { foreign, mutated, oddJson, settle, settleLate, tries } from "./hostile.js";
import { samples } from "./samples.js";
import { Life, World } from "./world.js";

/** Law: whatever a store gives as a journal, the run is read from it, or it is refused as no journal. */

interface Stored {
  readonly journal: readonly JsonValue[];
  readonly head: RunHead;
}

const stored: Stored[] = [];

beforeAll(async () => {
  for (const { name, workflow, workflows, input } of samples) {
    for (const asks of [false, true]) {
      const store = memoryStore();
      const runId = `${name}-${asks}`;
      const policy = () => (asks ? ("ask" as const) : ("approve" as const));
      const given = {
        store,
        runId,
        workflows,
        input,
        policy,
        tools: new World().tools(new Life()),
        clock: fakeClock(),
      };
      await runToEnd(workflow, given).catch(() => undefined);
      const journal: JsonValue[] = [];
      for await (const record of store.read(runId)) journal.push(JSON.parse(JSON.stringify(record)));
      const head = await store.head(runId);
      if (head !== undefined) stored.push({ journal, head });
    }
  }
});

/** A store that holds this one run, of which nothing is written. */
function storeOf(journal: readonly JsonValue[], head: RunHead): RunStore {
  return {
    ...memoryStore(),
    head: async () => head,
    async *read(_runId, fromSeq = 0) {
      yield* JSON.parse(JSON.stringify(journal.slice(fromSeq)));
    },
    async *list() {
      yield head;
    },
    append: async () => undefined,
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function readEverything(journal: readonly JsonValue[], head: RunHead): Promise<void> {
  const store = storeOf(journal, head);
  const { runId } = head;
  const question = head.openQuestions.toString();
  const outcomes = [
    await settleLate(() => inspectRun(store, runId)),
    await settleLate(() => all(auditLog(store))),
    await settleLate(() => all(listQuestions(store))),
    await settleLate(() => all(listWrites(store, runId))),
    await settleLate(() => answerQuestion(store, runId, question, { decision: "approve" }, { clock: fakeClock() })),
  ];
  for (const outcome of outcomes) {
    if (typeof outcome === "string")
      expect(outcome).toMatch(/^(INVALID_JOURNAL|UNKNOWN_RUN|UNKNOWN_QUESTION|RUN_ENDED)$/);
  }
}

describe("a journal", { timeout: 60_000 }, () => {
  it("as it was written is read", async () => {
    for (const { journal, head } of stored) {
      expect(await inspectRun(storeOf(journal, head), head.runId)).toMatchObject({ status: head.status });
    }
  });

  it("that is nearly one is read, or refused", async () => {
    const journals = stored.map(({ journal }) => journal);
    const heads = new Map(stored.map(({ journal, head }) => [JSON.stringify(journal[0]), head]));
    const [{ head: other } = { head: undefined }] = stored;
    await fc.assert(
      fc.asyncProperty(mutated(journals), async (journal) => {
        if (!Array.isArray(journal)) return;
        const head = heads.get(JSON.stringify(journal[0])) ?? other;
        if (head !== undefined) await readEverything(journal, head);
      }),
      tries(150),
    );
  });

  it("whose records are lost, doubled or out of order is read, or refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...stored), fc.infiniteStream(fc.nat(9)), async ({ journal, head }, dice) => {
        const drawn = journal.flatMap((record) => {
          const { value } = dice.next();
          return value === 0 ? [] : value === 1 ? [record, record] : [record];
        });
        await readEverything(drawn, head);
      }),
      tries(50),
    );
  });
});

describe("an error", () => {
  it("is made of its data, and is that data again", () => {
    fc.assert(
      fc.property(oddJson, fc.string(), (value, message) => {
        const data = { code: "TOOL_FAILED", message, path: "a", details: { value }, cause: { message } } as const;
        const error = settle(() => errorFromJson(data));
        expect(JSON.parse(JSON.stringify(error))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
      tries(100),
    );
  });

  it("can be made of anything, without a fault of its own", () => {
    fc.assert(
      fc.property(foreign, (make) => {
        settle(() =>
          JSON.stringify(errorFromJson({ code: "TOOL_FAILED", message: "m", ...{ cause: make() as never } })),
        );
      }),
      tries(100),
    );
  });
});
