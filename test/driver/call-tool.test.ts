import { expect, it } from "vitest";
import type { ToolAdapter } from "../../src/ports/tool-adapter.js";
import { flow, run } from "./harness.js";

/** An adapter of a read and a write that counts how often it is asked what it publishes. */
function counted() {
  let lists = 0;
  const tools: ToolAdapter = {
    list() {
      lists++;
      return [{ name: "look", effect: "read" }, { name: "pay" }];
    },
    call: async (name) => name,
  };
  return { tools, lists: () => lists };
}

it("tools are listed once for all reads of a run", async () => {
  const { tools, lists } = counted();
  const steps = ["a", "b", "c"].map((id) => ({ id, tool: "look" }));
  const { result } = await run(flow(steps), { tools });
  expect([result.status, lists()]).toEqual(["completed", 1]);
});

it("and anew before each write", async () => {
  const { tools, lists } = counted();
  const steps = ["a", "b"].map((id) => ({ id, tool: "pay" }));
  const { result } = await run(flow(steps), { tools });
  expect([result.status, lists()]).toEqual(["completed", 3]);
});
