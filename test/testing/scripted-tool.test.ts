import { describe, expect, it } from "vitest";
import { ToolError } from "../../src/core/errors.js";
import type { ToolCallContext } from "../../src/ports/tool-adapter.js";
import { scriptedTool } from "../../src/testing/index.js";

function context(attempt = 1): ToolCallContext {
  return { runId: "r", stepId: "s", path: "s", attempt, idempotencyKey: "r:s", signal: new AbortController().signal };
}

/** Calls as the driver does: what is thrown and what is returned both come as a promise. */
async function call(tool: ReturnType<typeof scriptedTool>, inputs = {}, attempt = 1): Promise<unknown> {
  return tool.execute(inputs, context(attempt));
}

describe("scriptedTool", () => {
  it("takes one entry for each call, and repeats the last", async () => {
    const refusal = new ToolError("closed", { outcome: "refused" });
    const tool = scriptedTool({
      name: "open_ticket",
      effect: "write",
      script: [1, refusal, (inputs, { attempt }) => ({ inputs, attempt }), { id: 7 }],
    });
    expect(await call(tool)).toBe(1);
    await expect(call(tool)).rejects.toBe(refusal);
    expect(await call(tool, { a: 1 }, 3)).toEqual({ inputs: { a: 1 }, attempt: 3 });
    expect(await call(tool)).toEqual({ id: 7 });
    expect(await call(tool)).toEqual({ id: 7 });
  });

  it("passes on what a function throws or rejects with", async () => {
    const tool = scriptedTool({
      name: "t",
      script: [
        () => {
          throw "thrown";
        },
        () => Promise.reject("rejected"),
        undefined,
      ],
    });
    await expect(call(tool)).rejects.toBe("thrown");
    await expect(call(tool)).rejects.toBe("rejected");
    expect(await call(tool)).toBeUndefined();
  });

  it("remembers its calls, with the inputs as they came", async () => {
    const tool = scriptedTool({
      name: "t",
      script: [
        (inputs) => {
          Object.assign(inputs, { a: "changed" });
        },
      ],
    });
    await call(tool, { a: [1] });
    await call(tool, { b: 2 }, 2);
    expect(tool.calls).toEqual([
      { inputs: { a: [1] }, attempt: 1, idempotencyKey: "r:s", path: "s" },
      { inputs: { b: 2 }, attempt: 2, idempotencyKey: "r:s", path: "s" },
    ]);
  });

  it("publishes what it is given, and is a write unless it says otherwise", () => {
    expect(scriptedTool({ name: "t", script: [1] })).toMatchObject({ name: "t", effect: "write", idempotent: false });
    const tool = scriptedTool({ name: "t", effect: "read", idempotent: true, site: "Ledger", script: [1] });
    expect(tool).toMatchObject({ effect: "read", idempotent: true, site: "Ledger" });
    expect("script" in tool).toBe(false);
  });

  it("refuses a script without an entry, and what no tool may publish", () => {
    expect(() => scriptedTool({ name: "t", script: [] })).toThrow('Tool "t": script must have at least one entry.');
    expect(() => scriptedTool({ name: "", script: [1] })).toThrow("scriptedTool: name must be a text");
  });
});
