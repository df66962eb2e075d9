import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import { ToolweaveError } from "../../src/core/errors.js";
import { documentJson, storedDocument, withoutCode } from "../../src/core/stored-document.js";

const child = defineWorkflow({ name: "child", steps: [{ id: "a", tool: "a" }] });
const withCode = defineWorkflow({
  name: "coded",
  input_schema: z.object({ n: z.number() }),
  steps: [
    { id: "count", run: () => 1 },
    { id: "who", ask: { prompt: "Who?", schema: z.string() } },
    {
      id: "both",
      parallel: [
        { id: "left", run: () => 2 },
        { id: "right", tool: "t", inputs: { run: null } },
      ],
    },
    { id: "answer", tool_dispatch: { source_key: "calls", tools: { x: { flow: child } } } },
  ],
});

describe("documentJson", () => {
  it("keeps null for code, and the name of a workflow that stands in it", () => {
    expect(documentJson(withCode)).toEqual({
      name: "coded",
      input_schema: null,
      steps: [
        { id: "count", run: null },
        { id: "who", ask: { prompt: "Who?", schema: null } },
        {
          id: "both",
          parallel: [
            { id: "left", run: null },
            { id: "right", tool: "t", inputs: { run: null } },
          ],
        },
        { id: "answer", tool_dispatch: { source_key: "calls", tools: { x: { flow: "child" } } } },
      ],
    });
  });
});

describe("withoutCode", () => {
  it("gives a document that checks, whose steps are the same", () => {
    const read = defineWorkflow(withoutCode(documentJson(withCode)) as typeof withCode);
    expect(read.steps.map(({ id }) => id)).toEqual(["count", "who", "both", "answer"]);
    expect(read.input_schema).toBeUndefined();
    expect(read.steps[1]?.ask).toEqual({ prompt: "Who?" });
    expect(read.steps[2]?.parallel?.[1]).toEqual({ id: "right", tool: "t", inputs: { run: null } });
  });

  it("has functions that can't be called", () => {
    const read = withoutCode(documentJson(withCode)) as { steps: { run(): unknown }[] };
    const message = "A run that is only read calls no function.";
    expect(() => read.steps[0]?.run()).toThrow(expect.objectContaining({ code: "CODE_REQUIRED", message }));
  });

  it("keeps what is no code", () => {
    const document = { name: "n", input_schema: { type: "object" }, steps: [{ id: "a", ask: { prompt: "?" } }] };
    expect(withoutCode(document)).toEqual(document);
    expect(withoutCode({ name: "n", steps: "none" })).toEqual({ name: "n", steps: "none" });
    expect(withoutCode({ name: "n", steps: [1] })).toEqual({ name: "n", steps: [1] });
  });
});

describe("storedDocument", () => {
  it.each([null, 1, "text", []])("refuses %j", (stored) => {
    expect(() => storedDocument(stored)).toThrow(ToolweaveError);
  });
});
