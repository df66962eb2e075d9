import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { type Mode, uninterrupted } from "./drive-sample.js";

function appendsOf(tool: string, count: number, mode: Mode): Promise<{ appends: number }> {
  const steps = Array.from({ length: count }, (_, index) => ({ id: `s${index}`, tool, inputs: {} }));
  return uninterrupted(
    { name: "cost", workflow: defineWorkflow({ name: "cost", steps }), workflows: [], input: {}, races: false },
    mode,
  );
}

function appendsOfItems(tool: string, count: number): Promise<{ appends: number }> {
  const workflow = defineWorkflow({
    name: "cost",
    steps: [{ id: "each", for_each: { items: "{{input.items}}", workflow: "one", inputs: {} } }],
  });
  const one = defineWorkflow({ name: "one", steps: [{ id: "step", tool, inputs: {} }] });
  const input = { items: Array.from({ length: count }, () => 0) };
  return uninterrupted({ name: "cost", workflow, workflows: [one], input, races: false }, "approve");
}

describe("each step costs the same number of appends, however long the run", () => {
  // One more begins the run; its end rides with the last outcome.
  test.each([1, 10, 200])("%d reads: one each", async (count) => {
    expect((await appendsOf("look", count, "approve")).appends).toBe(1 + count);
  });

  test.each([1, 10, 200])("%d writes that a policy lets be made: two each", async (count) => {
    expect((await appendsOf("put", count, "approve")).appends).toBe(1 + 2 * count);
  });

  test.each([1, 10, 100])("%d writes that a person is asked about: four each", async (count) => {
    expect((await appendsOf("put", count, "ask")).appends).toBe(1 + 4 * count);
  });

  test.each([1, 10, 200])("%d items: no more than their steps", async (count) => {
    expect((await appendsOfItems("look", count)).appends).toBe(2 + count);
    expect((await appendsOfItems("put", count)).appends).toBe(2 + 2 * count);
  });
});
