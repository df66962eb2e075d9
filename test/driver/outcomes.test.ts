import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { type FailureOutcome, ToolError } from "../../src/core/errors.js";
import { runWorkflow } from "../../src/driver/run.js";
import type { ToolAdapter } from "../../src/ports/tool-adapter.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import type { ScriptEntry } from "../../src/testing/scripted-tool.js";
import { drain, flow, options, read, run, write } from "./harness.js";

const undo = { tool: "undo", inputs: {} };

/** One step with two further attempts: how often it was called, and what came of it. */
async function attempt(effect: "read" | "write", entry: ScriptEntry, more: { idempotent?: boolean } = {}) {
  const tool = effect === "read" ? read("act", [entry, "second"], more) : write("act", [entry, "second"], more);
  const undoTool = write("undo");
  const clock = fakeClock();
  const workflow = flow([{ id: "act", tool: "act", inputs: {}, retries: 2, compensate: undo }]);
  const { result, labels } = await run(workflow, { tools: [tool, undoTool], clock, inDoubt: "fail" });
  return { result, labels, calls: tool.calls.length, undone: undoTool.calls.length, waits: clock.waits };
}

const thrown = (value: unknown) => () => {
  throw value;
};
const toolError = (outcome?: FailureOutcome, more: object = {}) => new ToolError("said so", { outcome, ...more });
const coded = (code: string) => Object.assign(new Error("gone"), { code });

describe("what a failure of a tool means", () => {
  it.each<[string, "read" | "write", ScriptEntry, object]>([
    ["any error of a read is tried again", "read", new Error("x"), { status: "completed", calls: 2 }],
    ["a read's time-out is tried again", "read", coded("ETIMEDOUT"), { status: "completed", calls: 2 }],
    ["a read that says it is in doubt has failed", "read", toolError("in_doubt"), { status: "completed", calls: 2 }],
    ["a read that refuses is not tried again", "read", toolError("refused"), { code: "TOOL_REFUSED", calls: 1 }],
    ["any error of a write is not applied", "write", new Error("x"), { status: "completed", calls: 2 }],
    ["a write that was never sent is tried again", "write", coded("ECONNREFUSED"), { status: "completed", calls: 2 }],
    ["a write that says not applied is tried again", "write", toolError(), { status: "completed", calls: 2 }],
    ["a write that refuses is not tried again", "write", toolError("refused"), { code: "TOOL_REFUSED", calls: 1 }],
    ["a write that is cut off is in doubt", "write", coded("ECONNRESET"), { code: "TOOL_IN_DOUBT", calls: 1 }],
    ["a write that says so is in doubt", "write", toolError("in_doubt"), { code: "TOOL_IN_DOUBT", calls: 1 }],
    [
      "a cut connection anywhere in the causes",
      "write",
      new Error("outer", { cause: new Error("inner", { cause: coded("EPIPE") }) }),
      { code: "TOOL_IN_DOUBT", calls: 1 },
    ],
    ["a returned error is thrown", "write", () => toolError("refused"), { code: "TOOL_REFUSED", calls: 1 }],
    [
      "a returned error of another realm is thrown",
      "write",
      () => runInNewContext("new TypeError('foreign')"),
      { status: "completed", calls: 2 },
    ],
    [
      "a rejected promise is thrown",
      "write",
      () => Promise.reject(toolError("refused")),
      { code: "TOOL_REFUSED", calls: 1 },
    ],
  ])("%s", async (_, effect, entry, expected) => {
    const { result, calls } = await attempt(effect, entry);
    expect({ status: result.status, code: result.error?.code, calls }).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ["a text", "boom", "boom"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a number", 3, "3"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["a BigInt", 9n, "9"],
    ["a function", () => 1, "() => 1"],
    ["an empty object", {}, "{}"],
  ])("may be %s", async (_, value, message) => {
    const { result, calls } = await attempt("read", thrown(value));
    expect([result.status, calls]).toEqual(["completed", 2]);
    const failed = await run(flow([{ id: "act", tool: "act", inputs: {} }]), { tools: read("act", [thrown(value)]) });
    expect(failed.result.error).toMatchObject({ code: "TOOL_FAILED", message, stepId: "act" });
  });

  const evil = {
    get: () => {
      throw new Error("trap");
    },
    has: () => {
      throw new Error("trap");
    },
    getPrototypeOf: () => {
      throw new Error("trap");
    },
    ownKeys: () => {
      throw new Error("trap");
    },
  };

  it.each<[string, () => unknown]>([
    [
      "an object whose getter throws",
      () => ({
        get message() {
          throw new Error("trap");
        },
      }),
    ],
    ["a proxy that throws at everything", () => new Proxy({}, evil)],
    ["an error with a proxy as its cause", () => new Error("outer", { cause: new Proxy({}, evil) })],
    [
      "an error that causes itself",
      () => {
        const error = new Error("loop");
        error.cause = error;
        return error;
      },
    ],
  ])("may be %s: it fails its step, and is data", async (_, make) => {
    for (const effect of ["read", "write"] as const) {
      const tool = effect === "read" ? read("act", [thrown(make())]) : write("act", [thrown(make())]);
      const { result } = await run(flow([{ id: "act", tool: "act", inputs: {} }]), { tools: tool });
      expect(result).toMatchObject({ status: "failed", error: { code: "TOOL_FAILED", stepId: "act" } });
      expect(JSON.parse(JSON.stringify(result.error))).toEqual(result.error);
    }
  });

  it("keeps the details and the cause that a tool gives", async () => {
    const error = new ToolError("no seats", {
      outcome: "refused",
      details: { left: 0 },
      cause: Object.assign(new TypeError("409"), { code: "E_CONFLICT" }),
    });
    const { result } = await attempt("write", error);
    expect(result.error).toEqual({
      code: "TOOL_REFUSED",
      message: "no seats",
      details: { left: 0 },
      cause: { name: "TypeError", message: "409", code: "E_CONFLICT" },
      stepId: "act",
      path: "act",
    });
  });

  it("cuts credentials out of what an error says", async () => {
    const { result } = await attempt("write", toolError("refused", { cause: new Error("sent Bearer abc.def-1") }));
    const other = await attempt("write", new ToolError("Authorization: Basic dTpwdw==", { outcome: "refused" }));
    expect(JSON.stringify([result, other.result])).not.toMatch(/abc\.def|dTpwdw/);
  });

  it("waits as long as the tool asks, where that is longer", async () => {
    const { waits } = await attempt("read", new ToolError("busy", { retryAfterMs: 90_000 }));
    expect(waits).toEqual([90_000]);
    expect((await attempt("read", new ToolError("busy", { retryAfterMs: 10 }))).waits).toEqual([1_000]);
    expect((await attempt("read", new ToolError("busy", { retryAfterMs: Number.NaN }))).waits).toEqual([1_000]);
  });

  it("is nothing that a failed listing says of the tool: no tool was called", async () => {
    const pay = write("pay");
    let lists = 0;
    const adapter: ToolAdapter = {
      list: () => {
        if (++lists === 2) throw new Error("directory is down");
        return [pay];
      },
      call: async () => pay.execute({}, JSON.parse("{}")),
    };
    const workflow = flow([{ id: "pay", tool: "pay", inputs: {}, retries: 1 }]);
    const { labels } = await run(workflow, { tools: adapter });
    expect(labels).toEqual(["pay retrying", "pay started", "pay completed", "result completed"]);
    expect(pay.calls).toHaveLength(1);
  });
});

describe("a result", () => {
  it("is JSON as JSON.stringify sees it, the same for later steps, in the output and in the journal", async () => {
    const value = {
      gone: undefined,
      nan: Number.NaN,
      inf: Number.POSITIVE_INFINITY,
      minus: -0,
      list: [undefined, 1],
      day: new Date(Date.UTC(2031, 4, 1)),
      nested: { toJSON: () => ({ a: 1 }) },
    };
    const normal = {
      nan: null,
      inf: null,
      minus: 0,
      list: [null, 1],
      day: "2031-05-01T00:00:00.000Z",
      nested: { a: 1 },
    };
    const echo = read("echo", [(inputs) => inputs]);
    const workflow = flow([
      { id: "act", tool: "act", inputs: {} },
      { id: "echo", tool: "echo", inputs: { it: "{{steps.act.result}}" } },
    ]);
    const { result } = await run(workflow, { tools: [read("act", [() => value]), echo] });
    expect(result.output).toEqual({ it: normal });
    expect(echo.calls[0]?.inputs).toEqual({ it: normal });
  });

  it("is null where a tool returns nothing", async () => {
    const { result } = await attempt("read", undefined);
    expect(result.output).toBeNull();
  });

  const loop: { self?: object } = {};
  loop.self = loop;
  let deep: unknown = 0;
  for (let level = 0; level < 100_000; level++) deep = [deep];

  it.each<[string, () => unknown, string, string]>([
    ["a BigInt", () => ({ a: [1, 2n] }), "RESULT_NOT_JSON", "/a/1"],
    ["a cycle", () => loop, "RESULT_NOT_JSON", "/self"],
    ["a function", () => ({ f: () => 1 }), "RESULT_NOT_JSON", "/f"],
    ["a symbol", () => Symbol("s"), "RESULT_NOT_JSON", ""],
    ["a typed array", () => ({ "a/b": new Uint8Array(3) }), "RESULT_NOT_JSON", "/a~1b"],
    ["a map", () => new Map(), "RESULT_NOT_JSON", ""],
    ["a set", () => [new Set()], "RESULT_NOT_JSON", "/0"],
    [
      "a getter that throws",
      () => ({
        get a() {
          throw new Error("trap");
        },
      }),
      "RESULT_NOT_JSON",
      "/a",
    ],
    [
      "a proxy that throws at everything",
      () =>
        new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error("trap");
            },
            ownKeys: () => {
              throw new Error("trap");
            },
          },
        ),
      "RESULT_NOT_JSON",
      "",
    ],
    ["100 MB of text", () => "x".repeat(100 * 1024 * 1024), "RESULT_TOO_LARGE", ""],
    ["a nesting of 100,000 levels", () => deep, "RESULT_TOO_LARGE", "/0"],
  ])(
    "that is %s can't be kept, though the call has happened: it is not tried again, and is undone",
    async (_, make, code, pointer) => {
      const { result, calls, undone } = await attempt("write", make);
      expect(calls).toBe(1);
      expect(undone).toBe(1);
      expect(result).toMatchObject({ status: "failed", error: { code, stepId: "act" }, writes: [{ state: "undone" }] });
      expect(result.error?.pointer?.startsWith(pointer)).toBe(true);
      expect((await attempt("read", make)).calls).toBe(1);
    },
  );

  it("that can't be kept never lets a fallback run", async () => {
    const other = write("other");
    const workflow = flow([{ id: "act", tool: "act", inputs: {}, fallback: { tool: "other", inputs: {} } }]);
    for (const act of [write("act", [() => 1n]), read("act", [() => 1n])]) {
      const { result } = await run(workflow, { tools: [act, other] });
      expect(result).toMatchObject({ status: "failed", error: { code: "RESULT_NOT_JSON" } });
    }
    expect(other.calls).toEqual([]);
  });

  it("of an undo is read by nobody: one that can't be kept has undone all the same", async () => {
    const workflow = flow([
      { id: "act", tool: "act", inputs: {}, compensate: undo },
      { id: "fail", tool: "fail", inputs: {} },
    ]);
    const undoTool = write("undo", [() => 1n], { idempotent: true });
    const tools = [write("act"), undoTool, write("fail", [toolError("refused")])];
    const { result, labels } = await run(workflow, { tools });
    expect(result.undoErrors).toBeUndefined();
    expect(result.writes[0]).toMatchObject({ stepId: "act", state: "undone" });
    expect(labels).toContain("act~undo undone");
    expect(undoTool.calls).toHaveLength(1);
  });

  it("as large as the limit is kept, one byte more is not", async () => {
    const limits = { maxValueBytes: 1_000 };
    const workflow = flow([{ id: "act", tool: "act", inputs: {} }]);
    const within = await run(workflow, { tools: read("act", ["x".repeat(998)]), limits });
    const beyond = await run(workflow, { tools: read("act", ["x".repeat(999)]), limits });
    expect([within.result.status, beyond.result.error?.code]).toEqual(["completed", "RESULT_TOO_LARGE"]);
  });
});

describe("retries", () => {
  const failing = (count: number) => [...Array.from({ length: count }, () => new Error("busy")), "ok"];

  it.each([
    [0, 1, [], "failed"],
    [1, 1, [1_000], "completed"],
    [2, 2, [1_000, 2_000], "completed"],
    [3, 3, [1_000, 2_000, 4_000], "completed"],
    [3, 9, [1_000, 2_000, 4_000], "failed"],
  ])("%d of them, when %d attempts fail: waits %j, then %s", async (retries, failures, waits, status) => {
    const clock = fakeClock();
    const tool = read("act", failing(failures));
    const { result } = await run(flow([{ id: "act", tool: "act", inputs: {}, retries }]), { tools: tool, clock });
    expect(clock.waits).toEqual(waits);
    expect(result.status).toBe(status);
    expect(tool.calls.map(({ attempt: n }) => n)).toEqual(Array.from({ length: waits.length + 1 }, (_, n) => n + 1));
    expect(new Set(tool.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it("are never made for inputs that do not fit", async () => {
    const clock = fakeClock();
    const tool = read("act", ["ok"], { inputSchema: { type: "object", required: ["n"] } });
    const workflow = flow([{ id: "act", tool: "act", inputs: { n: "{{input.x?}}" }, retries: 3 }]);
    const { result } = await run(workflow, { tools: tool, clock });
    expect(result.error?.code).toBe("INVALID_INPUT");
    expect(clock.waits).toEqual([]);
  });

  it("are made of a write in doubt only where its tool is idempotent, with the same key", async () => {
    const { result, calls } = await attempt("write", coded("ECONNRESET"), { idempotent: true });
    expect([result.status, calls]).toEqual(["completed", 2]);
  });

  it("of an idempotent write leave it in doubt when a later attempt only fails", async () => {
    const act = write("act", [coded("ECONNRESET"), new Error("bad"), new Error("bad")], { idempotent: true });
    const workflow = flow([{ id: "act", tool: "act", inputs: {}, retries: 2 }]);
    const { result } = await run(workflow, { tools: act, inDoubt: "fail" });
    expect(act.calls).toHaveLength(3);
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "TOOL_IN_DOUBT" },
      writes: [{ state: "in_doubt" }],
    });
  });

  it("give every call a key of its own, an undo and a fallback included", async () => {
    const workflow = flow([
      { id: "act", tool: "act", inputs: {}, compensate: undo },
      { id: "other", tool: "fail", inputs: {}, fallback: { tool: "act", inputs: {}, compensate: undo } },
      { id: "fail", tool: "fail", inputs: {} },
    ]);
    const tools = [write("act"), write("undo"), write("fail", [toolError("refused")])];
    await drain(runWorkflow(workflow, options({ tools })));
    const keys = tools.flatMap((tool) => tool.calls.map(({ idempotencyKey }) => idempotencyKey));
    expect(keys.sort()).toEqual([
      "run-1:act",
      "run-1:act~undo",
      "run-1:fail",
      "run-1:other",
      "run-1:other~fallback",
      "run-1:other~fallback~undo",
    ]);
  });
});
