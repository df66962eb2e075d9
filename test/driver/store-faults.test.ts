import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConflictError, ToolweaveError } from "../../src/core/errors.js";
import type { JournalRecord } from "../../src/core/record.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { reachStore } from "../../src/driver/journal.js";
import { runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  drain,
  flow,
  journalOf,
  labelOf,
  options,
  read,
  rejection,
  resume,
  run,
  untilQuestion,
  write,
} from "./harness.js";

const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const down = () => Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });

type Fault = (records: readonly JournalRecord[], store: () => Promise<void>) => Promise<void>;

/** A store whose appends go through a fault. */
function faulty(fault: Fault): { plain: RunStore; store: RunStore } {
  const plain = memoryStore();
  const store: RunStore = {
    ...plain,
    append: (runId, seq, records, head) => fault(records, () => plain.append(runId, seq, records, head)),
  };
  return { plain, store };
}

/** Fails so many appends of a kind of record. */
function failing(kind: JournalRecord["kind"], times: number, { after = false } = {}): ReturnType<typeof faulty> {
  let left = times;
  return faulty(async (records, store) => {
    if (left > 0 && records.some((record) => record.kind === kind)) {
      left--;
      if (after) await store();
      throw down();
    }
    await store();
  });
}

// The tries of a store wait in real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true, advanceTimeDelta: 5 });
  vi.setTimerTickMode?.("nextTimerAsync");
});
afterEach(() => {
  vi.useRealTimers();
});

/** How often an append is tried before the store is out of reach. */
const outage = 5;

const kinds = ["run_started", "write_intended", "completed"] as const;

describe("a store that fails for a moment", () => {
  it.each(kinds)("is tried again, at %s: nothing is lost, and nothing done twice", async (kind) => {
    const { store, plain } = failing(kind, 3);
    const pay = write("pay");
    const { result } = await run(flow([step("pay", "pay")]), { store, tools: pay });
    expect(result.status).toBe("completed");
    expect(pay.calls).toHaveLength(1);
    expect((await journalOf(plain)).map((record) => record.kind)).toEqual([
      "run_started",
      "write_intended",
      "completed",
      "run_ended",
    ]);
  });

  it.each(kinds)("after it stored %s, but lost the reply, is found to have it", async (kind) => {
    const { store, plain } = failing(kind, 1, { after: true });
    const pay = write("pay");
    const { result } = await run(flow([step("pay", "pay")]), { store, tools: pay });
    expect(result.status).toBe("completed");
    expect(pay.calls).toHaveLength(1);
    expect(await journalOf(plain)).toHaveLength(4);
  });

  it("and then says what is wrong without a promise is not tried again", async () => {
    let tries = 0;
    const append = () => {
      tries++;
      throw tries === 1 ? down() : new ConflictError("a", 0);
    };
    expect(await rejection(reachStore("a", append))).toMatchObject({ code: "STORE_CONFLICT" });
    expect(tries).toBe(2);
  });

  it("is also read again", async () => {
    const plain = memoryStore();
    await drain(runWorkflow(flow([{ id: "ask", ask: { prompt: "?" } }]), options({ store: plain })));
    let reads = 0;
    const store: RunStore = {
      ...plain,
      async *read(...args) {
        if (++reads % 2 === 1) throw down();
        yield* plain.read(...args);
      },
    };
    expect((await drain(resume(store))).labels).toEqual(["ask?1 input", "result waiting"]);
  });
});

describe("a store that stays out of reach", () => {
  it("at the start is STORE_UNAVAILABLE, and the run can be started later", async () => {
    const { store, plain } = failing("run_started", outage);
    const pay = write("pay");
    const given = options({ store, tools: pay });
    const error = await rejection(runWorkflow(flow([step("pay", "pay")]), given).next());
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
    expect(await journalOf(plain)).toEqual([]);
    expect((await drain(runWorkflow(flow([step("pay", "pay")]), given))).result.status).toBe("completed");
  });

  it("before an intent makes no call, and does not fail the run", async () => {
    const { store, plain } = failing("write_intended", outage);
    const pay = write("pay");
    const stream = runWorkflow(flow([step("pay", "pay")]), options({ store, tools: pay }));
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE", details: { unrecorded: [] } });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(pay.calls).toEqual([]);
    expect((await drain(resume(plain, { tools: pay }))).result.status).toBe("completed");
    expect(pay.calls).toHaveLength(1);
  });

  it("behind a write tells of the outcome that could not be recorded; the write is in doubt for the next driver", async () => {
    const { store, plain } = failing("completed", outage);
    const pay = write("pay", [{ id: 9 }]);
    const stream = runWorkflow(flow([step("pay", "pay")]), options({ store, tools: pay }));
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const event of stream) seen.push(labelOf(event));
      })(),
    );
    expect(seen).toEqual(["pay started"]);
    expect(error).toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { unrecorded: [{ path: "pay", attempt: 1, outcome: { kind: "returned", result: { id: 9 } } }] },
    });
    expect((await drain(resume(plain, { tools: pay }))).labels).toEqual(["pay?1 in_doubt", "result waiting"]);
  });

  it("behind a read has it made again", async () => {
    const { store, plain } = failing("completed", outage);
    const look = read("look", ["first", "second"]);
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: look }));
    await stream.next();
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE", details: { unrecorded: [] } });
    expect((await drain(resume(plain, { tools: look }))).result.output).toBe("second");
  });

  it("frees the lease all the same", async () => {
    const { store, plain } = failing("completed", outage);
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: read("look") }));
    await stream.next();
    await rejection(stream.next());
    expect(await plain.lease?.claim("run-1", "another", 1_000)).toBe(true);
  });

  it("loses no answer silently", async () => {
    const { store, plain } = failing("question_answered", 2 * outage);
    const stream = runWorkflow(flow([{ id: "ask", ask: { prompt: "?" } }]), options({ store }));
    const question = await untilQuestion(stream);
    expect(await rejection(question.answer({ value: 1 }))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    const clock = fakeClock();
    expect(await rejection(answerQuestion(store, "run-1", "ask?1", { value: 1 }, { clock }))).toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(await journalOf(plain)).toHaveLength(2);
    await question.answer({ value: 2 });
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await drain(resume(store))).result.output).toBe(2);
  });

  it("while onQuestion's answer is stored is thrown", async () => {
    const { store } = failing("question_answered", outage);
    const given = options({ store, onQuestion: () => ({ value: 1 }) });
    expect(await rejection(drain(runWorkflow(flow([{ id: "ask", ask: { prompt: "?" } }]), given)))).toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  it("when a lease is claimed is said alike", async () => {
    const plain = memoryStore();
    const broken = async () => {
      throw down();
    };
    const store: RunStore = { ...plain, lease: { claim: broken, renew: broken, release: broken } };
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: read("look") }));
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("while leaving is told to whoever leaves", async () => {
    const { store, plain } = failing("completed", outage);
    const pay = write("pay", [
      (_inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve({ id: 1 }))),
    ]);
    const stream = runWorkflow(flow([step("pay", "pay")]), options({ store, tools: pay }));
    await stream.next();
    expect(await rejection(stream.return())).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await drain(resume(plain, { tools: pay }))).labels).toEqual(["pay?1 in_doubt", "result waiting"]);
  });

  it("can't keep an end from being a free one: a lease that can't be released does not fail the run", async () => {
    const plain = memoryStore();
    const store: RunStore = {
      ...plain,
      lease: {
        claim: async () => true,
        renew: async () => true,
        release: async () => {
          throw down();
        },
      },
    };
    expect((await run(flow([step("look", "look")]), { store, tools: read("look") })).result.status).toBe("completed");
  });
});

describe("a store that is at fault itself", () => {
  it.each<[string, unknown]>([
    ["throws a text", "boom"],
    ["throws nothing", undefined],
    ["throws a TypeError", new TypeError("records.map is not a function")],
  ])("and %s is out of reach", async (_, thrown) => {
    const { store } = faulty(async () => {
      throw thrown;
    });
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: read("look") }));
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("and says what it is by a code of this library is believed", async () => {
    const { store } = faulty(async () => {
      throw new ToolweaveError("INVALID_JOURNAL", "another version's");
    });
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: read("look") }));
    expect(await rejection(stream.next())).toMatchObject({ code: "INVALID_JOURNAL" });
  });

  it("and conflicts though it holds nothing of the run can't start one", async () => {
    const { store } = faulty(async () => {
      throw new ConflictError("run-1", 0);
    });
    const stream = runWorkflow(flow([step("look", "look")]), options({ store, tools: read("look") }));
    expect(await rejection(stream.next())).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("a journal that is none", () => {
  const head = {
    runId: "run-1",
    workflow: "trip",
    status: "running",
    openQuestions: 0,
    createdAt: "2030-01-01T00:00:00.000Z",
    updatedAt: "2030-01-01T00:00:00.000Z",
  } as const;
  const started = { version: 1, runId: "run-1", input: {}, identity: "", driver: "d", at: 0 } as const;

  it.each<[string, object]>([
    ["does not begin with a start", { kind: "cancel_requested", at: 0 }],
    ["is of another version", { kind: "run_started", ...started, version: 2, documents: [] }],
    ["holds no workflow", { kind: "run_started", ...started, documents: [] }],
    [
      "holds a document that is no object",
      { kind: "run_started", ...started, documents: [{ name: "trip", document: 3 }] },
    ],
  ])("since it %s is INVALID_JOURNAL", async (_, record) => {
    const store = memoryStore();
    await store.append("run-1", 0, [record as JournalRecord], head);
    expect(await rejection(resume(store).next())).toMatchObject({ code: "INVALID_JOURNAL" });
    expect(await store.lease?.claim("run-1", "another", 1_000)).toBe(true);
  });

  it("since it starts twice is INVALID_JOURNAL", async () => {
    const store = memoryStore();
    await run(flow([{ id: "ask", ask: { prompt: "?" } }]), { store });
    const records = await journalOf(store);
    await store.append("run-1", 2, records.slice(0, 1), head);
    expect(await rejection(resume(store).next())).toMatchObject({ code: "INVALID_JOURNAL" });
  });

  it.each([1e300, null, "now"])("since a record came at %j, which is no time, is INVALID_JOURNAL", async (at) => {
    const store = memoryStore();
    await run(flow([{ id: "ask", ask: { prompt: "?" } }]), { store });
    const cancelled = JSON.parse(JSON.stringify({ kind: "cancel_requested", at }));
    await store.append("run-1", 2, [cancelled], head);
    expect(await rejection(resume(store).next())).toMatchObject({ code: "INVALID_JOURNAL" });
  });
});
