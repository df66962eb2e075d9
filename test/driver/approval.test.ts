import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolError } from "../../src/core/errors.js";
import type { ApprovalQuestion } from "../../src/core/question.js";
import type { QuestionEvent, RunOptions } from "../../src/driver/options.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { Policy, PolicyWrite } from "../../src/ports/policy.js";
import type { ToolAdapter, ToolInfo } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { type ScriptedTool, scriptedTool } from "../../src/testing/scripted-tool.js";
import {
  answering,
  drain,
  flow,
  journalOf,
  options,
  read,
  rejection,
  resume,
  run,
  untilQuestion,
  write,
} from "./harness.js";

const refused = new ToolError("no", { outcome: "refused" });
const transfer = { id: "pay", tool: "transfer", inputs: { to: "acc-4", sum: "{{input.sum}}" } };
const schema = {
  type: "object",
  properties: { to: { type: "string" }, sum: { type: "number" } },
  required: ["to", "sum"],
  additionalProperties: false,
} as const;

function paying(more: Partial<RunOptions> = {}) {
  const tool = write("transfer", [{ id: 3 }], { inputSchema: schema });
  const given = options({ tools: tool, policy: undefined, input: { sum: 80 }, ...more });
  return { tool, given, store: given.store };
}

/** An adapter whose tool can be published anew, or not at all. */
function republished(first: ToolInfo): { adapter: ToolAdapter; publish(info?: ToolInfo): void; calls: unknown[] } {
  let published: ToolInfo | undefined = first;
  const calls: unknown[] = [];
  return {
    calls,
    publish: (info) => {
      published = info;
    },
    adapter: {
      list: () => (published === undefined ? [] : [published]),
      call: async (_name, inputs) => {
        calls.push(inputs);
        return { id: 3 };
      },
    },
  };
}

async function asked(stream: ReturnType<typeof runWorkflow>): Promise<ApprovalQuestion & QuestionEvent> {
  const question = await untilQuestion(stream);
  if (question.kind !== "approval") throw new Error(`Not an approval: ${question.kind}`);
  return question;
}

describe("a question about a write", () => {
  it("is asked where there is no policy, and shows all that will be sent", async () => {
    const tool = write("transfer", [{ id: 3 }], {
      inputSchema: schema,
      site: "bank.test",
      preview: ({ to }) => ({ page: `Account ${String(to)}`, action: "Transfer money", labels: { to: "Payee" } }),
    });
    const workflow = flow([{ ...transfer, compensate: { tool: "recall", inputs: {} } }]);
    const { given, store } = paying({ tools: [tool, write("recall")] });
    const question = await asked(runWorkflow(workflow, given));
    expect(question).toEqual({
      type: "question",
      kind: "approval",
      id: "pay?1",
      runId: "run-1",
      stepId: "pay",
      path: "pay",
      purpose: "step",
      at: "2030-01-01T00:00:00.000Z",
      askedAt: "2030-01-01T00:00:00.000Z",
      seq: 1,
      tool: "transfer",
      site: "bank.test",
      page: "Account acc-4",
      action: "Transfer money",
      labels: { to: "Payee" },
      fields: { to: "acc-4", sum: 80 },
      undo: { tool: "recall" },
      schema,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      answer: expect.any(Function),
    });
    expect(tool.calls).toEqual([]);
    expect(await store.head("run-1")).toMatchObject({ status: "waiting", openQuestions: 1 });
  });

  it.each<[string, Partial<ToolInfo>, object]>([
    ["no preview, with a site and a title", { site: "bank.test", title: "Pay" }, { page: "bank.test", action: "Pay" }],
    ["nothing at all", {}, { action: "transfer" }],
    [
      "a preview that throws",
      {
        title: "Pay",
        preview: () => {
          throw new Error("x");
        },
      },
      { action: "Pay" },
    ],
    [
      "a preview of the wrong kinds",
      { preview: () => JSON.parse('{ "page": 3, "action": null, "labels": { "to": 4 } }') },
      { action: "transfer" },
    ],
    ["a preview of nothing", { preview: () => JSON.parse("null") }, { action: "transfer" }],
    ["a preview of undefined", { preview: (() => {}) as never }, { action: "transfer" }],
  ])("falls back where the tool gives %s", async (_, info, shown) => {
    const tool = write("transfer", [1], info);
    const question = await asked(runWorkflow(flow([transfer]), paying({ tools: tool }).given));
    const { page, action, labels } = question;
    expect({ ...(page && { page }), action, ...(labels && { labels }) }).toEqual(shown);
    expect(question.undo).toBeNull();
  });

  it("can't be changed by a preview, nor can the inputs", async () => {
    const tool = write("transfer", [1], {
      preview: (inputs) => {
        Object.assign(inputs, { sum: 1 });
        return {};
      },
    });
    const { result } = await run(flow([transfer]), { ...paying({ tools: tool }).given }, async (event) => {
      if (event.type !== "question" || event.kind !== "approval") return;
      expect(event.fields).toEqual({ to: "acc-4", sum: 80 });
      await event.answer({ decision: "approve" });
    });
    expect(tool.calls[0]?.inputs).toEqual({ to: "acc-4", sum: 80 });
    expect(result.writes[0]?.fields).toEqual({ to: "acc-4", sum: 80 });
  });

  it("names what undoes the write: the container's compensation where the step has none", async () => {
    const inner = flow([{ ...transfer, inputs: { to: "a", sum: 1 } }], {});
    const workflow = flow([{ id: "sub", workflow: "trip", inputs: {}, compensate: { tool: "reverse", inputs: {} } }], {
      name: "outer",
    });
    const { given } = paying({ tools: [write("transfer"), write("reverse")], workflows: inner });
    expect(await asked(runWorkflow(workflow, given))).toMatchObject({ path: "sub/pay", undo: { tool: "reverse" } });
  });
});

describe("the policy", () => {
  it("is shown the write, whole and apart from what is sent", async () => {
    const seen: PolicyWrite[] = [];
    const tool = write("transfer", [1], { inputSchema: schema, site: "bank.test", idempotent: true });
    const { given } = paying({
      tools: [tool, write("recall")],
      policy: (shown) => {
        seen.push(structuredClone(shown));
        Object.assign(shown.fields, { sum: 1 });
        return "approve";
      },
    });
    await drain(runWorkflow(flow([{ ...transfer, compensate: { tool: "recall", inputs: {} } }]), given));
    expect(seen).toEqual([
      {
        purpose: "step",
        runId: "run-1",
        workflow: "trip",
        stepId: "pay",
        path: "pay",
        tool: "transfer",
        site: "bank.test",
        page: "bank.test",
        action: "transfer",
        fields: { to: "acc-4", sum: 80 },
        undo: { tool: "recall" },
        idempotent: true,
      },
    ]);
    expect(tool.calls[0]?.inputs).toEqual({ to: "acc-4", sum: 80 });
  });

  it.each<[string, Policy, string]>([
    ["approve", () => "approve", "completed"],
    ["approve, late", async () => ({ decision: "approve" }), "completed"],
    ["ask", () => "ask", "waiting"],
    ["reject", () => ({ decision: "reject", reason: "too much" }), "failed"],
    [
      "throw",
      () => {
        throw new Error("x");
      },
      "waiting",
    ],
    ["reject a promise", () => Promise.reject(new Error("x")), "waiting"],
    ["throw nothing", () => Promise.reject(), "waiting"],
    ["say true", () => JSON.parse("true"), "waiting"],
    ["say yes", () => JSON.parse('"yes"'), "waiting"],
    ["say nothing", () => undefined as never, "waiting"],
    ["say null", () => JSON.parse("null"), "waiting"],
    ["give an empty object", () => JSON.parse("{}"), "waiting"],
    ["give a reason that is no text", () => JSON.parse('{ "decision": "approve", "reason": 1 }'), "waiting"],
    ["give an expiry before now", () => ({ decision: "ask", expiresAfterMs: -1 }), "waiting"],
    ["give an expiry that is text", () => JSON.parse('{ "decision": "ask", "expiresAfterMs": "5" }'), "waiting"],
    ["give an expiry beyond all dates", () => ({ decision: "ask", expiresAfterMs: Number.MAX_VALUE }), "waiting"],
    ["give no number for an expiry", () => ({ decision: "ask", expiresAfterMs: Number.NaN }), "waiting"],
  ])("may %s: only a clear yes lets the write be made", async (_, policy, status) => {
    const { tool, given } = paying({ policy });
    const result = await runToEnd(flow([transfer]), given);
    expect(result.status).toBe(status);
    expect(tool.calls).toHaveLength(status === "completed" ? 1 : 0);
  });

  it("has its reason recorded, and shown to whoever is asked", async () => {
    const { given } = paying({ policy: () => ({ decision: "ask", reason: "above 50" }) });
    expect(await asked(runWorkflow(flow([transfer]), given))).toMatchObject({ reason: "above 50" });
    const approved = paying({ policy: () => ({ decision: "approve", reason: "small" }) });
    await runToEnd(flow([transfer]), approved.given);
    expect(await journalOf(approved.store)).toContainEqual(
      expect.objectContaining({
        kind: "write_intended",
        decision: { by: "policy", at: "2030-01-01T00:00:00.000Z", reason: "small" },
      }),
    );
  });

  it("is not asked again on a retry, nor after a restart", async () => {
    let count = 0;
    const policy: Policy = () => {
      count++;
      return "approve";
    };
    const tool = write("transfer", [new Error("busy"), new Error("busy"), 1]);
    const { given, store } = paying({ tools: tool, policy });
    const stream = runWorkflow(flow([{ ...transfer, retries: 3 }]), given);
    await stream.next();
    await stream.next();
    await stream.return();
    const { result } = await drain(resume(store, { tools: tool, policy }));
    expect(result.status).toBe("completed");
    expect(tool.calls).toHaveLength(3);
    expect(count).toBe(1);
  });

  it("that never answers holds nothing when the run is cancelled", async () => {
    const controller = new AbortController();
    const { tool, given } = paying({ policy: () => new Promise(() => {}), signal: controller.signal });
    const result = runToEnd(flow([transfer]), given);
    setImmediate(() => controller.abort());
    expect(await result).toMatchObject({ status: "cancelled", writes: [] });
    expect(tool.calls).toEqual([]);
  });

  it("decides about undos and fallbacks too", async () => {
    const purposes: string[] = [];
    const workflow = flow([
      { id: "a", tool: "transfer", inputs: {}, compensate: { tool: "recall", inputs: { of: "{{steps.a.result}}" } } },
      { id: "b", tool: "fail", inputs: {}, fallback: { tool: "transfer", inputs: {} } },
      { id: "c", tool: "fail", inputs: {} },
    ]);
    const recall = write("recall");
    const { result } = await run(workflow, {
      tools: [write("transfer", ["t-1"]), recall, write("fail", [refused])],
      policy: ({ purpose, path, tool, fields, undo }) => {
        purposes.push(`${purpose} ${path} ${tool}`);
        if (purpose !== "undo") return "approve";
        expect([fields, undo]).toEqual([{ of: "t-1" }, undefined]);
        return { decision: "reject", reason: "keep it" };
      },
    });
    expect(purposes).toEqual([
      "step a transfer",
      "step b fail",
      "fallback b~fallback transfer",
      "step c fail",
      "undo a~undo recall",
    ]);
    expect(recall.calls).toEqual([]);
    expect(result.writes[0]).toMatchObject({ stepId: "a", state: "undo_failed", reason: "rejected" });
    expect(result.undoErrors).toMatchObject([{ code: "REJECTED", stepId: "a", path: "a~undo" }]);
    expect(result.error).toMatchObject({ code: "TOOL_REFUSED", stepId: "c" });
  });

  it("decides on every route to a tool: child workflows, loops and dispatches", async () => {
    const child = flow([{ id: "pay", tool: "transfer", inputs: {} }], { name: "child" });
    const state = { done: true, state: 1 };
    const looping = flow([{ id: "pay", tool: "transfer", inputs: {} }], { name: "looping", output: state });
    const workflow = flow([
      { id: "sub", workflow: "child", inputs: {} },
      { id: "each", for_each: { items: [1, 2], workflow: "child", inputs: {} } },
      { id: "again", repeat: { workflow: "looping", inputs: {}, state: 0, max_iterations: 2 } },
      { id: "side", parallel: [{ id: "inner", tool: "transfer", inputs: {} }] },
      {
        id: "calls",
        tool_dispatch: { source_key: "calls", tools: { go: { tool: "transfer" }, run: { flow: "child" } } },
      },
    ]);
    const paths: string[] = [];
    const calls = ["go", "run"].map((name) => ({ id: name, type: "function", function: { name, arguments: "{}" } }));
    const { result } = await run(workflow, {
      tools: write("transfer"),
      workflows: [child, looping],
      input: { calls },
      policy: ({ path }) => {
        paths.push(path);
        return "approve";
      },
    });
    expect(result.status).toBe("completed");
    expect(paths).toEqual([
      "sub/pay",
      "each[0]/pay",
      "each[1]/pay",
      "again[0]/pay",
      "side/inner",
      "calls[0]",
      "calls[1]/pay",
    ]);
  });
});

describe("an approval", () => {
  it("lets the write be made as shown, and is recorded with who gave it", async () => {
    const { tool, given, store } = paying();
    const { result } = await drain(
      runWorkflow(flow([transfer]), given),
      answering({ decision: "approve", by: "ada", note: "fine" }),
    );
    expect(tool.calls.map(({ inputs }) => inputs)).toEqual([{ to: "acc-4", sum: 80 }]);
    expect(result.writes).toMatchObject([{ decidedBy: "ada", decidedAt: "2030-01-01T00:00:00.000Z", state: "done" }]);
    expect(await journalOf(store)).toContainEqual(
      expect.objectContaining({
        kind: "write_intended",
        decision: { by: "ada", at: "2030-01-01T00:00:00.000Z", reason: "fine", questionId: "pay?1" },
      }),
    );
  });

  it("may change fields: both versions are recorded, and what was changed is what runs and what is read", async () => {
    const { tool, given, store } = paying();
    const workflow = flow([transfer], { output: "{{steps.pay.inputs}}" });
    const { result } = await drain(
      runWorkflow(workflow, given),
      answering({ decision: "approve", fields: { sum: 75 }, by: "ada" }),
    );
    const edited = { to: "acc-4", sum: 75 };
    expect(tool.calls.map(({ inputs }) => inputs)).toEqual([edited]);
    expect(result).toMatchObject({ output: edited, writes: [{ fields: edited }] });
    const records = await journalOf(store);
    expect(records).toContainEqual(
      expect.objectContaining({
        kind: "question_asked",
        question: expect.objectContaining({ fields: { to: "acc-4", sum: 80 } }),
      }),
    );
    expect(records).toContainEqual(expect.objectContaining({ kind: "write_intended", inputs: edited }));
  });

  it.each<[string, unknown]>([
    ["of the wrong kind", { sum: "much" }],
    ["of an unknown property of a closed schema", { iban: "x" }],
    ["that are no object", ["sum"]],
    ["that are no JSON", { sum: 1n }],
    ["of __proto__ in a closed schema", JSON.parse('{ "__proto__": { "sum": 1 } }')],
  ])("with fields %s is no answer: nothing runs, and the question stays open", async (_, fields) => {
    const { tool, given, store } = paying();
    const stream = runWorkflow(flow([transfer]), given);
    const question = await asked(stream);
    const error = await rejection(question.answer({ decision: "approve", fields } as never));
    expect(error).toMatchObject({ code: "INVALID_ANSWER", path: "pay" });
    expect(await journalOf(store)).toHaveLength(2);
    const { result } = await drain(stream);
    expect(result).toMatchObject({ status: "waiting", questions: [{ id: "pay?1" }] });
    expect(tool.calls).toEqual([]);
  });

  it("may change fields of any name where the schema is open, __proto__ as plain data", async () => {
    const tool = write("transfer");
    const fields = JSON.parse('{ "__proto__": { "a": 1 }, "constructor": 2 }');
    await drain(
      runWorkflow(flow([transfer]), paying({ tools: tool }).given),
      answering({ decision: "approve", fields }),
    );
    expect(JSON.stringify(tool.calls[0]?.inputs)).toBe('{"to":"acc-4","sum":80,"__proto__":{"a":1},"constructor":2}');
  });

  it("is checked against what a schema in code says of its output, and can't be edited where it says nothing", async () => {
    const coded = write("transfer", [1], { inputSchema: z.object({ to: z.string(), sum: z.number() }) });
    const silent = write("transfer", [1], {
      inputSchema: { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) } },
    });
    for (const [tool, fields] of [
      [coded, { sum: "x" }],
      [silent, { sum: 1 }],
    ] as const) {
      const question = await asked(runWorkflow(flow([transfer]), paying({ tools: tool }).given));
      expect(await rejection(question.answer({ decision: "approve", fields }))).toMatchObject({
        code: "INVALID_ANSWER",
      });
      await question.answer({ decision: "approve" });
    }
  });

  it("serves all attempts of its call", async () => {
    const tool = write(
      "transfer",
      [new Error("busy"), Object.assign(new Error("cut"), { code: "ECONNRESET" }), { id: 3 }],
      {
        inputSchema: schema,
        idempotent: true,
      },
    );
    const { labels } = await drain(
      runWorkflow(flow([{ ...transfer, retries: 2 }]), paying({ tools: tool }).given),
      answering({ decision: "approve", fields: { sum: 79 } }),
    );
    expect(labels.filter((label) => label.includes("approval"))).toEqual(["pay?1 approval"]);
    expect(tool.calls.map(({ inputs }) => inputs.sum)).toEqual([79, 79, 79]);
  });

  it("serves no other call of the same tool", async () => {
    const { tool, given } = paying();
    const workflow = flow([transfer, { ...transfer, id: "more", inputs: { to: "acc-4", sum: 9_000 } }]);
    const callsWhenAsked: number[] = [];
    const { result } = await drain(
      runWorkflow(workflow, given),
      answering(({ path }) => {
        callsWhenAsked.push(tool.calls.length);
        return path === "pay" ? { decision: "approve" } : undefined;
      }),
    );
    expect(callsWhenAsked).toEqual([0, 1]);
    expect(tool.calls).toHaveLength(1);
    expect(result).toMatchObject({ status: "waiting", questions: [{ id: "more?1" }] });
  });

  it("is not asked for again by a restart: what was approved goes on", async () => {
    const { tool, given, store } = paying();
    const stream = runWorkflow(flow([transfer]), given);
    await (await asked(stream)).answer({ decision: "approve", by: "ada" });
    await stream.return();
    expect(tool.calls).toEqual([]);
    const { labels } = await drain(resume(store, { tools: tool, policy: undefined }));
    expect(labels).toEqual(["pay started", "pay completed", "result completed"]);
  });

  it("of an undo is asked like any other, while the run waits undoing", async () => {
    const recall = write("recall", ["back"]);
    const workflow = flow([
      { ...transfer, compensate: { tool: "recall", inputs: { id: "{{steps.pay.result.id}}" } } },
      { id: "fail", tool: "fail", inputs: {} },
    ]);
    const tool = write("transfer", [{ id: 3 }]);
    const tools = [tool, recall, write("fail", [refused])];
    const policy: Policy = ({ purpose }) => (purpose === "undo" ? "ask" : "approve");
    const { given, store } = paying({ tools, policy });
    const waiting = await runToEnd(workflow, given);
    expect(waiting).toMatchObject({
      status: "waiting",
      phase: "undoing",
      questions: [
        { id: "pay~undo?1", kind: "approval", purpose: "undo", tool: "recall", fields: { id: 3 }, undo: null },
      ],
      writes: [
        { stepId: "pay", state: "done" },
        { stepId: "fail", state: "failed" },
      ],
    });
    expect(await store.head("run-1")).toMatchObject({ status: "waiting", phase: "undoing", openQuestions: 1 });
    const { result } = await drain(resume(store, { tools, policy }), answering({ decision: "approve", by: "bob" }));
    expect(result).toMatchObject({
      status: "failed",
      error: { stepId: "fail" },
      writes: [{ state: "undone", undo: { tool: "recall", fields: { id: 3 }, decidedBy: "bob" } }, {}],
    });
  });
});

describe("a rejection", () => {
  it("fails its step without a call, a retry or a fallback, and undoes what was done", async () => {
    const { tool, given } = paying();
    const recall = write("recall");
    const other = write("other");
    const workflow = flow([
      { id: "first", tool: "other", inputs: {}, compensate: { tool: "recall", inputs: {} } },
      { ...transfer, retries: 3, fallback: { tool: "other", inputs: {} } },
    ]);
    const { result, labels } = await drain(
      runWorkflow(workflow, {
        ...given,
        tools: [tool, recall, other],
        policy: ({ path }) => (path === "pay" ? "ask" : "approve"),
      }),
      answering({ decision: "reject", by: "bea", note: "wrong sum" }),
    );
    expect(tool.calls).toEqual([]);
    expect(other.calls).toHaveLength(1);
    expect(labels.slice(-4)).toEqual(["pay failed", "first~undo undoing", "first~undo undone", "result failed"]);
    expect(result.error).toMatchObject({
      code: "REJECTED",
      stepId: "pay",
      message: expect.stringContaining("wrong sum"),
    });
    expect(result.writes).toMatchObject([
      { stepId: "first", state: "undone" },
      { stepId: "pay", state: "rejected", decidedBy: "bea", fields: { to: "acc-4", sum: 80 } },
    ]);
  });

  it("by the policy is the same, and says so", async () => {
    const { given, store } = paying({ policy: () => ({ decision: "reject", reason: "over 50" }) });
    const result = await runToEnd(flow([transfer]), given);
    expect(result).toMatchObject({
      error: { code: "REJECTED", message: "The policy rejected the call of transfer: over 50" },
      writes: [{ state: "rejected", decidedBy: "policy" }],
    });
    expect(await journalOf(store)).toContainEqual(
      expect.objectContaining({ kind: "failed", rejected: expect.objectContaining({ tool: "transfer" }) }),
    );
  });
});

describe("what runs is what was shown", () => {
  const info: ToolInfo = { name: "transfer", title: "Pay", description: "Sends money", inputSchema: schema };

  async function waitingOn(published: ToolInfo) {
    const tools = republished(published);
    const { given, store } = paying({ tools: tools.adapter });
    const stream = runWorkflow(flow([{ ...transfer, retries: 2 }]), given);
    const question = await asked(stream);
    return { ...tools, stream, question, store };
  }

  it("fails the step when the tool was unpublished meanwhile", async () => {
    const { publish, stream, question, calls } = await waitingOn(info);
    publish(undefined);
    await question.answer({ decision: "approve" });
    const { result } = await drain(stream);
    expect(result.error).toMatchObject({ code: "UNKNOWN_TOOL", stepId: "pay" });
    expect(calls).toEqual([]);
  });

  it.each<[string, ToolInfo, ToolInfo]>([
    ["schema", info, { ...info, inputSchema: { ...schema, properties: { ...schema.properties, note: {} } } }],
    ["version", { ...info, version: "1" }, { ...info, version: "2" }],
  ])("asks anew when its %s changed, and supersedes the question", async (_, before, after) => {
    const { publish, stream, question, calls } = await waitingOn(before);
    publish(after);
    await question.answer({ decision: "approve" });
    const second = await asked(stream);
    expect(second).toMatchObject({ id: "pay?2", supersedes: "pay?1", fields: { to: "acc-4", sum: 80 } });
    expect(second.fingerprint).not.toBe(question.fingerprint);
    expect(calls).toEqual([]);
    expect(await rejection(question.answer({ decision: "reject" }))).toMatchObject({ code: "QUESTION_CLOSED" });
    await second.answer({ decision: "approve" });
    const { result } = await drain(stream);
    expect(result.status).toBe("completed");
    expect(calls).toHaveLength(1);
  });

  it.each<[string, Partial<ToolInfo>]>([
    ["title", { title: "Send" }],
    ["description", { description: "Moves money" }],
    ["site", { site: "other.test" }],
    [
      "schema's titles and descriptions",
      {
        inputSchema: {
          ...schema,
          title: "T",
          properties: { to: { type: "string", description: "d" }, sum: { type: "number" } },
        },
      },
    ],
    ["schema's order of keys", { inputSchema: Object.fromEntries(Object.entries(schema).reverse()) }],
  ])("does not ask anew when its %s changed", async (_, change) => {
    const { publish, stream, question, calls } = await waitingOn(info);
    publish({ ...info, ...change });
    await question.answer({ decision: "approve" });
    const { labels } = await drain(stream);
    expect(labels).toEqual(["pay started", "pay completed", "result completed"]);
    expect(calls).toHaveLength(1);
  });

  it("does not ask anew for another schema when the version is the same", async () => {
    const { publish, stream, question } = await waitingOn({ ...info, version: "7" });
    publish({ ...info, version: "7", inputSchema: { ...schema, properties: { ...schema.properties, note: {} } } });
    await question.answer({ decision: "approve" });
    expect((await drain(stream)).labels).toContain("pay completed");
  });

  it("asks anew after a restart too, where the tool was published anew while nobody drove", async () => {
    const { publish, stream, question, store, adapter } = await waitingOn(info);
    await question.answer({ decision: "approve" });
    await stream.return();
    publish({ ...info, inputSchema: true });
    const { labels, result } = await drain(resume(store, { tools: adapter, policy: undefined }));
    expect(labels).toEqual(["pay?2 approval", "result waiting"]);
    expect(result.questions).toMatchObject([{ id: "pay?2", supersedes: "pay?1" }]);
  });

  it("asks anew between attempts", async () => {
    let publish = (_: ToolInfo) => {};
    const tools = republished(info);
    publish = tools.publish;
    const adapter: ToolAdapter = {
      list: tools.adapter.list,
      call: async (...args) => {
        await tools.adapter.call(...args);
        publish({ ...info, inputSchema: true });
        throw new Error("busy");
      },
    };
    const { given } = paying({ tools: adapter });
    const { labels } = await drain(
      runWorkflow(flow([{ ...transfer, retries: 2 }]), given),
      answering(({ id }) => (id === "pay?1" ? { decision: "approve" } : undefined)),
    );
    expect(labels).toEqual(["pay?1 approval", "pay started", "pay retrying", "pay?2 approval", "result waiting"]);
    expect(tools.calls).toHaveLength(1);
  });

  it("checks the inputs against the new schema", async () => {
    const { publish, stream, question, calls } = await waitingOn(info);
    publish({ ...info, inputSchema: { type: "object", required: ["iban"] } });
    await question.answer({ decision: "approve" });
    expect((await drain(stream)).result.error).toMatchObject({ code: "INVALID_INPUT", stepId: "pay" });
    expect(calls).toEqual([]);
  });

  const fingerprintOf = async (tool: ScriptedTool, runId = "run-1", step: object = transfer) => {
    const given = { ...paying({ tools: tool, runId }).given };
    return (await asked(runWorkflow(flow([step as typeof transfer]), given))).fingerprint;
  };
  const published = (more: Partial<ToolInfo> = {}, name = "transfer") =>
    scriptedTool({ name, script: [1], inputSchema: schema, ...more });

  it("binds a fingerprint to run, path, document, tool, schema or version, and inputs", async () => {
    const base = await fingerprintOf(published());
    expect(await fingerprintOf(published())).toBe(base);
    expect(await fingerprintOf(published({ title: "T", description: "D", site: "s" }))).toBe(base);
    const others = await Promise.all([
      fingerprintOf(published(), "run-2"),
      fingerprintOf(published(), "run-1", { ...transfer, id: "other" }),
      fingerprintOf(published(), "run-1", { ...transfer, retries: 1 }),
      fingerprintOf(published(), "run-1", { ...transfer, inputs: { ...transfer.inputs, to: "acc-5" } }),
      fingerprintOf(published({}, "transfer2"), "run-1", { ...transfer, tool: "transfer2" }),
      fingerprintOf(published({ version: "1" })),
      fingerprintOf(published({ inputSchema: true })),
    ]);
    expect(new Set([base, ...others]).size).toBe(8);
  });

  it("binds values with their types, whatever the order of keys", async () => {
    const store = memoryStore();
    const of = async (runId: string, value: unknown) => {
      const tool = write("transfer");
      const workflow = flow([{ id: "pay", tool: "transfer", inputs: { it: "{{input.it}}" } }]);
      const stream = runWorkflow(
        workflow,
        options({ tools: tool, policy: undefined, store, input: { it: value }, runId }),
      );
      return (await asked(stream)).fingerprint;
    };
    const same = async (left: unknown, right: unknown) => {
      await store.delete("same");
      const first = await of("same", left);
      await store.delete("same");
      return first === (await of("same", right));
    };
    expect(await same({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect(await same({ a: 1.0 }, { a: 1 })).toBe(true);
    expect(await same({ a: 1 }, { a: "1" })).toBe(false);
    expect(await same({ a: null }, {})).toBe(false);
    expect(await same({ a: "\u00e9" }, { a: "e\u0301" })).toBe(false);
    expect(await same({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  });
});

it("lets reads run unasked, whatever the policy", async () => {
  const look = read("look");
  const { result } = await run(flow([{ id: "look", tool: "look", inputs: {} }]), {
    tools: look,
    policy: () => "reject",
  });
  expect(result.status).toBe("completed");
});
