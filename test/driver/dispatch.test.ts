import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { DispatchConfig } from "../../src/core/document.js";
import type { ToolDispatchOptions } from "../../src/driver/dispatch.js";
import { call, city, dispatch, statusOf } from "./dispatch-harness.js";
import { deferred, flow, read, rejection, settled, write } from "./harness.js";

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

describe("a configuration", () => {
  it("is read anew where it was changed since", async () => {
    const [look, tools] = [read("look"), { look: { tool: "look" }, city }];
    const config: { tools: DispatchConfig["tools"]; max_calls?: number } = { tools };
    const given = { calls: [call("a", "look"), call("b", "look")], tools: look };
    const errors = async () =>
      (await dispatch(config, { ...given, runId: crypto.randomUUID() })).context.tool_results_errors;
    expect([await errors(), await errors()]).toEqual([0, 0]);
    config.max_calls = 1;
    expect(await errors()).toBe(2);
    config.max_calls = 2;
    expect(await errors()).toBe(0);
    config.tools = { city };
    expect(await errors()).toBe(2);
    config.tools = { other: { tool: "look" } };
    expect(await errors()).toBe(2);
  });

  it("may call a tool by a name that no step could have", async () => {
    const look = read("a tool/of its own", ["seen"]);
    const done = await dispatch(
      { tools: { look: { tool: "a tool/of its own" } } },
      { calls: [call("a", "look")], tools: look },
    );
    expect(done.entries[0]).toMatchObject({ success: true, flow: "a tool/of its own", result: "seen" });
  });

  it("may name workflows that are given, and call them by tools of other names", async () => {
    const config = { tools: { where: { flow: "city", input: city.input } } };
    const done = await dispatch(config, {
      calls: [call("a", "where", { city: "Oslo" })],
      tools: read("look"),
      workflows: city.flow,
    });
    expect(done.entries[0]).toMatchObject({ success: true, name: "where", flow: "city" });
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
      { tools: { a: { flow: city.flow, input: { tool_name: "x" } } } },
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
