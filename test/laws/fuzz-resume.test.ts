import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { deepFreeze } from "../../src/core/freeze.js";
import type { JournalRecord } from "../../src/core/record.js";
import { resumeRun, runToEnd } from "../../src/driver/run.js";
import type { RunHead } from "../../src/ports/run-store.js";
import type { Tool } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { settleLate, tries } from "./hostile.js";
import { approveAll } from "./person.js";
import type { Sample } from "./sample.js";
import { samples } from "./samples.js";
import { Life, World } from "./world.js";

/**
 * Law: a run is carried on from any prefix of its journal, and no write is called again that the prefix says is done. One
 * whose journal was damaged is carried on, or refused by an error of ours; where a record was lost, nothing that the
 * others say is done is called again.
 */

interface Stored {
  readonly sample: Sample;
  readonly records: readonly JournalRecord[];
  readonly head: RunHead;
}

const stored: Stored[] = [];

beforeAll(async () => {
  // What hangs without its deadline never comes back.
  const those = samples.filter(
    ({ workflow, workflows }) => !/"(hang|late)"/.test(JSON.stringify([workflow, workflows])),
  );
  for (const sample of those) {
    const { name: runId, workflow, workflows, input } = sample;
    const store = memoryStore();
    const tools = new World().tools(new Life());
    await runToEnd(workflow, { store, runId, workflows, input, tools, policy: approveAll, clock: fakeClock() });
    const records: JournalRecord[] = [];
    for await (const record of store.read(runId)) records.push(record);
    const head = await store.head(runId);
    if (head !== undefined) stored.push({ sample, records, head });
  }
});

interface Damage {
  readonly how: "drop" | "double" | "swap";
  readonly at: number;
  readonly to: number;
}

const damages: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({ how: fc.constantFrom("drop", "double", "swap"), at: fc.nat(), to: fc.nat() }),
  { minLength: 1, maxLength: 3 },
);

function damaged(records: readonly JournalRecord[], { how, at, to }: Damage): readonly JournalRecord[] {
  const list = [...records];
  const place = at % list.length;
  const other = to % list.length;
  const [one, two] = [list[place], list[other]];
  if (one === undefined || two === undefined) return list;
  if (how === "drop") list.splice(place, 1);
  else if (how === "double") list.splice(other, 0, one);
  else [list[place], list[other]] = [two, one];
  return list;
}

/** The prefix of this length without the record at this place, which is not the first. */
function gapped(records: readonly JournalRecord[], length: number, place: number): readonly JournalRecord[] {
  const begun = records.slice(0, 2 + (length % (records.length - 1)));
  return begun.toSpliced(1 + (place % (begun.length - 1)), 1);
}

/** Carries on the run of a journal, and says which writes were called. */
async function carryOn({ sample, head }: Stored, journal: readonly JournalRecord[]): Promise<string[]> {
  if (journal.length === 0) return [];
  const store = memoryStore();
  await store.append(head.runId, 0, deepFreeze(journal), { ...head, status: "running" });
  const called: string[] = [];
  const tools = new World().tools(new Life()).map(
    (tool): Tool => ({
      ...tool,
      execute(inputs, context) {
        if (tool.effect !== "read") called.push(context.path);
        return tool.execute(inputs, context);
      },
    }),
  );
  const { workflows } = sample;
  const options = { tools, workflows, policy: approveAll, clock: fakeClock(), takeOver: true };
  const outcome = await settleLate(async () => {
    const stream = resumeRun(store, head.runId, options);
    for (;;) {
      const { done, value } = await stream.next();
      if (done) return value;
    }
  });
  if (typeof outcome === "object") {
    expect(outcome.status).toMatch(/^(completed|failed|cancelled|waiting)$/);
    expect(JSON.parse(JSON.stringify(outcome))).toMatchObject({ runId: head.runId, writes: expect.any(Array) });
  } else {
    expect(outcome).toMatch(/^(INVALID_JOURNAL|UNKNOWN_RUN|CODE_REQUIRED|INVALID_DEFINITION)$/);
  }
  return called;
}

async function holds(given: Stored, journal: readonly JournalRecord[]): Promise<void> {
  const done = new Set(journal.flatMap((record) => (record.kind === "completed" ? [record.path] : [])));
  const called = await carryOn(given, journal);
  expect(called.filter((path) => done.has(path))).toEqual([]);
}

describe("a journal that is carried on", { timeout: 120_000 }, () => {
  it("may end anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), (which, length) => {
        const given = stored[which % stored.length];
        return given && holds(given, given.records.slice(0, 1 + (length % given.records.length)));
      }),
      tries(100),
    );
  });

  it("may have lost a record", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), (which, length, place) => {
        const given = stored[which % stored.length];
        return given && holds(given, gapped(given.records, length, place));
      }),
      tries(200),
    );
  });

  it("may have lost several, or have them twice, or in another order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), damages, async (which, length, list) => {
        const given = stored[which % stored.length];
        if (given === undefined) return;
        const begun = given.records.slice(0, 1 + (length % given.records.length));
        await carryOn(given, list.reduce(damaged, begun));
      }),
      tries(200),
    );
  });
});
