import { describe, expect, it } from "vitest";
import { z } from "zod";
import { inspectRun } from "../../src/driver/inspect-run.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { drain, flow, journalOf, options, read, rejection, run, untilQuestion, write } from "./harness.js";

const look = { id: "look", tool: "look" };
const long = "long".repeat(100);

describe("an inspection", () => {
  it("tells how a run stands, what it was given, and every event that a record made", async () => {
    const store = memoryStore();
    const workflow = flow([look, { id: "put", tool: "put", inputs: { text: "{{input.text}}" } }]);
    const { result, events } = await run(workflow, {
      store,
      tools: [read("look"), write("put")],
      input: { text: "hi" },
    });
    const inspection = await inspectRun(store, "run-1");
    const { type, at, seq, ...told } = result;
    expect(inspection).toMatchObject({ ...told, workflow: "trip", input: { text: "hi" }, cut: [] });
    expect(inspection.createdAt <= inspection.updatedAt).toBe(true);
    const recorded = events.filter((event) => event.type === "step" && event.seq !== undefined);
    expect(inspection.events).toEqual(recorded);
    expect(JSON.parse(JSON.stringify(inspection))).toEqual(inspection);
  });

  it("tells of a run that waits, with what it asks", async () => {
    const store = memoryStore();
    const given = options({ store, tools: write("put"), policy: undefined });
    const { result } = await drain(runWorkflow(flow([{ id: "put", tool: "put" }]), given));
    expect(await inspectRun(store, "run-1")).toMatchObject({ status: "waiting", questions: result.questions });
  });

  it("tells of a run that is being driven", async () => {
    const store = memoryStore();
    const given = options({ store, tools: write("put"), policy: undefined });
    const stream = runWorkflow(flow([{ id: "put", tool: "put" }, look]), {
      ...given,
      tools: [write("put"), read("look")],
    });
    const question = await untilQuestion(stream);
    await question.answer({ decision: "approve" });
    expect(await inspectRun(store, "run-1")).toMatchObject({ status: "running", events: [{ type: "question" }] });
    await stream.return();
  });

  it("needs no code of the workflow", async () => {
    const store = memoryStore();
    const workflow = flow([{ id: "sum", run: () => 6 }], { input_schema: z.object({ n: z.number() }) });
    await run(workflow, { store, input: { n: 1 } });
    expect(await inspectRun(store, "run-1")).toMatchObject({ status: "completed", input: { n: 1 }, output: 6 });
  });

  it.each([-1, Number.NaN])("takes no maxBytes of %d", async (maxBytes) => {
    expect(await rejection(inspectRun(memoryStore(), "run-1", { maxBytes }))).toMatchObject({
      code: "INVALID_OPTIONS",
    });
  });

  it("can't be made of a run that is not there", async () => {
    expect(await rejection(inspectRun(memoryStore(), "run-1"))).toMatchObject({ code: "UNKNOWN_RUN" });
  });
});

describe("large values", () => {
  const steps = [
    look,
    { id: "put", tool: "put", inputs: { text: "{{steps.look.result.0}}" } },
    { id: "fail", tool: "fail" },
  ];

  it("are cut and marked where people read them, and nowhere else", async () => {
    const store = memoryStore();
    const fail = read("fail", [new Error(long)]);
    const put = write("put");
    await run(flow(steps), { store, tools: [read("look", [[long, "short"]]), put, fail], input: { long, short: 1 } });
    const journal = await journalOf(store);
    const inspection = await inspectRun(store, "run-1", { maxBytes: 100 });
    expect(put.calls[0]?.inputs).toEqual({ text: long });
    expect(await journalOf(store)).toEqual(journal);
    expect(inspection.input).toEqual({ long: expect.stringMatching(/^(long)+l?o?n?…$/) });
    const uncut = JSON.parse(JSON.stringify(await inspectRun(store, "run-1", { maxBytes: 10_000 })));
    expect(inspection.cut.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(["/input", "/error/message", "/writes/0/fields", "/events/0/result"]),
    );
    for (const { pointer, bytes } of inspection.cut) {
      const value = pointer
        .split("/")
        .slice(1)
        .reduce((within, key) => within[key], uncut);
      expect(bytes).toBe(Buffer.byteLength(JSON.stringify(value)));
      expect(bytes).toBeGreaterThan(100);
    }
    expect(JSON.stringify(inspection)).not.toContain(long.slice(0, 110));
  });

  it("are those above 16 KiB, unless it is said", async () => {
    const store = memoryStore();
    const text = "x".repeat(16_382);
    await run(flow([look]), { store, tools: read("look", [text]), input: { text } });
    expect((await inspectRun(store, "run-1")).cut).toEqual([{ pointer: "/input", bytes: 16_384 + 9 }]);
  });
});
