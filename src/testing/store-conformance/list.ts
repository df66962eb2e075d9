import type { RunFilter, RunHead } from "../../ports/run-store.js";
import { type CaseDefinition, collect, recordOf, recordsOf, type Trial } from "./case.js";
import { expectRejection, expectSame, expectSameHead, expectTrue } from "./expect.js";

/** Runs by the ending of their id, in the order in which they are listed: by age, and by id where two are of an age. */
const sample: Readonly<Record<string, Partial<RunHead>>> = {
  m: { createdAt: "2031-05-01T09:00:00.000Z", status: "completed" },
  k: { createdAt: "2031-05-01T10:00:00.000Z", status: "waiting", openQuestions: 2 },
  z: { createdAt: "2031-05-01T10:00:00.001Z", status: "waiting", wakeAt: "2031-05-03T00:00:00.000Z" },
  a: { createdAt: "2031-05-01T11:00:00.000Z", status: "running" },
  p: { createdAt: "2031-05-02T00:00:00.000Z", status: "failed", phase: "undoing" },
  q: {
    createdAt: "2031-05-02T00:00:00.000Z",
    status: "waiting",
    phase: "undoing",
    openQuestions: 1,
    wakeAt: "2031-05-04T00:00:00.000Z",
  },
  c: { createdAt: "2031-06-01T00:00:00.000Z", status: "cancelled" },
};

const filters: readonly (readonly [what: string, filter: RunFilter, endings: string])[] = [
  ["lists all without a filter", {}, "mkzapqc"],
  ["takes one status", { status: "waiting" }, "kzq"],
  ["takes several statuses", { status: ["completed", "cancelled", "failed"] }, "mpc"],
  ["takes no status at all", { status: [] }, ""],
  ["takes those with open questions", { withOpenQuestions: true }, "kq"],
  ["takes those without open questions too when not asked for them", { withOpenQuestions: false }, "mkzapqc"],
  ["takes those created at a time or after it", { createdFrom: "2031-05-01T10:00:00.001Z" }, "zapqc"],
  ["takes those created before a time", { createdBefore: "2031-05-01T10:00:00.001Z" }, "mk"],
  [
    "takes those created between two times",
    { createdFrom: "2031-05-01T10:00:00.000Z", createdBefore: "2031-05-02T00:00:00.000Z" },
    "kza",
  ],
  ["takes those that wake at a time or before it", { wakeBefore: "2031-05-03T00:00:00.000Z" }, "z"],
  ["takes those that wake, however late", { wakeBefore: "9999-01-01T00:00:00.000Z" }, "zq"],
  ["reads a time with an offset", { createdFrom: "2031-05-01T13:00:00+02:00" }, "apqc"],
  ["reads a date alone", { createdBefore: "2031-05-02" }, "mkza"],
  ["takes at most so many", { limit: 3 }, "mkz"],
  ["takes none with a limit of 0", { limit: 0 }, ""],
  ["counts against the limit only what matches", { status: "waiting", limit: 2 }, "kz"],
  [
    "takes what matches every field",
    {
      status: ["waiting", "failed"],
      withOpenQuestions: true,
      createdFrom: "2031-05-02T00:00:00.000Z",
      wakeBefore: "2031-05-05",
      limit: 5,
    },
    "q",
  ],
];

const afters: readonly (readonly [after: string, filter: RunFilter, endings: string])[] = [
  ["m", {}, "kzapqc"],
  ["p", {}, "qc"],
  ["c", {}, ""],
  ["k", { limit: 2 }, "za"],
  ["a", { status: "waiting" }, "q"],
];

const refused: readonly RunFilter[] = [
  { createdFrom: "yesterday" },
  { createdBefore: "" },
  { wakeBefore: "2031-13-01T00:00:00.000Z" },
  { limit: -1 },
  { limit: Number.NaN },
];

export const listCases: readonly CaseDefinition[] = [
  ...filters.map(
    ([what, filter, endings]) =>
      ({
        name: `list: ${what}`,
        async check(trial) {
          await beginSample(trial);
          expectSame(await endingsOf(trial, filter), endings, "the runs");
        },
      }) satisfies CaseDefinition,
  ),
  {
    name: "list: tells workflows apart by their exact names",
    async check({ store, runId, head, begin }) {
      const { workflow } = await begin();
      const others = [`${workflow}_`, `${workflow}x`, workflow.toUpperCase(), workflow.replaceAll("_", "-")];
      for (const [index, name] of others.entries()) await begin({ runId: `${runId}-${index}`, workflow: name });
      const heads = await collect(store.list({ workflow }));
      expectSame(heads.length, 1, "the number of runs of the workflow");
      expectSameHead(heads[0], head(), "the head");
    },
  },
  {
    name: "list: without a workflow lists the runs of all",
    async check({ store, runId, begin }) {
      const createdAt = "2031-07-07T07:07:07.007Z";
      await begin({ createdAt });
      await begin({ createdAt, runId: `${runId}-other`, workflow: `other_${runId}` });
      const heads = await collect(store.list({ createdFrom: createdAt, createdBefore: "2031-07-07T07:07:07.008Z" }));
      const found = heads.map((each) => each.runId).filter((id) => id.startsWith(runId));
      expectSame(found, [runId, `${runId}-other`], "the runs of this case");
    },
  },
  {
    name: "list: gives whole heads",
    async check(trial) {
      await beginSample(trial);
      for await (const listed of trial.store.list({ workflow: trial.head().workflow })) {
        expectSameHead(listed, sampleHead(trial, listed.runId.slice(-1)), `the head of ${listed.runId}`);
      }
    },
  },
  {
    name: "list: follows the head",
    async check({ store, runId, head, begin, listed }) {
      await begin({ status: "waiting", openQuestions: 1, wakeAt: "2031-05-01T10:30:00.000Z" });
      expectSame(await listed({ withOpenQuestions: true }), [runId], "the run that asks");
      await store.append(runId, 1, [recordOf("answered")], head({ status: "completed" }));
      expectSame(await listed({ status: "waiting" }), [], "the runs that wait");
      expectSame(await listed({ withOpenQuestions: true }), [], "the runs that ask");
      expectSame(await listed({ wakeBefore: "9999-01-01" }), [], "the runs that wake");
      expectSame(await listed({ status: "completed" }), [runId], "the runs that are done");
    },
  },
  ...afters.map(
    ([after, filter, endings]) =>
      ({
        name: `list: goes on after ${after} with ${JSON.stringify(filter)}`,
        async check(trial) {
          await beginSample(trial);
          expectSame(await endingsOf(trial, { ...filter, after: idOf(trial, after) }), endings, "the runs");
        },
      }) satisfies CaseDefinition,
  ),
  {
    name: "list: page after page gives every run once",
    async check(trial) {
      const ids = await beginMany(trial, 25);
      const pages: string[] = [];
      for (let page = ["first"]; page.length > 0; pages.push(...page)) {
        page = await trial.listed({ limit: 4, after: pages.at(-1) });
      }
      expectSame(pages, ids, "the runs");
    },
  },
  {
    name: "list: refuses to go on after a run that is not there",
    async check({ runId, listed }) {
      await expectRejection(listed({ after: `${runId}-unknown` }), "after an unknown run");
    },
  },
  {
    name: "list: lists more runs than it is likely to fetch at once",
    async check(trial) {
      const ids = await beginMany(trial, 210);
      expectSame(await trial.listed(), ids, "the runs");
    },
  },
  {
    name: "list: lists each run once though others come and go",
    async check(trial) {
      const { store, runId, head, begin } = trial;
      const ids = await beginMany(trial, 205);
      const seen: string[] = [];
      for await (const listed of store.list({ workflow: head().workflow })) {
        seen.push(listed.runId);
        await store.delete(listed.runId);
        if (seen.length < 3)
          await begin({ runId: `${runId}-early-${seen.length}`, createdAt: "2030-01-01T00:00:00.000Z" });
      }
      expectSame(seen, ids, "the runs that were there from the beginning");
    },
  },
  {
    name: "list: may be left before its end",
    async check(trial) {
      const ids = await beginMany(trial, 30);
      for (let round = 0; round < 20; round++) {
        for await (const listed of trial.store.list({ workflow: trial.head().workflow })) {
          expectSame(listed.runId, ids[0], "the first run");
          break;
        }
      }
      expectTrue((await trial.listed()).length === ids.length, "all are still listed");
    },
  },
  ...refused.map(
    (filter) =>
      ({
        name: `list: refuses ${Object.entries(filter).map(([key, value]) => `${key} ${value}`)}`,
        async check({ listed }) {
          await expectRejection(listed(filter), "the list");
        },
      }) satisfies CaseDefinition,
  ),
];

function idOf({ runId }: Trial, ending: string): string {
  return `${runId}-${ending}`;
}

function sampleHead(trial: Trial, ending: string): RunHead {
  return trial.head({ runId: idOf(trial, ending), ...sample[ending] });
}

/** Begun in an order that is not that of the list. */
async function beginSample(trial: Trial): Promise<void> {
  for (const ending of "cqmpkza") await trial.begin(sampleHead(trial, ending));
}

async function endingsOf(trial: Trial, filter: RunFilter): Promise<string> {
  return (await trial.listed(filter)).map((id) => id.slice(-1)).join("");
}

/** Runs of which three at a time are of an age, and whose ids else run against it; the ids as they are listed. */
async function beginMany(trial: Trial, count: number): Promise<string[]> {
  const heads = Array.from({ length: count }, (_, index) => {
    const age = Math.floor(index / 3);
    const createdAt = new Date(Date.UTC(2031, 4, 1) + age).toISOString();
    return trial.head({ runId: idOf(trial, `${1_000 - age}-${index % 3}`), createdAt });
  });
  await Promise.all([...heads].reverse().map((each) => trial.store.append(each.runId, 0, recordsOf(0, 1), each)));
  return heads.map((each) => each.runId);
}
