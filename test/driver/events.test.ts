import { EventEmitter } from "eventemitter3";
import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import type { JournalRecord } from "../../src/core/record.js";
import type { StepEvent } from "../../src/core/run-event.js";
import type { RunEvent, RunOptions } from "../../src/driver/options.js";
import { runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { drain, flow, journalOf, labelOf, options, read, run, write } from "./harness.js";

const refused = new ToolError("no", { outcome: "refused" });
const undo = (tool: string) => ({ tool, inputs: {} });

/** Every kind of event: a retried read, a skipped step, an ask, a write with a person, a fallback, a failure and undos. */
const eventful = flow([
  { id: "look", tool: "look", inputs: {}, retries: 1 },
  { id: "never", tool: "look", inputs: {}, when: "{{input.no ?? false}}" },
  { id: "name", ask: { prompt: "Which name?" } },
  { id: "book", tool: "book", inputs: {}, compensate: undo("unbook") },
  { id: "nap", sleep_ms: 10 },
  { id: "hold", tool: "refuse", inputs: {}, fallback: { tool: "book", inputs: {}, compensate: undo("refuse") } },
  { id: "fail", tool: "refuse", inputs: {} },
]);

function eventfulOptions(more: Partial<RunOptions> = {}) {
  return options({
    tools: [read("look", [new Error("later"), "found"]), write("book"), write("unbook"), write("refuse", [refused])],
    policy: ({ path }) => (path === "book" ? "ask" : "approve"),
    ...more,
  });
}

async function answer(event: RunEvent): Promise<void> {
  if (event.type !== "question") return;
  await event.answer(event.kind === "input" ? { value: "Ada" } : { decision: "approve", by: "ada" });
}

describe("events", () => {
  it("come in order, one for each thing that happens", async () => {
    const { labels } = await drain(runWorkflow(eventful, eventfulOptions()), answer);
    expect(labels).toEqual([
      "look started",
      "look retrying",
      "look started",
      "look completed",
      "never skipped",
      "name?1 input",
      "name completed",
      "book?1 approval",
      "book started",
      "book completed",
      "nap started",
      "nap completed",
      "hold started",
      "hold failed",
      "hold~fallback started",
      "hold~fallback completed",
      "fail started",
      "fail failed",
      "hold~fallback~undo undoing",
      "hold~fallback~undo undo_failed",
      "book~undo undoing",
      "book~undo undone",
      "result failed",
    ]);
  });

  it("bear the run, the time and the place, and what belongs to their kind", async () => {
    const { events } = await drain(runWorkflow(eventful, eventfulOptions()), answer);
    const at = expect.stringMatching(/^2030-01-01T00:00:0\d\.\d{3}Z$/);
    for (const event of events) expect(event).toMatchObject({ runId: "run-1", at });
    const step = (label: string) => events.find((event): event is StepEvent => labelOf(event) === label);
    expect(step("look retrying")).toMatchObject({
      type: "step",
      stepId: "look",
      path: "look",
      attempt: 1,
      delayMs: 1_000,
      error: { code: "TOOL_FAILED", message: "later", stepId: "look", path: "look" },
    });
    expect(step("look completed")).toMatchObject({ attempt: 2, result: "found" });
    expect(step("hold failed")).toMatchObject({ willUndo: false, error: { code: "TOOL_REFUSED" } });
    expect(step("fail failed")).toMatchObject({ willUndo: true, error: { code: "TOOL_REFUSED", message: "no" } });
    expect(step("hold~fallback completed")).toMatchObject({ stepId: "hold", result: { id: 7 } });
    expect(step("hold~fallback~undo undo_failed")).toMatchObject({ stepId: "hold", error: { code: "TOOL_REFUSED" } });
    expect(step("book~undo undone")).toMatchObject({ stepId: "book", attempt: 1 });
  });

  it("bear the fields of the result in the last of them", async () => {
    const { result } = await drain(runWorkflow(eventful, eventfulOptions()), answer);
    const { type, at, seq, ...rest } = result;
    expect(rest).toEqual({
      runId: "run-1",
      status: "failed",
      error: { code: "TOOL_REFUSED", message: "no", stepId: "fail", path: "fail" },
      undoErrors: [expect.objectContaining({ code: "TOOL_REFUSED", stepId: "hold", path: "hold~fallback~undo" })],
      writes: [
        {
          stepId: "book",
          path: "book",
          tool: "book",
          fields: {},
          decidedBy: "ada",
          decidedAt: "2030-01-01T00:00:01.000Z",
          state: "undone",
          undo: { tool: "unbook", fields: {}, decidedBy: "policy", decidedAt: at },
        },
        {
          stepId: "hold",
          path: "hold",
          tool: "refuse",
          fields: {},
          decidedBy: "policy",
          decidedAt: at,
          state: "failed",
        },
        {
          stepId: "hold",
          path: "hold~fallback",
          tool: "book",
          fields: {},
          decidedBy: "policy",
          decidedAt: at,
          state: "undo_failed",
          reason: "rejected",
          undo: { tool: "refuse", fields: {}, decidedBy: "policy", decidedAt: at },
        },
        {
          stepId: "fail",
          path: "fail",
          tool: "refuse",
          fields: {},
          decidedBy: "policy",
          decidedAt: at,
          state: "failed",
        },
      ],
      writesTotal: 4,
    });
  });

  it("are made of the record of their seq, which is durable before they are seen; a read's start is live only", async () => {
    const store = memoryStore();
    const kinds: Record<string, string> = {
      retrying: "retried",
      completed: "completed",
      failed: "failed",
      skipped: "skipped",
      undoing: "write_intended",
      undone: "completed",
      undo_failed: "failed",
      started: "write_intended",
    };
    let last = 0;
    await drain(runWorkflow(eventful, eventfulOptions({ store })), async (event) => {
      const records = await journalOf(store);
      if (event.seq === undefined) {
        expect(["look started", "nap started"]).toContain(labelOf(event));
        return;
      }
      expect(event.seq).toBeGreaterThanOrEqual(last);
      last = event.seq;
      const record = records[event.seq];
      if (event.type === "question") expect(record).toMatchObject({ kind: "question_asked", path: event.path });
      else if (event.type === "result") expect(record).toMatchObject({ kind: "run_ended", status: event.status });
      else if (labelOf(event) === "nap started") expect(record).toMatchObject({ kind: "sleep_started", path: "nap" });
      else expect(record).toMatchObject({ kind: kinds[event.status], path: event.path });
      await answer(event);
    });
  });

  it("say that a read that is dropped was stopped", async () => {
    const workflow = flow([
      {
        id: "both",
        parallel: [
          { id: "slow", tool: "slow", inputs: {} },
          { id: "nap", sleep_ms: 60_000 },
          { id: "fail", tool: "fail", inputs: {} },
        ],
      },
    ]);
    const tools = [read("slow", [() => new Promise(() => {})]), write("fail", [refused])];
    const { labels } = await run(workflow, { tools });
    expect(labels).toContain("both/slow stopped");
    expect(labels).toContain("both/nap stopped");
  });

  it("are changed by nobody: what a consumer does to them changes nothing that follows", async () => {
    const spoil = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        spoil(inner);
        Reflect.set(value, key, "spoiled");
      }
    };
    const plain = memoryStore();
    const expected = await drain(runWorkflow(eventful, eventfulOptions({ store: plain })), answer);
    const store = memoryStore();
    const observer = { emit: (_: string, event: RunEvent) => Object.values(event).forEach(spoil) };
    const { result } = await drain(runWorkflow(eventful, eventfulOptions({ store, observer })), async (event) => {
      await answer(event);
      for (const value of Object.values(event)) spoil(value);
    });
    expect(result).toEqual(expected.result);
    expect((await journalOf(store)).map(withoutDriver)).toEqual((await journalOf(plain)).map(withoutDriver));
  });
});

function withoutDriver(record: JournalRecord): object {
  return { ...record, batch: undefined, driver: undefined };
}

describe("the observer", () => {
  it("is sent every event under its type, and a listener that throws harms no run", async () => {
    const observer = new EventEmitter();
    const seen: string[] = [];
    for (const type of ["step", "question", "result"]) {
      observer.on(type, (event: RunEvent) => {
        seen.push(`${type} ${labelOf(event)}`);
        throw new Error("a listener's own fault");
      });
    }
    const { events } = await drain(runWorkflow(eventful, eventfulOptions({ observer })), answer);
    expect(seen).toEqual(events.map((event) => `${event.type} ${labelOf(event)}`));
  });

  it("may be anything that can't be called: the run goes on", async () => {
    const { result } = await run(flow([{ id: "look", tool: "look", inputs: {} }]), {
      tools: read("look"),
      observer: JSON.parse("{}"),
    });
    expect(result.status).toBe("completed");
  });
});

/** A store that counts. */
function counting(): { store: RunStore; appends: () => number; reads: () => number } {
  const store = memoryStore();
  let appends = 0;
  let reads = 0;
  return {
    appends: () => appends,
    reads: () => reads,
    store: {
      ...store,
      append: (...args) => {
        appends++;
        return store.append(...args);
      },
      read: (...args) => {
        reads++;
        return store.read(...args);
      },
    },
  };
}

describe("what a step costs", () => {
  const reads = (count: number) =>
    flow(Array.from({ length: count }, (_, n) => ({ id: `s${n}`, tool: "look", inputs: {} })));
  const writes = (count: number) =>
    flow(Array.from({ length: count }, (_, n) => ({ id: `s${n}`, tool: "pay", inputs: {} })));

  // The run's start is one more; its end rides with the last outcome.
  it.each([1, 100, 1_000])(
    "one append for a read, in a run of %d",
    async (count) => {
      const { store, appends, reads: readCount } = counting();
      const { result } = await run(reads(count), { store, tools: read("look") });
      expect(result.status).toBe("completed");
      expect(appends()).toBe(1 + count);
      expect(readCount()).toBeLessThanOrEqual(1);
    },
    30_000,
  );

  it.each([1, 100, 1_000])(
    "two appends for a write, in a run of %d",
    async (count) => {
      const { store, appends } = counting();
      const { result } = await run(writes(count), { store, tools: write("pay") });
      expect(result).toMatchObject({ status: "completed", writesTotal: count });
      expect(appends()).toBe(1 + 2 * count);
    },
    30_000,
  );

  it.each([1, 100])(
    "four appends for a write with a person, in a run of %d",
    async (count) => {
      const { store, appends } = counting();
      const { result } = await run(writes(count), { store, tools: write("pay"), policy: undefined }, answer);
      expect(result.status).toBe("completed");
      expect(appends()).toBe(1 + 4 * count);
    },
    30_000,
  );

  it("one append more for each retry", async () => {
    const { store, appends } = counting();
    await run(flow([{ id: "look", tool: "look", inputs: {}, retries: 3 }]), {
      store,
      tools: read("look", [new Error("a"), new Error("b"), "found"]),
    });
    expect(appends()).toBe(1 + 3);
  });

  it("one append for what skipped steps and containers come to without the world", async () => {
    const { store, appends } = counting();
    const skipped = (id: string) => ({ id, tool: "look", inputs: {}, when: "{{input.no ?? false}}" });
    const workflow = flow([skipped("a"), { id: "both", parallel: [skipped("b"), skipped("c")] }, skipped("d")]);
    const { result } = await run(workflow, { store, tools: read("look"), clock: fakeClock() });
    expect(result.status).toBe("completed");
    expect(appends()).toBe(2);
  });
});
