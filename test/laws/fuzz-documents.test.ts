import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { DefinitionError } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import { checkWorkflow } from "../../src/driver/check-workflow.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { extremes, foreign, mutated, oddJson, settle, settleLate, tries, unchanged } from "./hostile.js";
import { samples } from "./samples.js";
import { isThorough } from "./thorough.js";

/** Law: whatever is given as a document is a workflow, or refused with every fault at its place. */

const documents: readonly JsonValue[] = [
  ...samples
    .flatMap(({ workflow, workflows }) => [workflow, ...workflows])
    .map((one) => JSON.parse(JSON.stringify(one))),
  {
    name: "all",
    description: "Every kind of step.",
    input_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    timeout_ms: 1_000,
    steps: [
      { id: "ask", ask: { prompt: "{{input.n}}?", schema: { type: "string" }, expires_after_ms: 5, default: "a" } },
      { id: "wait", sleep_ms: 5, when: { all: [{ exists: "{{input.n}}" }, { not: { equals: ["{{input.n}}", 1] } }] } },
      {
        id: "turn",
        tool_dispatch: { source_key: "calls", tools: { a: { tool: "look", input: { b: "ctx.n" } } }, max_calls: 3 },
      },
      { id: "each", for_each: { items: "{{steps.ask.result}}", workflow: "all", inputs: { i: "{{item.a ?? null}}" } } },
      { id: "again", repeat: { workflow: "all", inputs: {}, state: 1, until: "{{result.done?}}", max_iterations: 3 } },
      {
        id: "put",
        tool: "put",
        retries: 1,
        fallback: { tool: "look", inputs: { e: "{{error.code}}" } },
        compensate: { tool: "erase" },
      },
    ],
    output: { list: ["{{...steps.each.result}}"], text: "\\{{ {{steps.put.result}}" },
  },
];
const vocabulary = [
  ...new Set(documents.flatMap((one) => [...JSON.stringify(one).matchAll(/"([a-z_]+)":/g)].map(([, key = ""]) => key))),
];
const tools = ["look", "put", "post", "erase", "revoke"].map((name) =>
  defineTool({ name, inputSchema: { type: "object", properties: { b: { type: "string" } } }, execute: () => 1 }),
);

function define(document: unknown) {
  return settle(() => {
    try {
      return defineWorkflow(document as never);
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const { pointer } of error.problems) expect(pointer === "" || pointer.startsWith("/")).toBe(true);
      throw error;
    }
  });
}

describe("a document", { timeout: 60_000 }, () => {
  it("that is nearly a workflow is one, or is refused; as it is checked against tools, too", async () => {
    await fc.assert(
      fc.asyncProperty(mutated(documents, vocabulary), async (document) => {
        const workflow = unchanged(document, () => define(document));
        if (typeof workflow === "string") {
          expect(workflow).toBe("INVALID_DEFINITION");
          return;
        }
        expect(defineWorkflow(JSON.parse(JSON.stringify(workflow)))).toEqual(workflow);
        const checked = await settleLate(() => checkWorkflow(workflow, { tools, workflows: [] }));
        expect(checked).toMatchObject({ problems: expect.any(Array), warnings: expect.any(Array) });
      }),
      tries(200),
    );
  });

  it("of any JSON is a workflow, or is refused", () => {
    fc.assert(
      fc.property(oddJson, (value) => {
        for (const document of [value, { name: "w", steps: value }, { name: "w", steps: [value] }]) define(document);
      }),
      tries(100),
    );
  });

  it("that is no JSON is refused", () => {
    fc.assert(
      fc.property(foreign, (make) => {
        define(make());
        define({ name: "w", steps: [{ id: "a", tool: "t", inputs: { x: make() } }] });
      }),
      tries(100),
    );
  });

  it.each(extremes)("that holds %s is a workflow, or is refused", (_, make) => {
    const value = make();
    const step = { id: "a", tool: "t" };
    define(value);
    define({ name: "w", steps: value });
    define({ name: "w", steps: [{ ...step, inputs: { value } }], output: value });
    define({ name: "w", steps: [{ ...step, when: value }], input_schema: value });
    if (typeof value === "object") define({ name: "w", steps: [{ ...step, ...value }] });
    define({ name: value, steps: [step] });
  });
});

describe.runIf(isThorough)(
  "a document with more of something than a call takes arguments",
  { timeout: 120_000 },
  () => {
    const many = 130_000;
    const step = { id: "a", tool: "t" };
    const times = (value: JsonValue) => Array.from({ length: many }, () => value);

    it.each<[string, () => unknown, string | undefined]>([
      [
        "unknown keys",
        () => ({
          name: "w",
          steps: [step],
          ...Object.fromEntries(times(1).map((_, n) => [`${n}${"k".repeat(64)}`, 1])),
        }),
        "INVALID_DEFINITION",
      ],
      [
        "templates to compare",
        () => ({ name: "w", steps: [{ ...step, when: { equals: [times("{{input.a}}"), 1] } }] }),
        undefined,
      ],
      [
        "faults to compare",
        () => ({ name: "w", steps: [{ ...step, when: { equals: [times("{{nothing}}"), 1] } }] }),
        "INVALID_DEFINITION",
      ],
      [
        "faults in inputs",
        () => ({ name: "w", steps: [{ ...step, inputs: { list: times("{{nothing}}") } }] }),
        "INVALID_DEFINITION",
      ],
    ])("has many %s", (_, make, code) => {
      const outcome = define(make());
      expect(typeof outcome === "string" ? outcome : undefined).toBe(code);
    });
  },
);
