import { describe, expect, it } from "vitest";
import type { WriteEntry } from "../../src/core/write-entry.js";
import { listWrites } from "../../src/driver/list-writes.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { flow, options, rejection, run, write } from "./harness.js";

async function writesOf(store: RunStore, runId = "run-1"): Promise<WriteEntry[]> {
  const writes: WriteEntry[] = [];
  for await (const entry of listWrites(store, runId)) writes.push(entry);
  return writes;
}

describe("the writes of a run", () => {
  it("are those of its result, with what became of each", async () => {
    const store = memoryStore();
    const undoable = { id: "a", tool: "put", compensate: { tool: "drop", inputs: { id: "{{steps.a.result.id}}" } } };
    const workflow = flow([undoable, { id: "b", tool: "put" }, { id: "c", tool: "fail" }]);
    const fail = write("fail", [new Error("full")]);
    const { result } = await run(workflow, { store, tools: [write("put"), write("drop"), fail] });
    expect(await writesOf(store)).toEqual(result.writes);
    expect(result.writes).toMatchObject([
      { path: "a", state: "undone", undo: { tool: "drop", fields: { id: 7 } } },
      { path: "b", state: "done", reason: "no_compensation" },
      { path: "c", state: "failed" },
    ]);
  });

  it("are all given, where the result gives the first 1,000", async () => {
    const store = memoryStore();
    const item = flow([{ id: "put", tool: "put", inputs: { n: "{{input.n}}" } }], { name: "item" });
    const each = { items: "{{input.list}}", workflow: "item", inputs: { n: "{{item}}" } };
    const list = Array.from({ length: 1_003 }, (_, index) => index);
    const tools = write("put", [null]);
    const given = options({ store, tools, workflows: item, input: { list } });
    const { result } = await run(flow([{ id: "all", for_each: each }]), given);
    expect([result.writes.length, result.writesTotal]).toEqual([1_000, 1_003]);
    const writes = await writesOf(store);
    expect(writes.map(({ fields }) => fields.n)).toEqual(list);
  });

  it("can't be told of a run that is not there", async () => {
    expect(await rejection(writesOf(memoryStore(), "run-404"))).toMatchObject({ code: "UNKNOWN_RUN" });
  });
});
