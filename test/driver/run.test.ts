import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import { DefinitionError, isToolweaveError, ToolError } from "../../src/core/errors.js";
import type { JsonObject } from "../../src/core/json.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStream } from "../../src/driver/stream.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { ToolAdapter } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { approveAll, flow, journalOf, options, read, rejection, run, write } from "./harness.js";

const look = { id: "look", tool: "look", inputs: {} };

describe("a run", () => {
  it("hands results on, and gives its output", async () => {
    const find = read("find", [[{ number: 31 }]]);
    const pay = write("pay", [{ receipt: "r-9" }]);
    const workflow = flow(
      [
        { id: "find", tool: "find", inputs: { state: "due" } },
        { id: "pay", tool: "pay", inputs: { invoice: "{{steps.find.result.0.number}}", sum: "{{input.sum}}" } },
      ],
      { output: { receipt: "{{steps.pay.result.receipt}}", of: "Invoice {{steps.find.result.0.number}}" } },
    );
    const { result, labels } = await run(workflow, { tools: [find, pay], input: { sum: 12.5 } });
    expect(result).toMatchObject({ status: "completed", output: { receipt: "r-9", of: "Invoice 31" }, writesTotal: 1 });
    expect(find.calls.map(({ inputs }) => inputs)).toEqual([{ state: "due" }]);
    expect(pay.calls.map(({ inputs }) => inputs)).toEqual([{ invoice: 31, sum: 12.5 }]);
    expect(labels).toEqual(["find started", "find completed", "pay started", "pay completed", "result completed"]);
  });

  it("gives the last step's result where the document declares no output", async () => {
    const { result } = await run(flow([look, { ...look, id: "again" }]), { tools: read("look", ["first", "second"]) });
    expect(result.output).toBe("second");
  });

  it("gives null where the last step was skipped", async () => {
    const workflow = flow([look, { ...look, id: "maybe", when: "{{input.more ?? false}}" }]);
    const { result, labels } = await run(workflow, { tools: read("look") });
    expect(result.output).toBeNull();
    expect(labels).toContain("maybe skipped");
  });

  it("leaves out of its output what leads nowhere, with a warning, and undoes nothing for it", async () => {
    const workflow = flow([{ id: "book", tool: "book", inputs: {}, compensate: { tool: "cancel", inputs: {} } }], {
      output: { seat: "{{steps.book.result.seat}}", price: "{{steps.book.result.price}}" },
    });
    const cancel = write("cancel");
    const { result } = await run(workflow, { tools: [write("book", [{ price: 3 }]), cancel] });
    expect(result).toMatchObject({ status: "completed", output: { price: 3 }, writes: [{ state: "done" }] });
    expect(result.output).not.toHaveProperty("seat");
    expect(result.warnings).toMatchObject([{ code: "UNRESOLVED_REFERENCE", pointer: "/output/seat" }]);
    expect(cancel.calls).toEqual([]);
  });

  it("tells the tool of its call: run, step, path, attempt, key and a signal", async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "look",
      effect: "read",
      execute(_inputs, context) {
        seen.push({ ...context, signal: context.signal });
        if (seen.length === 1) throw new Error("not yet");
        return null;
      },
    });
    await run(flow([{ ...look, retries: 1 }]), { tools: tool });
    const signal = expect.any(AbortSignal);
    const base = { runId: "run-1", stepId: "look", path: "look", idempotencyKey: "run-1:look", signal };
    expect(seen).toEqual([
      { ...base, attempt: 1 },
      { ...base, attempt: 2 },
    ]);
  });

  it("takes what a tool or adapter gives or throws at once, without a promise", async () => {
    const throwing = () => {
      throw new Error("at once");
    };
    const tools = [
      defineTool({ name: "plain", effect: "read", execute: () => 5 }),
      defineTool({ name: "throws", effect: "read", execute: throwing }),
      { list: () => [{ name: "adapter_throws", effect: "read" as const }], call: throwing },
    ];
    const result = async (tool: string) => (await run(flow([{ ...look, tool }]), { tools })).result;
    expect(await result("plain")).toMatchObject({ status: "completed", output: 5 });
    expect(await result("throws")).toMatchObject({ error: { code: "TOOL_FAILED", message: "at once" } });
    expect(await result("adapter_throws")).toMatchObject({ error: { code: "TOOL_FAILED", message: "at once" } });
  });

  it("takes an adapter, called by name", async () => {
    const adapter: ToolAdapter = {
      list: async () => [{ name: "look", effect: "read" }],
      call: async (name, inputs) => ({ name, inputs }),
    };
    const { result } = await run(flow([{ ...look, inputs: { at: 1 } }]), { tools: adapter });
    expect(result.output).toEqual({ name: "look", inputs: { at: 1 } });
  });

  it("gives a run of its own id to each run that is given none, in the store of the process", async () => {
    const one = await runToEnd(flow([look]), { tools: read("look") });
    const other = await runToEnd(flow([look]), { tools: read("look") });
    expect(one.runId).toMatch(/^[0-9a-f-]{36}$/);
    expect(other.runId).not.toBe(one.runId);
  });

  it("returns from runToEnd what the result event bears, and from the stream too", async () => {
    const given = options({ tools: read("look") });
    const result = await runToEnd(flow([look]), given);
    expect(result).toEqual({ runId: "run-1", status: "completed", output: "found", writes: [], writesTotal: 0 });
    const stream = runWorkflow(flow([look]), { ...given, runId: "run-2" });
    let turn = await stream.next();
    while (!turn.done) turn = await stream.next();
    expect(turn.value).toEqual({ ...result, runId: "run-2" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("does nothing before the first event is asked for", async () => {
    const store = memoryStore();
    const look1 = read("look");
    const stream = runWorkflow(flow([look]), options({ tools: look1, store }));
    await stream.return();
    expect(await store.head("run-1")).toBeUndefined();
    expect(look1.calls).toEqual([]);
  });
});

describe("isolation", () => {
  it("keeps what a tool does to its inputs from everything else", async () => {
    const spoil = (inputs: JsonObject) => {
      Object.assign(inputs, { list: "spoiled" });
      return inputs;
    };
    const shared = { list: [1, { deep: true }] };
    const first = read("first", [
      (inputs) => {
        (inputs.list as unknown[]).length = 0;
        return spoil(inputs);
      },
    ]);
    const second = write("second", [(inputs) => spoil(inputs), { ok: true }]);
    const workflow = flow([
      { id: "a", tool: "first", inputs: { list: "{{input.list}}" } },
      { id: "b", tool: "second", inputs: { list: "{{input.list}}", sent: "{{steps.a.inputs}}" }, retries: 0 },
    ]);
    const { result } = await run(workflow, { tools: [first, second], input: shared });
    expect(second.calls[0]?.inputs).toEqual({ list: [1, { deep: true }], sent: shared });
    expect(result.writes[0]?.fields).toEqual({ list: [1, { deep: true }], sent: shared });
    expect(shared).toEqual({ list: [1, { deep: true }] });
  });

  it("keeps a result from changes that its tool makes later", async () => {
    const kept: { n: number }[] = [];
    const tool = read("look", [
      () => {
        const value = { n: kept.length };
        kept.push(value);
        return value;
      },
    ]);
    const workflow = flow([look, { id: "echo", tool: "echo", inputs: { from: "{{steps.look.result}}" } }]);
    const echo = read("echo", [(inputs) => inputs]);
    const { result } = await run(workflow, { tools: [tool, echo] }, () => {
      for (const value of kept) value.n = 99;
    });
    expect(result.output).toEqual({ from: { n: 0 } });
  });

  it("freezes what it shows", async () => {
    const { events, result } = await run(flow([look]), { tools: read("look", [{ a: [{ b: 1 }] }]) });
    const shown = events.flatMap((event) =>
      event.type === "step" && event.result !== undefined ? [event.result] : [],
    );
    expect(shown).toEqual([{ a: [{ b: 1 }] }]);
    for (const value of [...shown, result.output] as { a: object[] }[]) {
      expect(() => Object.assign(value, { a: 2 })).toThrow();
      expect(() => Object.assign(value.a[0] ?? {}, { b: 2 })).toThrow();
    }
  });

  it("never changes the workflow", async () => {
    const workflow = flow([{ ...look, inputs: { nested: { list: [1] } } }]);
    const before = JSON.stringify(workflow);
    await run(workflow, {
      tools: read("look", [
        (inputs) => {
          (inputs.nested as { list: number[] }).list.push(2);
          return null;
        },
      ]),
    });
    expect(JSON.stringify(workflow)).toBe(before);
  });

  it("gives a function step copies: what it does to its scope changes nothing", async () => {
    const workflow = flow([
      look,
      {
        id: "spoil",
        run: (scope) => {
          Object.assign(scope.steps, { look: { result: "spoiled" } });
          return null;
        },
      },
      {
        id: "deeper",
        run: (scope) => {
          Object.assign(scope.steps.look ?? {}, { result: "spoiled" });
          return null;
        },
      },
      { id: "echo", tool: "echo", inputs: { value: "{{steps.look.result}}" } },
    ]);
    const { result } = await run(workflow, { tools: [read("look"), read("echo", [(inputs) => inputs])] });
    expect(result.output).toEqual({ value: "found" });
  });

  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "takes %s as a key like any other",
    async (key) => {
      const value = JSON.parse(`{ "${key}": { "polluted": true }, "other": 1 }`) as JsonObject;
      const inputs = JSON.parse(`{ "${key}": "{{input.value}}" }`) as JsonObject;
      const look1 = read("look", [() => value]);
      const pay = write("pay", [(given) => given]);
      const workflow = flow([
        { ...look, inputs },
        { id: "pay", tool: "pay", inputs: { whole: "{{steps.look.result}}" } },
      ]);
      const { result } = await run(workflow, { tools: [look1, pay], input: { value } });
      expect(JSON.stringify(look1.calls[0]?.inputs)).toBe(`{"${key}":${JSON.stringify(value)}}`);
      expect(JSON.stringify(pay.calls[0]?.inputs)).toBe(`{"whole":${JSON.stringify(value)}}`);
      expect(JSON.stringify(result.output)).toBe(`{"whole":${JSON.stringify(value)}}`);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );
});

describe("what is at fault before a run begins is thrown, and leaves no record", () => {
  const refused: [string, (store: RunStore) => RunStream, object][] = [
    [
      "an input that does not fit",
      (store) =>
        runWorkflow(
          flow([look], { input_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }),
          options({ tools: read("look"), input: { n: "three" }, store }),
        ),
      { code: "INVALID_INPUT", details: { issues: [{ pointer: "/n" }] } },
    ],
    [
      "an input that a schema in code refuses",
      (store) =>
        runWorkflow(defineWorkflow({ name: "w", input_schema: z.object({ n: z.number() }), steps: [look] }), {
          ...options({ tools: read("look"), store }),
          input: JSON.parse("{}"),
        }),
      { code: "INVALID_INPUT", details: { issues: [{ pointer: "/n" }] } },
    ],
    [
      "an input that is no object",
      (store) => runWorkflow(flow([look]), options({ tools: read("look"), input: [1], store })),
      { code: "INVALID_INPUT" },
    ],
    [
      "an input that is no JSON",
      (store) => runWorkflow(flow([look]), options({ tools: read("look"), input: { n: { m: 1n } }, store })),
      { code: "INVALID_INPUT", pointer: "/n/m" },
    ],
    [
      "an input that is too large",
      (store) =>
        runWorkflow(
          flow([look]),
          options({ tools: read("look"), input: { text: "x".repeat(100) }, limits: { maxValueBytes: 50 }, store }),
        ),
      { code: "INVALID_INPUT" },
    ],
    [
      "an input that holds a secret",
      (store) =>
        runWorkflow(
          flow([look]),
          options({ tools: read("look"), input: { auth: "key=s3cret-token" }, secrets: ["s3cret-token"], store }),
        ),
      { code: "SECRET_IN_DATA" },
    ],
    [
      "a tool that nobody publishes",
      (store) => runWorkflow(flow([look]), options({ tools: [], store })),
      { code: "INVALID_DEFINITION", problems: [{ code: "UNKNOWN_TOOL", pointer: "/steps/0/tool" }] },
    ],
    [
      "a tool of two",
      (store) => runWorkflow(flow([look]), options({ tools: [read("look"), read("look")], store })),
      { code: "DUPLICATE_TOOL" },
    ],
    ["no tools", () => runWorkflow(flow([look]), JSON.parse("{}")), { code: "INVALID_OPTIONS" }],
    ["no options", () => runWorkflow(flow([look]), JSON.parse("null")), { code: "INVALID_OPTIONS" }],
    [
      "a document that is no object",
      (store) => runWorkflow(JSON.parse("null"), options({ tools: read("look"), store })),
      { code: "INVALID_DEFINITION" },
    ],
    [
      "a document with faults",
      (store) => runWorkflow(JSON.parse('{ "name": "w", "steps": [] }'), options({ tools: read("look"), store })),
      { code: "INVALID_DEFINITION" },
    ],
    [
      "an id that is no text",
      (store) => runWorkflow(flow([look]), options({ tools: read("look"), runId: "", store })),
      { code: "INVALID_OPTIONS" },
    ],
    [
      "another word for what becomes of doubt",
      (store) =>
        runWorkflow(flow([look]), { ...options({ tools: read("look"), store }), inDoubt: JSON.parse('"hope"') }),
      { code: "INVALID_OPTIONS" },
    ],
    [
      "a secret that is too short to be looked for",
      (store) => runWorkflow(flow([look]), options({ tools: read("look"), secrets: ["1234567"], store })),
      { code: "INVALID_OPTIONS" },
    ],
    [
      "a limit that is no count",
      (store) => runWorkflow(flow([look]), options({ tools: read("look"), limits: { maxDepth: -1 }, store })),
      { code: "INVALID_OPTIONS" },
    ],
    [
      "a policy that is no function",
      (store) =>
        runWorkflow(flow([look]), { ...options({ tools: read("look"), store }), policy: JSON.parse('"approve"') }),
      { code: "INVALID_OPTIONS" },
    ],
    [
      "a workflow given twice",
      (store) =>
        runWorkflow(
          flow([look]),
          options({ tools: read("look"), workflows: [flow([look]), flow([{ ...look, id: "b" }])], store }),
        ),
      { code: "DUPLICATE_WORKFLOW" },
    ],
    [
      "workflows that are none",
      (store) =>
        runWorkflow(flow([look]), options({ tools: read("look"), workflows: JSON.parse('[{ "name": "w" }]'), store })),
      { code: "INVALID_OPTIONS" },
    ],
  ];
  it.each(refused)("%s", async (_, start, expected) => {
    const store = memoryStore();
    const stream = start(store);
    const error = await rejection(stream.next());
    expect(isToolweaveError(error)).toBe(true);
    expect(error).toMatchObject(expected);
    expect(await journalOf(store)).toEqual([]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("names every fault of a workflow that its tools do not fit", async () => {
    const workflow = flow([look, { id: "pay", tool: "pay", inputs: { sum: "much" } }]);
    const pay = write("pay", [null], { inputSchema: { type: "object", properties: { sum: { type: "number" } } } });
    const error = await rejection(runToEnd(workflow, options({ tools: pay })));
    expect(error).toBeInstanceOf(DefinitionError);
    expect(error).toMatchObject({ problems: [{ pointer: "/steps/0/tool" }, { pointer: "/steps/1/inputs/sum" }] });
  });

  it("frees the run: the same id can be started rightly afterwards", async () => {
    const workflow = flow([look], { input_schema: { type: "object", required: ["n"] } });
    const given = options({ tools: read("look") });
    await rejection(runToEnd(workflow, given));
    expect(await runToEnd(workflow, { ...given, input: { n: 1 } })).toMatchObject({ status: "completed" });
  });
});

describe("a tool's schema", () => {
  const closed = {
    type: "object",
    properties: { sum: { type: "number", default: 5 }, note: { type: "string" } },
    additionalProperties: false,
  };

  it("refuses inputs before any question or call, for good", async () => {
    const pay = write("pay", [null], { inputSchema: closed });
    const workflow = flow([{ id: "pay", tool: "pay", inputs: { sum: "{{input.sum}}" }, retries: 3 }]);
    const { result, labels } = await run(workflow, { tools: pay, input: { sum: "12" }, policy: undefined });
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "INVALID_INPUT", stepId: "pay", path: "pay", details: { issues: [{ pointer: "/sum" }] } },
      writes: [],
    });
    expect(JSON.stringify(result.error)).not.toContain('"12"');
    expect(labels).toEqual(["pay failed", "result failed"]);
    expect(pay.calls).toEqual([]);
  });

  it("fills no defaults of a JSON Schema", async () => {
    const pay = write("pay", [null], { inputSchema: closed });
    await run(flow([{ id: "pay", tool: "pay", inputs: {} }]), { tools: pay });
    expect(pay.calls[0]?.inputs).toEqual({});
  });

  it("gives the value that is shown, sent and recorded, parsed once", async () => {
    let parses = 0;
    const sum = z.string().transform((text) => {
      parses++;
      return Number(text);
    });
    const seen: unknown[] = [];
    const pay = defineTool({
      name: "pay",
      inputSchema: z.object({ sum, currency: z.string().default("EUR") }),
      execute: (inputs) => {
        seen.push(inputs);
        return null;
      },
    });
    const policy = [] as unknown[];
    const { result } = await run(flow([{ id: "pay", tool: "pay", inputs: { sum: "12" } }]), {
      tools: pay,
      policy: ({ fields }) => {
        policy.push(fields);
        return "approve";
      },
    });
    const value = { sum: 12, currency: "EUR" };
    expect(seen).toEqual([value]);
    expect(policy).toEqual([value]);
    expect(result.writes[0]?.fields).toEqual(value);
    expect(parses).toBe(1);
  });

  it("has to give an object", async () => {
    const pay = defineTool({ name: "pay", inputSchema: z.object({}).transform(() => 3), execute: () => null });
    const { result } = await run(flow([{ id: "pay", tool: "pay", inputs: {} }]), { tools: pay });
    expect(result.error).toMatchObject({ code: "INVALID_INPUT", stepId: "pay" });
  });

  it("may be a schema that throws, or takes its time", async () => {
    const wait = {
      "~standard": { version: 1, vendor: "own", validate: async (value: unknown) => ({ value }) },
    } as const;
    const bad = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: () => {
          throw new Error("broken");
        },
      },
    } as const;
    const tools = [read("slow", ["ok"], { inputSchema: wait }), read("bad", ["ok"], { inputSchema: bad })];
    const workflow = flow([
      { id: "a", tool: "slow", inputs: {} },
      { id: "b", tool: "bad", inputs: {} },
    ]);
    const { result, labels } = await run(workflow, { tools });
    expect(labels).toContain("a completed");
    expect(result.error).toMatchObject({ code: "INVALID_INPUT", stepId: "b" });
  });
});

describe("an unresolved reference", () => {
  it("fails its step before any question or call, for good", async () => {
    const pay = write("pay");
    const workflow = flow([look, { id: "pay", tool: "pay", inputs: { n: "{{steps.look.result.0.n}}" }, retries: 3 }]);
    const { result, labels } = await run(workflow, { tools: [read("look", [[]]), pay], policy: undefined });
    expect(result.error).toMatchObject({ code: "UNRESOLVED_REFERENCE", stepId: "pay", path: "pay" });
    expect(labels.slice(-2)).toEqual(["pay failed", "result failed"]);
    expect(pay.calls).toEqual([]);
  });

  it("is also what a skipped step leaves", async () => {
    const workflow = flow([
      { ...look, when: "{{input.no ?? false}}" },
      { id: "echo", tool: "look", inputs: { of: "{{steps.look.result}}" } },
    ]);
    const { result } = await run(workflow, { tools: read("look") });
    expect(result.error).toMatchObject({ code: "UNRESOLVED_REFERENCE", stepId: "echo" });
  });
});

describe("child workflows with a schema in code", () => {
  const child = defineWorkflow({
    name: "child",
    input_schema: z.object({ n: z.string().transform(Number) }),
    steps: [{ id: "echo", tool: "echo", inputs: { n: "{{input.n}}" } }],
  });
  const echo = read("echo", [(inputs) => inputs]);

  it("are given what the schema gives", async () => {
    const workflow = flow([{ id: "sub", workflow: "child", inputs: { n: "41" } }]);
    const { result } = await run(workflow, { tools: echo, workflows: child });
    expect(result.output).toEqual({ n: 41 });
  });

  it.each([
    ["inputs that do not fit", child, { n: "{{input.n}}" }],
    [
      "an output that is no object",
      defineWorkflow({
        name: "child",
        input_schema: z.object({}).transform(() => 1),
        steps: [{ id: "a", tool: "echo", inputs: {} }],
      }),
      {},
    ],
  ])("fail with %s", async (_, workflows, inputs) => {
    const { result } = await run(flow([{ id: "sub", workflow: "child", inputs }]), {
      tools: echo,
      workflows,
      input: { n: 41 },
    });
    expect(result).toMatchObject({ status: "failed", error: { code: "INVALID_INPUT", stepId: "sub" } });
  });
});

describe("a function step", () => {
  it("reads the scope, and is told of its call", async () => {
    const seen: unknown[] = [];
    const workflow = flow([
      look,
      {
        id: "sum",
        run: (scope, context) => {
          seen.push({ input: scope.input, look: scope.steps.look?.result, ...context });
          return { sum: 2 };
        },
      },
    ]);
    const { result, labels } = await run(workflow, { tools: read("look"), input: { n: 1 } });
    expect(result.output).toEqual({ sum: 2 });
    expect(seen).toMatchObject([{ input: { n: 1 }, look: "found", stepId: "sum", path: "sum", attempt: 1 }]);
    expect(labels.slice(2, 4)).toEqual(["sum started", "sum completed"]);
  });

  it("is retried like a read, and fails as STEP_FAILED", async () => {
    let calls = 0;
    const workflow = flow([
      {
        id: "sum",
        retries: 2,
        run: () => {
          calls++;
          throw new TypeError("no such thing");
        },
      },
    ]);
    const clock = fakeClock();
    const { result } = await run(workflow, { clock });
    expect(calls).toBe(3);
    expect(clock.waits).toEqual([1_000, 2_000]);
    expect(result.error).toMatchObject({ code: "STEP_FAILED", message: "no such thing", cause: { name: "TypeError" } });
  });

  it.each([
    ["returns an error", () => new Error("no"), "STEP_FAILED"],
    ["refuses", () => Promise.reject(new ToolError("never", { outcome: "refused" })), "TOOL_REFUSED"],
    ["gives no JSON", () => 1n, "RESULT_NOT_JSON"],
  ])("that %s fails", async (_, fn, code) => {
    const { result } = await run(flow([{ id: "sum", run: fn }]), { policy: approveAll });
    expect(result.error).toMatchObject({ code, stepId: "sum" });
  });
});
