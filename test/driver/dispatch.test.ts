import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { DispatchConfig } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import { type ToolDispatchOptions, type ToolDispatchResult, toolDispatch } from "../../src/driver/dispatch.js";
import { deferred, flow, options, read, rejection, settled, write } from "./harness.js";

/** A call as OpenAI's chat completions have it. */
function call(id: string, name: string, given: unknown = {}) {
  return {
    id,
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
  };
}

function dispatch(config: DispatchConfig, given: Partial<ToolDispatchOptions>) {
  return toolDispatch(config, options(given));
}

const cityFlow = flow([{ id: "look", tool: "look", inputs: { place: "{{input.city}}" } }], {
  name: "city",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  output: "{{steps.look.result}}",
});
const city = { flow: cityFlow, input: { city: "arguments.city" } };

function statusOf({ entries }: ToolDispatchResult) {
  return entries.map(({ id, success, error }) => [id, success ? "ok" : (error ?? "")]);
}

describe("toolDispatch", () => {
  it("runs each call by the workflow or tool that is mapped to its name", async () => {
    const look = read("look", [{ celsius: -2 }]);
    const add = read("add", ["five"]);
    const done = await dispatch(
      { tools: { city, add: { tool: "add" } } },
      { calls: [call("c1", "city", { city: "Bergen" }), call("c2", "add", { a: 2, b: 3 })], tools: [look, add] },
    );

    expect(done.status).toBe("completed");
    expect(done.runId).toBe("run-1");
    expect(done.error).toBeUndefined();
    expect(done.questions).toBeUndefined();
    expect(done.calls.map(({ id, index, arguments: given }) => [id, index, given])).toEqual([
      ["c1", 0, { city: "Bergen" }],
      ["c2", 1, { a: 2, b: 3 }],
    ]);
    const first = {
      ...{ success: true, id: "c1", name: "city", arguments: { city: "Bergen" }, flow: "city" },
      ...{ result: { celsius: -2 }, content: '{"celsius":-2}' },
    };
    const second = {
      ...{ success: true, id: "c2", name: "add", arguments: { a: 2, b: 3 }, flow: "add" },
      ...{ result: "five", content: "five" },
    };
    const messages = [
      { role: "tool", tool_call_id: "c1", content: '{"celsius":-2}' },
      { role: "tool", tool_call_id: "c2", content: "five" },
    ];
    expect(done.entries).toEqual([first, second]);
    expect(done.messages).toEqual(messages);
    expect(done.context).toEqual({
      tool_results: [first, second],
      tool_results_count: 2,
      tool_results_errors: 0,
      tool_results_all_succeeded: true,
      tool_results_messages: messages,
      tool_results_by_id: { c1: first, c2: second },
    });
    expect(look.calls.map(({ inputs }) => inputs)).toEqual([{ place: "Bergen" }]);
    expect(add.calls.map(({ inputs }) => inputs)).toEqual([{ a: 2, b: 3 }]);
  });

  it("is done at once with no calls", async () => {
    const done = await dispatch({ tools: {}, output_key: "out" }, { calls: [] });
    expect(done).toMatchObject({ status: "completed", calls: [], entries: [], messages: [] });
    expect(done.context).toMatchObject({
      out: [],
      out_count: 0,
      out_errors: 0,
      out_all_succeeded: true,
      out_by_id: {},
    });
  });

  it("takes the calls from the context where options name none", async () => {
    const look = read("look");
    const context = { turn: { role: "assistant", tool_calls: [call("t1", "city", { city: "Nice" })] } };
    const done = await dispatch({ tools: { city }, source_key: "turn" }, { context, tools: look });
    expect(statusOf(done)).toEqual([["t1", "ok"]]);
  });

  it("maps inputs from the call and the parent's context, and lays the call beside them", async () => {
    const note = read("note");
    const noted = flow([{ id: "note", tool: "note", inputs: "{{input}}" }], { name: "noted" });
    const input = { who: "ctx.user.name", raw: "call.raw_arguments", tone: "calm", all: "arguments" };
    await dispatch(
      { tools: { memo: { flow: noted, input } } },
      {
        calls: [call("m1", "nobody"), call("m2", "memo", { text: "hi" })].slice(1),
        context: { user: { name: "Ida", pin: 4711 } },
        tools: note,
      },
    );
    const sent = note.calls[0]?.inputs;
    expect(sent).toMatchObject({ who: "Ida", raw: '{"text":"hi"}', tone: "calm", all: { text: "hi" } });
    expect(sent).toMatchObject({ tool_name: "memo", tool_call_id: "m2", tool_call_index: 0 });
    expect(sent?.tool_arguments).toEqual({ text: "hi" });
    expect(sent?.tool_call).toMatchObject({ id: "m2", index: 0, type: "function", name: "memo" });
    expect(JSON.stringify(sent)).not.toContain("4711");
  });

  it("gives a handler what its schema gives, and a tool what its own schema gives, once", async () => {
    const look = read("look", [1], { inputSchema: z.object({ n: z.number().transform((n) => n + 1) }) });
    const doubled = flow([{ id: "look", tool: "look", inputs: { n: "{{input.n}}" } }], {
      name: "doubled",
      input_schema: z.object({ n: z.number().transform((n) => n * 2) }),
    });
    await dispatch(
      { tools: { doubled: { flow: doubled, input: { n: "arguments.n" } }, look: { tool: "look" } } },
      { calls: [call("d", "doubled", { n: 5 }), call("l", "look", { n: 5 })], tools: look },
    );
    expect(look.calls.map(({ inputs }) => inputs)).toEqual([{ n: 11 }, { n: 6 }]);
  });
});

describe("the result of a handler", () => {
  const give = (key: string) => ({ id: key, tool: "give", inputs: {} });
  it.each([
    ["tool_result_value, null too", flow([give("tool_result_text"), give("tool_result_value")]), [1, null], null],
    ["then tool_result_text", flow([give("tool_result_text")], { output: { other: true } }), ["said"], "said"],
    ["also out of the output", flow([give("a")], { output: { tool_result_value: "{{steps.a.result}}" } }), [5], 5],
    ["then the output", flow([give("a")], { output: ["{{steps.a.result}}"] }), [5], [5]],
  ])("is %s", async (_name, handler, script, expected) => {
    const done = await dispatch(
      { tools: { h: { flow: handler } } },
      { calls: [call("x", "h")], tools: read("give", script) },
    );
    expect(done.entries[0]?.result).toEqual(expected);
  });

  it("is then the context without private keys, at the top alone", async () => {
    const handler = flow([give("_quiet"), give("loud")]);
    const done = await dispatch(
      { tools: { h: { flow: handler, input: { _own: "arguments.n", n: "arguments.n" } } } },
      { calls: [call("x", "h", { n: 1 })], tools: read("give", [{ _kept: 1 }]) },
    );
    const result = done.entries[0]?.result;
    expect(result).toMatchObject({ n: 1, loud: { _kept: 1 }, tool_name: "h" });
    expect(result).not.toHaveProperty("_quiet");
    expect(result).not.toHaveProperty("_own");
  });

  it("is never cut, and always well-formed text", async () => {
    const long = `${"🙂".repeat(60_000)}\ud83d`;
    const done = await dispatch(
      { tools: { give: { tool: "give" } } },
      { calls: [call("x", "give")], tools: read("give", [long]) },
    );
    expect(done.messages[0]?.content).toBe(`${"🙂".repeat(60_000)}\ufffd`);
  });

  it("keeps what tools give as data, whatever its keys", async () => {
    const rows = JSON.parse('{"rows":[{"__proto__":{"admin":true},"a":1}]}');
    const done = await dispatch(
      { tools: { give: { tool: "give" } } },
      { calls: [call("__proto__", "give")], tools: read("give", [rows]) },
    );
    expect(done.entries[0]?.content).toBe('{"rows":[{"__proto__":{"admin":true},"a":1}]}');
    expect(Object.keys(Object(done.context.tool_results_by_id))).toEqual(["__proto__"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe("a call that can't be run", () => {
  const look = () => read("look");
  const closed = read("closed", ["shut"], {
    inputSchema: {
      type: "object",
      properties: { day: { type: "integer" } },
      required: ["day"],
      additionalProperties: false,
    },
  });
  const config: DispatchConfig = { tools: { city, closed: { tool: "closed" } }, on_error: "ignore" };

  it.each([
    [
      "of an unknown tool",
      call("x", "town", { city: "Rome" }),
      'There is no tool named "town". Call one of "city", "closed".',
    ],
    ["named as what objects inherit", call("x", "constructor"), 'There is no tool named "constructor".'],
    ["named __proto__", call("x", "__proto__"), 'There is no tool named "__proto__".'],
    ["without a name", { id: "x", type: "function", function: { arguments: "{}" } }, "The call has no name."],
    ["with broken JSON", call("x", "city", '{"city": "Rom'), "not valid JSON"],
    ["with a list", call("x", "city", '["Rome"]'), "must be one JSON object"],
    ["with two objects", call("x", "city", '{"city":"Rome"}{"city":"Bari"}'), "exactly one JSON object"],
    ["with arguments that do not fit the workflow", call("x", "city", { city: 12 }), "/city"],
    ["with arguments that do not fit the tool", call("x", "closed", { day: "monday" }), "/day"],
    ["with arguments that a closed tool does not know", call("x", "closed", { day: 1, night: 2 }), "night"],
  ])("%s is answered, and nothing is run for it", async (_name, bad, text) => {
    const tool = look();
    const done = await dispatch(config, {
      calls: [bad, call("good", "city", { city: "Oslo" })],
      tools: [tool, closed],
    });
    expect(done.status).toBe("completed");
    expect(done.entries.map(({ success }) => success)).toEqual([false, true]);
    expect(done.entries[0]).toMatchObject({ id: "x", result: { error: done.entries[0]?.error } });
    expect(done.entries[0]?.error).toContain(text);
    expect(done.messages[0]).toEqual({
      role: "tool",
      tool_call_id: "x",
      content: JSON.stringify(done.entries[0]?.result),
    });
    expect(done.context).toMatchObject({ tool_results_errors: 1, tool_results_all_succeeded: false });
    expect(tool.calls.map(({ inputs }) => inputs)).toEqual([{ place: "Oslo" }]);
    expect(closed.calls).toEqual([]);
  });

  it("keeps every other from starting, unless errors are ignored", async () => {
    const tool = look();
    const done = await dispatch(
      { tools: { city } },
      {
        calls: [call("a", "city", { city: "Oslo" }), call("b", "city", "{"), call("c", "city", { city: "Bari" })],
        tools: tool,
      },
    );
    expect(tool.calls).toEqual([]);
    expect(done.status).toBe("failed");
    expect(done.entries.map(({ error }) => error?.slice(0, 7))).toEqual([
      "NOT_RUN",
      done.entries[1]?.error?.slice(0, 7),
      "NOT_RUN",
    ]);
    expect(done.messages.map(({ tool_call_id }) => tool_call_id)).toEqual(["a", "b", "c"]);
    expect(done.error).toMatchObject({ name: "ToolDispatchError", code: "DISPATCH_FAILED", entries: done.entries });
    expect(done.error?.message).toBe(done.entries[1]?.error);
    expect(done.error?.toJSON().cause?.code).toBe("INVALID_ARGUMENTS");
  });

  it("says nothing of the arguments but places and keys", async () => {
    const done = await dispatch(config, {
      calls: [
        call("x", "city", { city: ["sesame-2261"] }),
        call("y", "city", '{"city": "sesame-2261'),
        call("z", "closed", { day: "sesame-2261" }),
      ],
      tools: [look(), closed],
    });
    expect(JSON.stringify(done.messages)).not.toContain("sesame-2261");
    expect(JSON.stringify(done.entries.map(({ error }) => error))).not.toContain("sesame-2261");
  });

  it("is each one, where there are more than may be", async () => {
    const tool = look();
    const calls = ["Rome", "Bari", "Oslo"].map((name, index) => call(`c${index}`, "city", { city: name }));
    for (const on_error of ["fail_fast", "ignore"]) {
      const done = await dispatch({ tools: { city }, max_calls: 2, on_error }, { calls, tools: tool });
      expect(done.status).toBe(on_error === "ignore" ? "completed" : "failed");
      expect(new Set(done.entries.map(({ error }) => error)).size).toBe(1);
      expect(done.messages).toHaveLength(3);
    }
    expect(tool.calls).toEqual([]);
    const fits = await dispatch({ tools: { city }, max_calls: 3 }, { calls, tools: tool, runId: "r2" });
    expect(fits.status).toBe("completed");
  });

  it("may be any that holds a secret", async () => {
    const tool = look();
    const secrets = ["hunter22"];
    const given = {
      calls: [call("a", "city", { city: "hunter22" }), call("b", "city", { city: "Oslo" })],
      tools: tool,
      secrets,
    };
    const done = await dispatch({ tools: { city }, on_error: "ignore" }, given);
    expect(done.entries.map(({ success }) => success)).toEqual([false, true]);
    expect(done.messages[0]?.content).not.toContain("hunter22");
    expect(tool.calls).toHaveLength(1);
  });
});

describe("a handler that fails", () => {
  it("stops what comes later under fail_fast, and undoes nothing of other calls", async () => {
    const book = write("book", [{ id: 1 }, new ToolError("sold out", { outcome: "refused" }), { id: 3 }]);
    const free = write("free");
    const booking = flow([{ id: "book", tool: "book", compensate: { tool: "free" } }], { name: "booking" });
    const done = await dispatch(
      { tools: { booking: { flow: booking } } },
      { calls: [call("a", "booking", {}), call("b", "booking", {}), call("c", "booking", {})], tools: [book, free] },
    );
    expect(done.status).toBe("failed");
    expect(statusOf(done)).toEqual([
      ["a", "ok"],
      ["b", "book: sold out"],
      ["c", expect.stringContaining("NOT_RUN")],
    ]);
    expect(done.error?.message).toBe("book: sold out");
    expect(done.error?.toJSON()).toMatchObject({ details: { entries: done.entries }, cause: { code: "TOOL_REFUSED" } });
    expect(done.context).toMatchObject({ tool_results_count: 3, tool_results_errors: 2 });
    expect([book.calls.length, free.calls.length]).toEqual([2, 0]);
  });

  it("lets the rest run under ignore, and undoes what it did itself", async () => {
    const book = write("book");
    const free = write("free");
    const pay = read("pay", [new Error("no funds"), "paid"]);
    const trip = flow([
      { id: "book", tool: "book", compensate: { tool: "free", inputs: { id: "{{steps.book.result.id}}" } } },
      { id: "pay", tool: "pay" },
    ]);
    const done = await dispatch(
      { tools: { trip: { flow: trip } }, on_error: "ignore" },
      { calls: [call("a", "trip"), call("b", "trip")], tools: [book, free, pay] },
    );
    expect(done.status).toBe("completed");
    expect(done.error).toBeUndefined();
    expect(statusOf(done)).toEqual([
      ["a", "pay: no funds"],
      ["b", "ok"],
    ]);
    expect(free.calls.map(({ inputs }) => inputs)).toEqual([{ id: 7 }]);
  });

  it("awaits those in flight, and keeps what they came to", async () => {
    const gate = deferred();
    const slow = read("slow", [() => gate.promise]);
    const bad = read("bad", [new Error("broken")]);
    const pending = dispatch(
      { tools: { slow: { tool: "slow" }, bad: { tool: "bad" } }, max_concurrent: 2 },
      { calls: [call("a", "slow"), call("b", "bad"), call("c", "bad")], tools: [slow, bad] },
    );
    await settled();
    gate.resolve("late");
    const done = await pending;
    expect(statusOf(done)).toEqual([
      ["a", "ok"],
      ["b", "bad: broken"],
      ["c", expect.stringContaining("NOT_RUN")],
    ]);
    expect(done.entries[0]?.result).toBe("late");
    expect(bad.calls).toHaveLength(1);
  });

  it("has its result from its context, the reason beside it", async () => {
    const steps = [
      { id: "tool_result_text", tool: "look" },
      { id: "pay", tool: "pay" },
    ];
    const done = await dispatch(
      { tools: { trip: { flow: flow(steps) } } },
      { calls: [call("a", "trip")], tools: [read("look", ["so far"]), read("pay", [new Error("no")])] },
    );
    expect(done.entries[0]).toMatchObject({ success: false, result: "so far", content: "so far", error: "pay: no" });
    expect(done.messages[0]?.content).toBe("so far");
  });

  it.each<[string, unknown, string]>([
    ["a text that was thrown", "plain", "say: plain"],
    ["a returned error", () => new Error("over quota"), "say: over quota"],
    [
      "an outcome that nobody knows",
      new ToolError("cut off", { outcome: "in_doubt" }),
      "say: cut off (it may have been done)",
    ],
    ["no JSON", () => ({ big: 1n }), "say: The value at /big is not JSON"],
  ])("tells %s", async (_name, entry, text) => {
    const thrown = () => {
      throw entry;
    };
    const script = [typeof entry === "function" ? (entry as () => unknown) : thrown];
    const done = await dispatch(
      { tools: { say: { tool: "say" } } },
      { calls: [call("a", "say")], tools: write("say", script), inDoubt: "fail" },
    );
    expect(done.entries[0]?.error).toContain(text);
  });

  it("leaves out what recovered, and cuts what is long", async () => {
    const steps = [
      { id: "first", tool: "bad", fallback: { tool: "good" } },
      { id: "last", tool: "long" },
    ];
    const tools = [
      read("bad", [new Error("never told")]),
      read("good"),
      read("long", [new Error(`${"🙂".repeat(900)} is all`)]),
    ];
    const done = await dispatch({ tools: { h: { flow: flow(steps) } } }, { calls: [call("a", "h")], tools });
    const error = done.entries[0]?.error ?? "";
    expect(error).not.toContain("never told");
    expect(error.startsWith("last: 🙂")).toBe(true);
    expect(error.length).toBeLessThanOrEqual(2_000);
    expect(error).not.toMatch(/\p{Surrogate}/u);
  });

  it("names five reasons at most: its own, then what could not be undone", async () => {
    const steps = [1, 2, 3, 4, 5, 6].map((n) => ({ id: `s${n}`, tool: "book", compensate: { tool: "free" } }));
    const tools = [
      write("book"),
      write("free", [new ToolError("locked", { outcome: "refused" })]),
      read("bad", [new Error("stop")]),
    ];
    const handler = flow([...steps, { id: "bad", tool: "bad" }]);
    const done = await dispatch({ tools: { h: { flow: handler } } }, { calls: [call("a", "h")], tools });
    expect(done.entries[0]?.error).toBe("bad: stop; s6: locked; s5: locked; s4: locked; s3: locked; and 2 more");
  });

  it("shows no secret of its tools", async () => {
    const tools = read("bad", [new Error("key hunter22 was refused")]);
    const done = await dispatch(
      { tools: { bad: { tool: "bad" } } },
      { calls: [call("a", "bad")], tools, secrets: ["hunter22"] },
    );
    expect(JSON.stringify(done)).not.toContain("hunter22");
    expect(done.entries[0]?.error).toContain("was refused");
  });
});

describe("the order of calls", () => {
  it("is that of the turn, with at most max_concurrent at a time", async () => {
    let running = 0;
    let most = 0;
    const gates = [deferred(), deferred(), deferred(), deferred()];
    const started: number[] = [];
    const work = read("work", [
      async ({ n }) => {
        started.push(Number(n));
        most = Math.max(most, ++running);
        await gates[Number(n)]?.promise;
        running--;
        return n;
      },
    ]);
    const pending = dispatch(
      { tools: { work: { tool: "work" } }, max_concurrent: 2 },
      { calls: [0, 1, 2, 3].map((n) => call(`c${n}`, "work", { n })), tools: work },
    );
    await settled();
    expect(started).toEqual([0, 1]);
    for (const n of [1, 2, 3, 0]) {
      gates[n]?.resolve(undefined);
      await settled();
    }
    const done = await pending;
    expect(most).toBe(2);
    expect(started).toEqual([0, 1, 2, 3]);
    expect(done.entries.map(({ result }) => result)).toEqual([0, 1, 2, 3]);
  });

  it("makes one of the same call sent twice", async () => {
    const pay = write("pay");
    const done = await dispatch(
      { tools: { pay: { tool: "pay" } } },
      { calls: [call("p", "pay", { n: 5 }), call("p", "pay", { n: 5 })], tools: pay },
    );
    expect(pay.calls).toHaveLength(1);
    expect(done.messages).toHaveLength(1);
  });
});

describe("a caller at fault", () => {
  const look = read("look");
  it.each<[string, DispatchConfig, Partial<ToolDispatchOptions>, object]>([
    [
      "names a tool that is not published",
      { tools: { a: { tool: "lok" } } },
      {},
      { code: "INVALID_DEFINITION", problems: [{ code: "UNKNOWN_TOOL", pointer: "/tools/a/tool" }] },
    ],
    [
      "names a workflow that is not given",
      { tools: { a: { flow: "far" } } },
      {},
      { problems: [{ code: "UNKNOWN_WORKFLOW", pointer: "/tools/a/flow" }] },
    ],
    [
      "maps a key that the runtime lays",
      { tools: { a: { flow: cityFlow, input: { tool_name: "x" } } } },
      {},
      { problems: [{ pointer: "/tools/a/input/tool_name" }] },
    ],
    ["allows no calls", { tools: {}, max_calls: 0 }, {}, { problems: [{ pointer: "/max_calls" }] }],
    ["gives no calls", { tools: {} }, { calls: undefined }, { code: "INVALID_OPTIONS" }],
    [
      "gives no calls under the key",
      { tools: {}, source_key: "turn" },
      { calls: undefined, context: { other: 1 } },
      { code: "INVALID_OPTIONS" },
    ],
    ["gives calls of no known shape", { tools: {} }, { calls: [{ what: 1 }] }, { code: "UNKNOWN_CALL_SHAPE" }],
    [
      "gives two calls one id",
      { tools: { city } },
      { calls: [call("a", "city", { city: "x" }), call("a", "city", { city: "y" })] },
      { code: "DUPLICATE_CALL_ID" },
    ],
    ["gives a context that is none", { tools: {} }, { context: [1] }, { code: "INVALID_OPTIONS" }],
    ["gives an empty runId", { tools: {} }, { runId: "" }, { code: "INVALID_OPTIONS" }],
    ["gives no tools", { tools: {} }, { tools: undefined as never }, { code: "INVALID_OPTIONS" }],
  ])("who %s is told so, and nothing is run", async (_name, config, given, expected) => {
    const error = await rejection(dispatch(config, { calls: [], tools: look, ...given }));
    expect(error).toMatchObject(expected);
    expect(look.calls).toEqual([]);
  });
});

describe("a policy", () => {
  it("decides about each call, and is asked once", async () => {
    const asked: string[] = [];
    const pay = write("pay");
    const done = await dispatch(
      { tools: { pay: { tool: "pay" } }, on_error: "ignore" },
      {
        calls: [call("a", "pay", { n: 1 }), call("b", "pay", { n: 2 })],
        tools: pay,
        policy: ({ fields, runId }) => {
          asked.push(runId);
          return fields.n === 1 ? { decision: "reject", reason: "too small" } : "approve";
        },
      },
    );
    expect(asked).toEqual(["run-1[0]", "run-1[1]"]);
    expect(done.entries.map(({ success }) => success)).toEqual([false, true]);
    expect(done.entries[0]?.error).toContain("too small");
    expect(pay.calls.map(({ inputs }) => inputs)).toEqual([{ n: 2 }]);
  });
});
