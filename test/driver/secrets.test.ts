import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolError } from "../../src/core/errors.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { drain, flow, journalOf, options, read, rejection, run, untilQuestion, write } from "./harness.js";

const secret = "tok-8842-north";
const secrets = [secret];
const scrubbed = "[secret removed]";

describe("what comes back from tools is scrubbed before use", () => {
  it("so that a later step is sent the same text live and resumed", async () => {
    const store = memoryStore();
    const show = write("show");
    const workflow = flow([
      { id: "look", tool: "look" },
      { id: "show", tool: "show", inputs: { text: "{{steps.look.result.text}}" } },
    ]);
    const { result } = await run(workflow, { store, secrets, tools: [read("look", [{ text: `is ${secret}` }]), show] });
    expect(show.calls[0]?.inputs).toEqual({ text: `is ${scrubbed}` });
    expect(result.writes[0]?.fields).toEqual({ text: `is ${scrubbed}` });
    expect(await journalOf(store)).toContainEqual(expect.objectContaining({ result: { text: `is ${scrubbed}` } }));
  });

  it("in errors, their details and causes, and before a credential is cut", async () => {
    const keys = ["key,behind-a-comma"];
    const cause = new Error(`sent Bearer ${keys[0]}`);
    const fail = read("fail", [new ToolError(`no: Bearer ${keys[0]}`, { details: { h: `Basic ${keys[0]}` }, cause })]);
    const { events } = await run(flow([{ id: "fail", tool: "fail" }]), { secrets: keys, tools: fail });
    expect(JSON.stringify(events)).not.toContain("behind-a-comma");
  });

  it("in what functions return and throw", async () => {
    const workflow = flow([
      { id: "give", run: () => ({ secret }) },
      { id: "fail", run: () => Promise.reject(new Error(`bad ${secret}`)) },
    ]);
    const { events, result } = await run(workflow, { secrets });
    expect(result.error?.message).toBe(`bad ${scrubbed}`);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it("in what adapters throw when they list, of previews, schemas, and reasons of a policy", async () => {
    let lists = 0;
    const info = {
      name: "put",
      site: `https://x.example/?t=${secret}`,
      inputSchema: { properties: { a: { description: secret } } },
      preview: () => ({ page: secret, action: `put ${secret}`, labels: { a: secret } }),
    };
    const adapter = {
      list: () => {
        if (lists++ === 2) throw new Error(`401 for ${secret}`);
        return [info];
      },
      call: async () => null,
    };
    const store = memoryStore();
    const policy = () => ({ decision: "ask", reason: `why ${secret}` }) as const;
    const stream = runWorkflow(flow([{ id: "put", tool: "put" }]), options({ store, secrets, policy, tools: adapter }));
    const question = await untilQuestion(stream);
    expect(question).toMatchObject({ page: scrubbed, action: `put ${scrubbed}`, reason: `why ${scrubbed}` });
    await question.answer({ decision: "approve" });
    const { events, result } = await drain(stream);
    expect(result.error?.message).toContain(scrubbed);
    expect(JSON.stringify([question, events, await journalOf(store)])).not.toContain(secret);
  });

  it("in what a schema in code says", async () => {
    const inputSchema = z.object({ a: z.string().refine(() => false, `not ${secret}`) });
    const tools = write("put", [null], { inputSchema });
    const { result } = await run(flow([{ id: "put", tool: "put", inputs: { a: "{{input.a}}" } }]), {
      secrets,
      tools,
      input: { a: "x" },
    });
    expect(result.error?.message).toContain(scrubbed);
    expect(result.error?.message).not.toContain(secret);
  });
});

describe("what goes in holds no secret: SECRET_IN_DATA", () => {
  const step = { id: "put", tool: "put", inputs: { a: "{{input.a}}" } };
  const coded = (give: string) => flow([step], { input_schema: z.object({ a: z.string().transform(() => give) }) });

  it.each([
    ["the input", flow([step]), { a: `x${secret}` }],
    ["the input in base64", flow([step]), { a: Buffer.from(`u:${secret}`).toString("base64") }],
    ["what the schema makes of it", coded(secret), { a: "x" }],
    ["what the schema takes out of it", coded("x"), { a: secret }],
    ["the document", flow([{ id: "put", tool: "put", inputs: { a: secret } }]), {}],
  ])("%s", async (_name, workflow, input) => {
    const store = memoryStore();
    const put = write("put");
    const error = await rejection(run(workflow, { store, secrets, tools: put, input }));
    expect(error).toMatchObject({ code: "SECRET_IN_DATA", message: expect.not.stringContaining(secret) });
    expect(put.calls).toEqual([]);
    expect(await store.head("run-1")).toBeUndefined();
  });

  it("what a tool's schema makes of its input", async () => {
    const inputSchema = z.object({ key: z.string().default(secret) });
    const put = write("put", [null], { inputSchema });
    const store = memoryStore();
    const { result } = await run(flow([{ id: "put", tool: "put", inputs: {}, retries: 2 }]), {
      store,
      secrets,
      tools: put,
    });
    expect(result).toMatchObject({ status: "failed", error: { code: "SECRET_IN_DATA", stepId: "put" } });
    expect(put.calls).toEqual([]);
    expect(JSON.stringify(await journalOf(store))).not.toContain(secret);
  });

  it("an answer, here and from elsewhere", async () => {
    const store = memoryStore();
    const stream = runWorkflow(flow([{ id: "who", ask: { prompt: "Who?" } }]), options({ store, secrets }));
    const question = await untilQuestion(stream);
    const answer = { value: "x", note: `see ${secret}` };
    for (const answering of [question.answer(answer), answerQuestion(store, "run-1", "who?1", answer, { secrets })]) {
      expect(await rejection(answering)).toMatchObject({ code: "SECRET_IN_DATA" });
    }
    await question.answer({ value: "x" });
    expect((await drain(stream)).result.output).toBe("x");
  });
});
