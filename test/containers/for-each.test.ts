import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, WorkflowDocument } from "../../src/core/document.js";
import type { RunOptions } from "../../src/driver/options.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { deferred, drain, flow, options, read, resume, run, settled, untilQuestion, write } from "../driver/harness.js";

type ForEach = NonNullable<StepDocument["for_each"]>;

function itemOf(more: Partial<WorkflowDocument> = {}) {
  return defineWorkflow({ name: "one", steps: [{ id: "work", tool: "work", inputs: "{{input}}" }], ...more });
}

function each(forEach: Partial<ForEach>, more: Partial<StepDocument> = {}) {
  const inputs = { item: "{{item}}", at: "{{index}}" };
  return flow([{ id: "each", for_each: { items: "{{input.items}}", workflow: "one", inputs, ...forEach }, ...more }]);
}

function go(forEach: Partial<ForEach>, items: unknown, given: Partial<RunOptions>, more: Partial<StepDocument> = {}) {
  return run(each(forEach, more), { workflows: itemOf(), input: { items }, ...given });
}

describe("for_each", () => {
  it("runs a workflow for each item, and gives the results in their order", async () => {
    const work = read("work", [({ at }) => `#${at}`]);
    const { result } = await go({}, ["a", { b: 1 }, null], { tools: work });
    expect(result.output).toEqual(["#0", "#1", "#2"]);
    expect(work.calls.map(({ inputs, path }) => [path, inputs])).toEqual([
      ["each[0]/work", { item: "a", at: 0 }],
      ["each[1]/work", { item: { b: 1 }, at: 1 }],
      ["each[2]/work", { item: null, at: 2 }],
    ]);
  });

  it("gives an empty list for no items", async () => {
    const work = read("work");
    expect((await go({}, [], { tools: work })).result.output).toEqual([]);
    expect(work.calls).toEqual([]);
  });

  it("takes spread elements and plain ones as items", async () => {
    const work = read("work", [({ item }) => item]);
    const { result } = await go({ items: ["first", "{{...input.items}}", "{{...input.items}}"] }, [1, 2], {
      tools: work,
    });
    expect(result.output).toEqual(["first", 1, 2, 1, 2]);
  });

  it.each<[string, unknown]>([
    ["an object", { length: 2 }],
    ["a text", "ab"],
    ["null", null],
  ])("fails for items that are %s, and is not tried again", async (_name, items) => {
    const { result } = await go({}, items, { tools: read("work") }, { retries: 3 });
    expect(result.error).toMatchObject({ code: "INVALID_ITEMS", stepId: "each" });
  });

  it("keeps the order of items, not of their ends, and runs so many at a time", async () => {
    const gates = [deferred(), deferred(), deferred()];
    let most = 0;
    let running = 0;
    const work = read("work", [
      async ({ at }) => {
        most = Math.max(most, ++running);
        await gates[Number(at)]?.promise;
        running--;
        return at;
      },
    ]);
    const pending = go({ max_concurrent: 2 }, ["a", "b", "c"], { tools: work });
    await settled();
    for (const gate of [gates[1], gates[2], gates[0]]) {
      gate?.resolve(undefined);
      await settled();
    }
    expect((await pending).result.output).toEqual([0, 1, 2]);
    expect(most).toBe(2);
  });

  it("fails with the first item that fails: others are dropped, what is done is undone newest first", async () => {
    const work = write("work", [{ id: 1 }, { id: 2 }, new Error("third"), { id: 4 }]);
    const back = write("back");
    const compensate = { tool: "back", inputs: { id: "{{steps.work.result.id}}" } };
    const workflows = itemOf({ steps: [{ id: "work", tool: "work", compensate }] });
    const { result } = await go({}, [1, 2, 3, 4], { tools: [work, back], workflows });
    expect(result.error).toMatchObject({ message: "third", stepId: "work", path: "each[2]/work" });
    expect(work.calls).toHaveLength(3);
    expect(back.calls.map(({ inputs }) => inputs.id)).toEqual([2, 1]);
  });

  it("under ignore gives null with a warning, and undoes what that item did alone", async () => {
    const work = write("work", [{ id: 1 }, { id: 2 }, { id: 3 }]);
    const flaky = read("flaky", ["ok", new Error("second"), "ok"]);
    const back = write("back");
    const compensate = { tool: "back", inputs: { id: "{{steps.work.result.id}}" } };
    const workflows = itemOf({
      steps: [
        { id: "work", tool: "work", compensate },
        { id: "flaky", tool: "flaky" },
      ],
    });
    const { result } = await go({ on_error: "ignore" }, [1, 2, 3], { tools: [work, flaky, back], workflows });
    expect(result.status).toBe("completed");
    expect(result.output).toEqual(["ok", null, "ok"]);
    expect(result.warnings).toMatchObject([
      { code: "ITEM_FAILED", path: "each[1]", message: expect.stringContaining("second") },
    ]);
    expect(back.calls.map(({ inputs }) => inputs.id)).toEqual([2]);
    expect(result.writes.map(({ state }) => state)).toEqual(["done", "undone", "done"]);
  });

  it("also lets an item pass whose inputs do not resolve or do not fit", async () => {
    const input_schema = { type: "object", properties: { item: { type: "number" } } };
    const work = read("work", ["ok"]);
    const { result } = await go({ on_error: "ignore" }, [1, "two", 3], {
      tools: work,
      workflows: itemOf({ input_schema }),
    });
    expect(result.output).toEqual(["ok", null, "ok"]);
    const deep = await go({ on_error: "ignore", inputs: { n: "{{item.n}}" } }, [{ n: 1 }, {}, 3], { tools: work });
    expect(deep.result.output).toEqual(["ok", null, null]);
    expect(deep.result.warnings).toHaveLength(2);
  });

  it("lets a child that waits for a person keep its place, and the others go on", async () => {
    const work = write("work", [({ item }) => item]);
    const store = memoryStore();
    const policy = ({ fields }: { fields: { item?: unknown } }) =>
      (fields.item === "b" ? "ask" : "approve") as "ask" | "approve";
    const given = options({ store, tools: work, workflows: itemOf(), policy, input: { items: ["a", "b", "c", "d"] } });
    const first = await drain(runWorkflow(each({ max_concurrent: 2 }), given));
    expect(first.result.status).toBe("waiting");
    expect(first.result.questions?.map(({ path }) => path)).toEqual(["each[1]/work"]);
    expect(work.calls.map(({ inputs }) => inputs.item)).toEqual(["a", "c", "d"]);

    const stream = resume(store, { tools: work, workflows: itemOf(), policy });
    const question = await untilQuestion(stream);
    await question.answer({ decision: "approve" });
    const { result } = await drain(stream);
    expect(result.output).toEqual(["a", "b", "c", "d"]);
    expect(work.calls).toHaveLength(4);
  });

  it("isolates what it hands over: no item changes another", async () => {
    const shared = { list: [1] };
    const work = read("work", [
      (inputs) => {
        Reflect.set(Object(inputs.item), "list", "changed");
        return inputs.at;
      },
    ]);
    const { result } = await go({}, [shared, shared], { tools: work });
    expect(result.status).toBe("completed");
    expect(work.calls.map(({ inputs }) => inputs.item)).toEqual([{ list: [1] }, { list: [1] }]);
  });
});
