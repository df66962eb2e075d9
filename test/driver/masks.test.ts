import { describe, expect, it, vi } from "vitest";
import { formatQuestion } from "../../src/core/format-question.js";
import type { JsonObject } from "../../src/core/json.js";
import { mask } from "../../src/core/mask.js";
import type { Question } from "../../src/core/question.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { auditLog } from "../../src/driver/audit-log.js";
import { inspectRun } from "../../src/driver/inspect-run.js";
import { listQuestions } from "../../src/driver/list-questions.js";
import { listWrites } from "../../src/driver/list-writes.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { approveAll, drain, flow, options, rejection, resume, run, untilQuestion, write } from "./harness.js";

const inputSchema = {
  type: "object",
  properties: {
    user: { type: "string" },
    password: { type: "string", format: "password" },
    keys: { type: "array", items: { type: "object", properties: { pin: { writeOnly: true } } } },
  },
} as const;
const inputs = { user: "kim", password: "hunter-22", keys: [{ pin: 4711, name: "n" }] };
const shown = { user: "kim", password: mask, keys: [{ pin: mask, name: "n" }] };
const enrol = flow([{ id: "enrol", tool: "enrol", inputs: "{{input}}" }], { input_schema: inputSchema });

function tool(...script: Parameters<typeof write>[1] & object) {
  return write("enrol", script.length === 0 ? [{ id: 7 }] : script, { inputSchema });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function everythingShown(store: RunStore): Promise<unknown[]> {
  return [
    await all(listQuestions(store)),
    await all(listWrites(store, "run-1")),
    await all(auditLog(store)),
    await inspectRun(store, "run-1"),
  ];
}

describe("what a tool's schema keeps from people", () => {
  it("is sent as it is, and shown to the policy, which is told what to keep to itself", async () => {
    const policy = vi.fn(approveAll);
    const enrolTool = tool();
    await run(enrol, { tools: enrolTool, policy, input: inputs });
    expect(enrolTool.calls[0]?.inputs).toEqual(inputs);
    expect(policy).toHaveBeenCalledWith(
      expect.objectContaining({ fields: inputs, masked: ["/password", "/keys/0/pin"] }),
    );
  });

  it("is masked in events, in what the host is asked, in results, and wherever a run is read", async () => {
    const store = memoryStore();
    const asked: Question[] = [];
    const given = options({ store, tools: tool(), policy: undefined, input: inputs });
    const onQuestion = (question: Question) => void asked.push(question);
    const { events, result } = await drain(runWorkflow(enrol, { ...given, onQuestion }));
    expect(events[0]).toMatchObject({ type: "question", fields: shown, masked: ["/password", "/keys/0/pin"] });
    expect(asked).toMatchObject([{ fields: shown }]);
    expect(result.questions).toMatchObject([{ fields: shown }]);
    expect(formatQuestion(asked[0] as Question)).toContain(mask);
    const seen = [events, asked, ...(await everythingShown(store))];
    await answerQuestion(store, "run-1", "enrol?1", { decision: "approve" });
    const resumed = await drain(resume(store, { tools: tool() }));
    expect(resumed.result.writes).toMatchObject([{ fields: shown }]);
    seen.push(resumed.events, ...(await everythingShown(store)));
    expect(JSON.stringify(seen)).not.toMatch(/hunter-22|4711/);
  });

  it("is not given to the preview, so that no text about the call holds it", async () => {
    const preview = (fields: JsonObject) => ({ action: `Enrol with ${fields.password}`, page: `p/${fields.user}` });
    const tools = write("enrol", [null], { inputSchema, preview });
    const { events } = await run(enrol, { tools, policy: undefined, input: inputs });
    expect(events[0]).toMatchObject({ action: `Enrol with ${mask}`, page: "p/kim" });
  });

  it("is masked where it is rejected", async () => {
    for (const policy of [() => "reject" as const, undefined]) {
      const store = memoryStore();
      const { result } = await run(enrol, { store, tools: tool(), policy, input: inputs }, async (event) => {
        if (event.type === "question") await event.answer({ decision: "reject" });
      });
      expect(result.writes).toMatchObject([{ state: "rejected", fields: shown }]);
      expect(JSON.stringify([result, ...(await everythingShown(store))])).not.toMatch(/hunter-22|4711/);
    }
  });

  it("is masked where a write is in doubt, and where it is undone", async () => {
    const store = memoryStore();
    const cut = Object.assign(new Error("cut"), { code: "ECONNRESET" });
    const compensate = { tool: "expel", inputs: { password: "{{input.password}}" } };
    const workflow = flow(
      [
        { id: "enrol", tool: "enrol", inputs: "{{input}}", compensate },
        { id: "fail", tool: "fail" },
      ],
      { input_schema: inputSchema },
    );
    const expel = write("expel", [null], { inputSchema });
    const tools = [tool(cut), expel, write("fail", [new Error("no")])];
    const first = await run(workflow, { store, tools, input: inputs });
    expect(first.events).toContainEqual(expect.objectContaining({ kind: "in_doubt", fields: shown }));
    await answerQuestion(store, "run-1", "enrol?1", { decision: "done", result: null });
    const { result, events } = await drain(resume(store, { tools }));
    expect(expel.calls[0]?.inputs).toEqual({ password: "hunter-22" });
    expect(result.writes[0]).toMatchObject({ state: "undone", fields: shown, undo: { fields: { password: mask } } });
    expect(JSON.stringify([first, events, ...(await everythingShown(store))])).not.toMatch(/hunter-22|4711/);
  });
});

describe("an edit", () => {
  async function ask(store: RunStore) {
    const stream = runWorkflow(enrol, options({ store, tools: tool(), policy: undefined, input: inputs }));
    return { stream, question: await untilQuestion(stream) };
  }

  it.each<[string, JsonObject]>([
    ["a mask", { password: mask }],
    ["a mask within", { keys: [{ pin: mask, name: "other" }] }],
    ["a mask in another field", { user: mask }],
  ])("that gives %s back is refused, and changes nothing", async (_name, fields) => {
    const { stream, question } = await ask(memoryStore());
    const error = await rejection(question.answer({ decision: "approve", fields }));
    expect(error).toMatchObject({ code: "INVALID_ANSWER" });
    await question.answer({ decision: "approve", fields: { user: "lee" } });
    await drain(stream);
  });

  it("of a masked field is sent, and masked wherever it is read", async () => {
    const store = memoryStore();
    const enrolTool = tool();
    const stream = runWorkflow(enrol, options({ store, tools: enrolTool, policy: undefined, input: inputs }));
    const question = await untilQuestion(stream);
    await question.answer({ decision: "approve", fields: { password: "swordfish" } });
    const { events } = await drain(stream);
    expect(enrolTool.calls[0]?.inputs).toEqual({ ...inputs, password: "swordfish" });
    const again = answerQuestion(store, "run-1", "enrol?1", { decision: "approve" });
    const late = await rejection(again);
    expect(late).toMatchObject({ code: "ALREADY_ANSWERED", details: { answer: { fields: { password: mask } } } });
    expect(JSON.stringify([events, late, ...(await everythingShown(store))])).not.toMatch(/hunter-22|swordfish|4711/);
  });
});

describe("what a person gives", () => {
  const schema = { type: "string", format: "password" };
  const asking = flow([{ id: "pin", ask: { prompt: "PIN?", schema, default: "0000-default" } }], {
    output: { given: true },
  });

  it("is masked by the schema of its question, and so is its default", async () => {
    const store = memoryStore();
    const stream = runWorkflow(asking, options({ store }));
    const question = await untilQuestion(stream);
    expect(question).toMatchObject({ default: mask });
    expect(await rejection(question.answer({ value: mask }))).toMatchObject({ code: "INVALID_ANSWER" });
    await question.answer({ value: "my-own-pin" });
    const { events } = await drain(stream);
    expect(events[0]).toMatchObject({ path: "pin", status: "completed", result: mask });
    const late = await rejection(answerQuestion(store, "run-1", "pin?1", { value: "x" }));
    expect(JSON.stringify([question, late, events, ...(await everythingShown(store))])).not.toMatch(/0000|own-pin/);
  });

  it("goes on unmasked to the steps that read it", async () => {
    const put = write("put");
    const workflow = flow([
      asking.steps[0] as never,
      { id: "put", tool: "put", inputs: { pin: "{{steps.pin.result}}" } },
    ]);
    const onQuestion = () => ({ value: "my-own-pin" });
    await runToEnd(workflow, options({ tools: put, onQuestion }));
    expect(put.calls[0]?.inputs).toEqual({ pin: "my-own-pin" });
  });
});
