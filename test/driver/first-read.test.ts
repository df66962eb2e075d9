import { describe, expect, test } from "vitest";
import type { DispatchConfig } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import type { ToolDispatchOptions } from "../../src/driver/dispatch.js";
import { toolDispatch } from "../../src/driver/dispatch.js";
import type { RunEvent } from "../../src/driver/options.js";
import { resumeRun } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { ToolCallContext } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { call, city, unending } from "./dispatch-harness.js";
import { flow, journalOf, labelOf, options, read, write } from "./harness.js";

interface Case {
  readonly config: DispatchConfig;
  readonly given: () => Partial<ToolDispatchOptions>;
  /** How many appends the run takes when nobody can know of it. */
  readonly appends: number;
}

const look = { tools: { look: { tool: "look" } } } as const satisfies DispatchConfig;
const one = [call("c1", "look", { place: "Bonn" })];
const handled = (workflow: ReturnType<typeof flow>): DispatchConfig => ({ tools: { look: { flow: workflow } } });
const lookStep = { id: "look", tool: "look", inputs: { place: "here" } };
const placed = { type: "object", properties: { place: { type: "string" } }, required: ["place"] } as const;

const cases: Record<string, Case> = {
  "a read that gives a value": { config: look, given: () => ({ calls: one, tools: [read("look")] }), appends: 1 },
  "a read that throws": {
    config: look,
    given: () => ({ calls: one, tools: [read("look", [new Error("gone")])] }),
    appends: 1,
  },
  "a read that is refused": {
    config: look,
    given: () => ({ calls: one, tools: [read("look", [new ToolError("no", { outcome: "refused" })])] }),
    appends: 1,
  },
  "a read that gives no JSON": {
    config: look,
    given: () => ({ calls: one, tools: [read("look", [() => ({ big: 1n })])] }),
    appends: 1,
  },
  "a read that gives a secret": {
    config: look,
    given: () => ({ calls: one, tools: [read("look", ["it is hunter2hunter2"])], secrets: ["hunter2hunter2"] }),
    appends: 1,
  },
  "inputs that do not fit the tool by the time it is called": {
    config: handled(flow([{ id: "look", tool: "look", inputs: { place: "{{input.tool_call_index}}" } }])),
    given: () => ({ calls: one, tools: [read("look", ["never"], { inputSchema: placed })] }),
    appends: 1,
  },
  "a workflow of one read": {
    config: { tools: { city } },
    given: () => ({ calls: [call("c1", "city", { city: "Bonn" })], tools: [read("look")] }),
    appends: 1,
  },
  "a workflow whose reference leads nowhere": {
    config: handled(flow([{ id: "look", tool: "look", inputs: { place: "{{input.nowhere}}" } }])),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 1,
  },
  "a read that is skipped, then another": {
    config: handled(
      flow([
        { ...lookStep, when: { equals: [1, 2] } },
        { ...lookStep, id: "again" },
      ]),
    ),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 1,
  },
  "two reads": {
    config: handled(flow([lookStep, { ...lookStep, id: "again" }])),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 2,
  },
  "a read, then reads side by side": {
    config: handled(
      flow([
        lookStep,
        { id: "both", parallel: ["a", "b", "c"].map((id) => ({ ...lookStep, id, tool: `look_${id}` })) },
      ]),
    ),
    given: () => ({
      calls: one,
      tools: [read("look"), read("look_a", ["1"]), read("look_b", ["2"]), read("look_c", ["3"])],
    }),
    appends: 3,
  },
  "a read, then a write": {
    config: handled(flow([lookStep, { id: "pay", tool: "pay", inputs: {} }])),
    given: () => ({ calls: one, tools: [read("look"), write("pay")] }),
    appends: 3,
  },
  "a read, then a question": {
    config: handled(flow([lookStep, { id: "ask", ask: { prompt: "Go on?" } }])),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 2,
  },
  "a read that is tried again": {
    config: handled(flow([{ ...lookStep, retries: 1 }])),
    given: () => ({ calls: one, tools: [read("look", [new Error("busy"), "found"])] }),
    appends: 2,
  },
  "a write": {
    config: { tools: { pay: { tool: "pay" } } },
    given: () => ({ calls: [call("c1", "pay")], tools: [write("pay")] }),
    appends: 3,
  },
  "reads side by side": {
    config: handled(flow([{ id: "both", parallel: [lookStep, { ...lookStep, id: "again", tool: "look_a" }] }])),
    given: () => ({ calls: one, tools: [read("look"), read("look_a", ["1"])] }),
    appends: 3,
  },
  "a read with a time limit": {
    config: handled(flow([{ ...lookStep, timeout_ms: 1_000 }], { timeout_ms: 5_000 })),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 3,
  },
  "a wait": {
    config: handled(flow([{ id: "nap", sleep_ms: 5 }, lookStep])),
    given: () => ({ calls: one, tools: [read("look")] }),
    appends: 4,
  },
};

describe("A dispatched run that nobody can know of yet", () => {
  test.each(Object.entries(cases))("comes to the same as one that is started first: %s", async (_, each) => {
    const known = await play(each, "run-1");
    const unknown = await play(each, undefined);
    expect(unknown.told).toEqual(known.told);
    expect(unknown.journal).toEqual(known.journal);
    expect(unknown.appends).toBe(each.appends);
    expect(known.appends).toBeGreaterThanOrEqual(each.appends);
  });

  test("is not in the store before its read has settled", async () => {
    const store = memoryStore();
    const heads: unknown[] = [];
    const tool = read("look", [
      async () => {
        for await (const head of store.list()) heads.push(head);
        return "found";
      },
    ]);
    const { runId } = await toolDispatch(look, { calls: one, tools: tool, store });
    expect(heads).toEqual([]);
    expect(await store.head(`${runId}[0]`)).toMatchObject({ status: "completed" });
  });

  test.each(["signal", "stop"] as const)(
    "is stored after all, and not read again, where %s is aborted meanwhile",
    async (name) => {
      const store = memoryStore();
      const controller = new AbortController();
      const seen: AbortSignal[] = [];
      const tool = read("look", [
        (_, context) => {
          seen.push(context.signal);
          controller.abort();
          return unending;
        },
      ]);
      const given = { calls: one, tools: tool, store, clock: fakeClock(), [name]: controller.signal };
      const result = await toolDispatch(look, given);
      expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
      expect(result.status).toBe(name === "signal" ? "failed" : "waiting");
      expect(await store.head(`${result.runId}[0]`)).toMatchObject({
        status: name === "signal" ? "cancelled" : "running",
      });
    },
  );

  test.each<[string, (context: ToolCallContext) => unknown]>([
    ["a value at once", () => "found"],
    ["a value when it is aborted", ({ signal }) => new Promise((found) => onAbort(signal, () => found("late")))],
    ["an error at once", () => Promise.reject(new Error("stopped"))],
    ["an error when it is aborted", ({ signal }) => new Promise((_, fail) => onAbort(signal, fail))],
    ["nothing within the grace period", () => unending],
  ])("is given time where stop is aborted meanwhile, as one that is started first is: %s", async (_, answer) => {
    const stopped = async (runId: string | undefined) => {
      const controller = new AbortController();
      const tool = read("look", [
        (_, context) => {
          const answered = answer(context);
          controller.abort();
          return answered;
        },
      ]);
      const given = options({ calls: one, tools: tool, stop: controller.signal, runId });
      const result = await toolDispatch(look, given);
      const kinds = (await journalOf(given.store, `${result.runId}[0]`)).map(({ kind }) => kind);
      return { status: result.status, kinds, calls: tool.calls.length };
    };
    expect(await stopped(undefined)).toEqual(await stopped("run-1"));
  });

  test("tells those who watch the dispatch of every step, and is stored first then", async () => {
    const store = memoryStore();
    const told: string[] = [];
    const observer = { emit: (_type: string, event: RunEvent) => told.push(labelOf(event)) };
    const head = read("look", [async () => (await first(store.list()))?.status]);
    const { entries } = await toolDispatch(look, { calls: one, tools: head, store, observer });
    expect(told).toEqual(["look started", "look completed", "result completed"]);
    expect(entries[0]?.result).toBe("running");
  });

  test("can be carried on by its id once it waits", async () => {
    const store = memoryStore();
    const config = handled(flow([lookStep, { id: "ask", ask: { prompt: "Go on?" } }]));
    const tools = read("look");
    const waiting = await toolDispatch(config, { calls: one, tools, store });
    const again = await toolDispatch(config, { calls: waiting.calls, tools, store, runId: waiting.runId });
    expect(again.status).toBe("waiting");
    expect(tools.calls).toHaveLength(1);
    for await (const event of resumeRun(store, `${waiting.runId}[0]`, { tools })) {
      if (event.type === "question") await event.answer({ value: "yes" });
    }
    const ended = await toolDispatch(config, { calls: one, tools, store, runId: waiting.runId });
    expect(ended.entries[0]).toMatchObject({ success: true, result: { look: "found", ask: "yes" } });
  });
});

async function play({ config, given }: Case, runId: string | undefined) {
  const store = memoryStore();
  let appends = 0;
  const counting: RunStore = {
    ...store,
    append(...args) {
      appends++;
      return store.append(...args);
    },
  };
  const result = await toolDispatch(config, options({ ...given(), clock: fakeClock(), store: counting, runId }));
  const journal = await journalOf(store, `${result.runId}[0]`);
  const { runId: own, ...told } = result;
  return {
    told: plain(told, own),
    journal: journal.map(({ batch, ...record }) => plain(record, result.runId)),
    appends,
  };
}

function onAbort(signal: AbortSignal, react: () => void): void {
  signal.addEventListener("abort", react);
}

/** Without what differs from run to run. */
function plain(value: unknown, runId: string): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(runId, "the-run"), (key, inner) =>
    key === "driver" || key === "fingerprint" ? undefined : inner,
  );
}

async function first<T>(all: AsyncIterable<T>): Promise<T | undefined> {
  for await (const each of all) return each;
  return undefined;
}
