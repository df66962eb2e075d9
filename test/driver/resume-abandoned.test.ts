import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, describe, expect, it } from "vitest";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import { type ResumeAbandonedOptions, type ResumedRun, resumeAbandoned } from "../../src/driver/resume-abandoned.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { approveAll, deferred, flow, journalOf, options, read, rejection, settled, until, write } from "./harness.js";

const two = flow(
  [
    { id: "look", tool: "look" },
    { id: "put", tool: "put" },
  ],
  { name: "two" },
);

const folder = mkdtempSync(join(tmpdir(), "toolweave-resume-"));
const file = join(folder, "runs.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function resumed(store: RunStore, given: Partial<ResumeAbandonedOptions> = {}): Promise<ResumedRun[]> {
  const runs: ResumedRun[] = [];
  for await (const run of resumeAbandoned(store, { policy: approveAll, clock: fakeClock(), tools: [], ...given })) {
    runs.push(run);
  }
  return runs;
}

/** Starts runs, and leaves each after its first step. */
async function leave(store: RunStore, ids: readonly string[], tools = [read("look"), write("put")]): Promise<void> {
  for (const runId of ids) {
    const stream = runWorkflow(two, options({ store, runId, tools }));
    await until(stream, (event) => event.type === "step" && event.status === "completed");
    await stream.return();
  }
}

/** How a run came out: `"run-1 completed"`, `"run-2 CODE_REQUIRED"`. */
function labelOf(run: ResumedRun): string {
  return `${run.runId} ${"result" in run ? run.result.status : run.error.code}`;
}

describe("runs whose driver is gone", () => {
  it("are carried on to their end", async () => {
    const store = memoryStore();
    const put = write("put");
    await leave(store, ["run-1", "run-2"]);
    const runs = await resumed(store, { tools: [read("look"), put] });
    expect(runs.map(labelOf).sort()).toEqual(["run-1 completed", "run-2 completed"]);
    expect(runs[0]).toMatchObject({ workflow: "two", result: { output: { id: 7 } } });
    expect(put.calls).toHaveLength(2);
    expect(await resumed(store, { tools: [read("look"), put] })).toEqual([]);
  });

  it("are told of, also where all have ended before the store has listed its last", async () => {
    const store = memoryStore();
    await leave(store, ["run-1"]);
    const slow: RunStore = {
      ...store,
      async *list(filter) {
        yield* store.list(filter);
        await settled();
      },
    };
    const runs = await resumed(slow, { tools: [read("look"), write("put")] });
    expect(runs.map(labelOf)).toEqual(["run-1 completed"]);
  });

  it.each([
    ["one store", () => [memoryStore()]],
    ["connections to one file", () => Array.from({ length: 3 }, () => sqliteStore(new Database(file)))],
  ])("are driven once, whoever looks for them at the same time, over %s", async (_name, open) => {
    const stores = open();
    const [store = memoryStore()] = stores;
    const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`);
    const put = write("put");
    await leave(store, ids);
    const tools = [read("look"), put];
    const all = await Promise.all(
      [1, 3, 8].map((maxConcurrent, index) => resumed(stores[index] ?? store, { tools, maxConcurrent })),
    );
    expect(all.flat().map(labelOf).sort()).toEqual(ids.map((id) => `${id} completed`).sort());
    expect(put.calls).toHaveLength(ids.length);
  });

  it("are carried on after a crash, with the write that was in flight in doubt", async () => {
    const store = memoryStore();
    const hanging = write("put", [() => new Promise(() => {})]);
    // Its process ended in the middle of the write: nothing was released or told, and the lease has run out since.
    const stream = runWorkflow(two, options({ store, tools: [read("look"), hanging] }));
    await until(stream, (event) => event.type === "step" && event.path === "put");
    const crashed: RunStore = { ...store, lease: memoryStore().lease };
    const runs = await resumed(crashed, { tools: [read("look"), write("put", ["again"], { idempotent: false })] });
    expect(runs).toMatchObject([{ result: { status: "waiting", questions: [{ kind: "in_doubt" }] } }]);
    await stream.return().catch(() => undefined);
  });
});

describe("runs that are passed over", () => {
  it("are those that are driven", async () => {
    const store = memoryStore();
    const { promise, resolve } = deferred();
    const slow = read("look", [() => promise]);
    const driven = runToEnd(two, options({ store, tools: [slow, write("put")] }));
    await settled();
    expect(await resumed(store, { tools: [read("look"), write("put")] })).toEqual([]);
    resolve("late");
    expect(await driven).toMatchObject({ status: "completed" });
  });

  it("are those that wait for a person, until they are answered or cancelled", async () => {
    const store = memoryStore();
    const tools = [read("look"), write("put")];
    await runToEnd(two, options({ store, runId: "run-1", tools, policy: undefined }));
    await runToEnd(two, options({ store, runId: "run-2", tools, policy: undefined }));
    const { length } = await journalOf(store);
    expect(await resumed(store, { tools })).toEqual([]);
    expect(await journalOf(store)).toHaveLength(length);
    await answerQuestion(store, "run-1", "put?1", { decision: "approve" });
    await cancelRun(store, "run-2");
    expect((await resumed(store, { tools })).map(labelOf).sort()).toEqual(["run-1 completed", "run-2 cancelled"]);
  });

  it("are those that sleep, until it is time", async () => {
    const store = memoryStore();
    const clock = fakeClock({ auto: false });
    const nap = flow([{ id: "nap", sleep_ms: 60_000 }], { name: "nap" });
    const stop = new AbortController();
    const napping = runToEnd(nap, { tools: [], store, clock, runId: "run-1", stop: stop.signal });
    await settled();
    stop.abort();
    expect(await napping).toMatchObject({ status: "waiting" });
    const { length } = await journalOf(store);
    expect(await resumed(store, { clock })).toEqual([]);
    expect(await journalOf(store)).toHaveLength(length);
    await clock.advance(60_000);
    expect((await resumed(store, { clock })).map(labelOf)).toEqual(["run-1 completed"]);
  });

  it("are those whose question is open, until it expires", async () => {
    const store = memoryStore();
    const clock = fakeClock({ auto: false });
    const ask = flow([{ id: "ask", ask: { prompt: "Which?", expires_after_ms: 5_000, default: "none" } }], {
      name: "ask",
    });
    await runToEnd(ask, { tools: [], store, clock, runId: "run-1" });
    expect(await resumed(store, { clock })).toEqual([]);
    await clock.advance(5_000);
    expect(await resumed(store, { clock })).toMatchObject([{ result: { status: "completed", output: "none" } }]);
  });

  it("are those of other workflows, where one is named", async () => {
    const store = memoryStore();
    await leave(store, ["run-1"]);
    const tools = [read("look"), write("put")];
    expect(await resumed(store, { tools, workflow: "three" })).toEqual([]);
    expect(await resumed(store, { tools, workflow: "two" })).toHaveLength(1);
  });
});

describe("a run that can't be carried on", () => {
  const coded = flow(
    [
      { id: "look", tool: "look" },
      { id: "sum", run: () => 3 },
    ],
    { name: "coded" },
  );

  async function leaveCoded(store: RunStore): Promise<void> {
    const stream = runWorkflow(coded, options({ store, runId: "run-0", tools: read("look") }));
    await until(stream, (event) => event.type === "step" && event.status === "completed");
    await stream.return();
  }

  it("says that its code is missing, is left as it is, and keeps no other run", async () => {
    const store = memoryStore();
    await leaveCoded(store);
    await leave(store, ["run-1"]);
    const { length } = await journalOf(store, "run-0");
    const tools = [read("look"), write("put")];
    expect((await resumed(store, { tools })).map(labelOf).sort()).toEqual(["run-0 CODE_REQUIRED", "run-1 completed"]);
    expect(await journalOf(store, "run-0")).toHaveLength(length);
    expect((await resumed(store, { tools, workflows: coded })).map(labelOf)).toEqual(["run-0 completed"]);
  });

  it("gives its error", async () => {
    const store = memoryStore();
    await leave(store, ["run-1"]);
    const away = { list: () => Promise.reject(new Error("no route")), call: () => Promise.resolve() };
    expect(await resumed(store, { tools: away })).toMatchObject([{ runId: "run-1", error: { code: "TOOL_FAILED" } }]);
    expect((await resumed(store, { tools: [read("look"), write("put")] })).map(labelOf)).toEqual(["run-1 completed"]);
  });
});

describe("while runs are driven", () => {
  it("no more than maxConcurrent are", async () => {
    const store = memoryStore();
    await leave(store, ["run-1", "run-2", "run-3", "run-4", "run-5"]);
    let now = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++now);
      await settled();
      now--;
    };
    await resumed(store, { tools: [read("look"), write("put", [slow])], maxConcurrent: 2 });
    expect(most).toBe(2);
  });

  it("leaving the loop stops them, and they stay resumable", async () => {
    const store = memoryStore();
    await leave(store, ["run-1", "run-2"]);
    const put = write("put", [
      "done",
      (_inputs, { signal }) => new Promise((_, no) => signal.addEventListener("abort", no)),
    ]);
    const given = { policy: approveAll, clock: fakeClock(), maxConcurrent: 2, tools: [read("look"), put] };
    for await (const run of resumeAbandoned(store, given)) {
      expect(labelOf(run)).toBe("run-1 completed");
      break;
    }
    expect(put.calls).toHaveLength(2);
    expect(await store.head("run-2")).toMatchObject({ status: "running" });
    const runs = await resumed(store, { tools: [read("look"), put] });
    expect(runs).toMatchObject([{ runId: "run-2", result: { status: "waiting", questions: [{ kind: "in_doubt" }] } }]);
  });

  it("stop ends it: nothing more is taken", async () => {
    const store = memoryStore();
    await leave(store, ["run-1", "run-2"]);
    const stop = AbortSignal.abort();
    const put = write("put");
    expect(await resumed(store, { tools: [read("look"), put], stop })).toEqual([]);
    expect(put.calls).toEqual([]);
  });
});

describe("what makes no sense is refused", () => {
  it("a store that has no leases", async () => {
    const { lease: _, ...store } = memoryStore();
    expect(await rejection(resumed(store))).toMatchObject({ code: "INVALID_OPTIONS" });
  });

  it.each([0, Number.NaN])("maxConcurrent of %d", async (maxConcurrent) => {
    expect(await rejection(resumed(memoryStore(), { maxConcurrent }))).toMatchObject({ code: "INVALID_OPTIONS" });
  });
});
