import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import type { RunOptions } from "../../src/driver/options.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { ToolAdapter } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { answering, drain, flow, journalOf, options, read, resume, run, untilQuestion, write } from "./harness.js";

const step = (id: string, tool: string, more: object = {}) => ({ id, tool, inputs: {}, ...more });
const compensate = { tool: "undo", inputs: {} };

describe("limits", () => {
  it.each([
    [2, "completed"],
    [1, "failed"],
  ])("of depth: two levels where %d are allowed", async (maxDepth, status) => {
    const { result } = await run(flow([step("a", "look")]), { tools: read("look", [[[1]]]), limits: { maxDepth } });
    expect(result.status).toBe(status);
    if (status === "failed") expect(result.error).toMatchObject({ code: "RESULT_TOO_LARGE", pointer: "/0" });
  });

  it("of records stop new forward work, and what was done is undone", async () => {
    const undo = write("undo");
    const act = write("act");
    const steps = Array.from({ length: 10 }, (_, n) => step(`s${n}`, "act", { compensate }));
    const { result } = await run(flow(steps), { tools: [act, undo], limits: { maxRecords: 6 } });
    // The start, and two records for each write.
    expect(act.calls).toHaveLength(3);
    expect(undo.calls).toHaveLength(3);
    expect(result).toMatchObject({ status: "failed", error: { code: "LIMIT_REACHED", stepId: "s3" } });
    expect(result.writes.map(({ state }) => state)).toEqual(["undone", "undone", "undone"]);
  });

  it("of records never stop outcomes and answers", async () => {
    const store = memoryStore();
    const given = options({ store, tools: write("act"), policy: undefined, limits: { maxRecords: 1 } });
    const { result } = await drain(runWorkflow(flow([{ id: "ask", ask: { prompt: "?" } }]), given));
    expect(result.error?.code).toBe("LIMIT_REACHED");
    const stream = runWorkflow(flow([step("a", "act")]), { ...given, runId: "run-2", limits: { maxRecords: 2 } });
    await (await untilQuestion(stream)).answer({ decision: "approve" });
    expect((await drain(stream)).result.status).toBe("completed");
  });

  it.each<[string, object]>([
    ["containers", { id: "both", parallel: [step("x", "look")] }],
    ["child workflows", { id: "sub", workflow: "child", inputs: {} }],
    ["asks", { id: "ask", ask: { prompt: "?" } }],
    ["waits", { id: "nap", sleep_ms: 1 }],
    ["functions", { id: "fn", run: () => 1 }],
    ["fallbacks", step("a", "look", { fallback: { tool: "look", inputs: {} } })],
  ])("of records stop %s too, which are neither retried nor recovered", async (_, second) => {
    const look = read("look");
    const workflow = flow([step("first", "look"), second as { id: string }]);
    const workflows = flow([step("x", "look")], { name: "child" });
    const { result } = await run(workflow, { tools: look, workflows, limits: { maxRecords: 2 } });
    expect(result.error?.code).toBe("LIMIT_REACHED");
    expect(look.calls).toHaveLength(1);
  });

  it("of what templates build keep a state from growing with each turn, with a warning", async () => {
    const deeper = JSON.parse(`${'{"a":'.repeat(150)}"{{input.state}}"${"}".repeat(150)}`);
    const turn = flow([{ id: "fn", run: () => 1 }], { name: "turn", output: { done: false, state: deeper } });
    const repeat = { workflow: "turn", inputs: {}, state: 1, max_iterations: 10 };
    const store = memoryStore();
    const { result } = await run(flow([{ id: "grow", repeat }]), { workflows: turn, store });
    expect(result).toMatchObject({ status: "failed", error: { code: "ITERATIONS_EXHAUSTED" } });
    const warned = (await journalOf(store)).flatMap((record) => ("warnings" in record ? [record.warnings] : []));
    expect(JSON.stringify(warned)).toContain("makes a value too large");
  });

  it("of the grace period may be none", async () => {
    const never = write("act", [() => new Promise(() => {})]);
    const workflow = flow([step("a", "act", { timeout_ms: 5 })]);
    const { result } = await run(workflow, { tools: never, limits: { gracePeriodMs: 0 }, inDoubt: "fail" });
    expect(result).toMatchObject({ error: { code: "TIMED_OUT" }, writes: [{ state: "in_doubt" }] });
  });

  it("of writes told: the first 1,000 of them, and how many there were", async () => {
    const each = flow([step("pay", "act")], { name: "each" });
    const items = Array.from({ length: 1_003 }, () => 0);
    const { result } = await run(
      flow([{ id: "all", for_each: { items: "{{input.items}}", workflow: "each", inputs: {} } }]),
      { tools: write("act", [null]), workflows: each, input: { items } },
    );
    expect([result.writes.length, result.writesTotal]).toEqual([1_000, 1_003]);
  }, 30_000);
});

describe("secrets", () => {
  const secret = 'tok/en+"1 \u00e4';
  const secrets = [secret];
  const forms: [string, string][] = [
    ["as it is", secret],
    ["JSON-escaped", JSON.stringify({ at: secret })],
    ["URL-encoded", `https://x.test/?key=${encodeURIComponent(secret)}`],
    ["in base64", Buffer.from(`user:${secret}`).toString("base64")],
    ["in base64 at another offset", Buffer.from(`u:${secret}:x`).toString("base64")],
    ["in base64 at a third offset", Buffer.from(`us:${secret}`).toString("base64")],
    ["in base64 for URLs", Buffer.from(secret).toString("base64url")],
  ];
  const clean = (given: unknown) => {
    const text = JSON.stringify(given);
    for (const [, form] of forms) expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
    expect(text).not.toContain(encodeURIComponent(secret));
    return text;
  };

  it.each(forms)("are taken out of a result, %s, in values and keys", async (_, form) => {
    const store = memoryStore();
    const echo = write("echo", [(inputs) => inputs]);
    const workflow = flow([
      step("look", "look"),
      { id: "echo", tool: "echo", inputs: { it: "{{steps.look.result}}" } },
    ]);
    const look = read("look", [() => ({ list: [form, "plain"], [`key ${form}`]: 1 })]);
    const { events } = await run(workflow, { tools: [look, echo], secrets, store });
    clean(events);
    clean(await journalOf(store));
    expect(clean(echo.calls[0]?.inputs)).toContain("plain");
  });

  it("are taken out once, so that a later step sees the same live and resumed", async () => {
    const seen: unknown[] = [];
    const echo = read("echo", [
      (inputs) => {
        seen.push(inputs);
        return null;
      },
    ]);
    const workflow = flow([
      step("look", "look"),
      { id: "live", tool: "echo", inputs: { it: "{{steps.look.result}}" } },
      { id: "ask", ask: { prompt: "?" } },
      { id: "late", tool: "echo", inputs: { it: "{{steps.look.result}}" } },
    ]);
    const given = options({ tools: [read("look", [`is ${secret}`]), echo], secrets });
    await runToEnd(workflow, given);
    await drain(resume(given.store, { tools: given.tools }), answering({ value: 1 }));
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(seen[1]);
  });

  it.each<[string, () => unknown]>([
    ["a message", () => new Error(`could not use ${secret}`)],
    ["a cause's message", () => new Error("outer", { cause: new Error(`inner ${secret}`) })],
    ["a cause's code", () => new Error("outer", { cause: Object.assign(new Error("inner"), { code: secret }) })],
    ["a name", () => Object.assign(new Error("outer"), { name: secret })],
    ["details", () => new ToolError("no", { outcome: "refused", details: { request: { auth: secret } } })],
    ["a text that is thrown", () => secret],
    ["a long message that is cut within it", () => new Error(`${"x".repeat(1_995)}${secret}`)],
  ])("are taken out of an error: %s", async (_, make) => {
    const store = memoryStore();
    const fail = write("fail", [
      () => {
        throw make();
      },
    ]);
    const { events } = await run(flow([step("fail", "fail")]), { tools: fail, secrets, store });
    clean(events);
    expect(clean(await journalOf(store))).not.toContain(secret.slice(0, 5));
  });

  it("are taken out of what a function gives, and of what a listing fails with", async () => {
    const failing: ToolAdapter = {
      list: () => {
        if (lists++ > 0) throw new Error(`GET https://x.test/?key=${encodeURIComponent(secret)} failed`);
        return [{ name: "act" }];
      },
      call: async () => null,
    };
    let lists = 0;
    const given: Partial<RunOptions> = { tools: failing, secrets };
    clean((await run(flow([{ id: "fn", run: () => secret }, step("a", "act")]), given)).events);
    lists = 0;
    const thrower = flow([
      {
        id: "fn",
        run: () => {
          throw new Error(secret);
        },
      },
    ]);
    clean((await run(thrower, given)).events);
  });

  it("leave a result that holds none as it is", async () => {
    const value = { a: [1, "plain", null, { b: true }] };
    const { result } = await run(flow([step("look", "look")]), { tools: read("look", [value]), secrets });
    expect(result.output).toEqual(value);
  });

  it("may be no well-formed text", async () => {
    const odd = "\ud800-half-a-pair";
    const { result } = await run(flow([step("look", "look")]), { tools: read("look", [`is ${odd}`]), secrets: [odd] });
    expect(JSON.stringify(result.output)).not.toContain("half-a-pair");
  });
});
