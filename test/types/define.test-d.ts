import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, Workflow, WorkflowDocument } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";
import imported from "./imported.json";

const step = { id: "a", tool: "ping", inputs: {} } as const;

describe("what compiles", () => {
  it("a literal, whose input is any object", () => {
    const workflow = defineWorkflow({
      name: "w",
      input_schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
      steps: [
        {
          id: "pay",
          tool: "pay",
          inputs: { amount: "{{input.amount}}", note: null, lines: [1, "two", { three: true }] },
          when: { all: ["{{input.amount}}", { not: { equals: ["{{input.amount}}", 1] } }] },
          fallback: { tool: "transfer", inputs: { why: "{{error.code}}" } },
          compensate: { tool: "void", inputs: {}, if_in_doubt: true },
        },
        { id: "calls", tool_dispatch: { tools: { a: { flow: "a_flow" }, b: { tool: "b" } }, on_error: "ignore" } },
        { id: "wait", sleep_ms: 10 },
      ],
      output: null,
    });
    expectTypeOf(workflow).toEqualTypeOf<Workflow<JsonObject>>();
  });

  it("a literal that is wholly constant", () => {
    const document = { name: "w", steps: [step], output: ["{{steps.a.result}}"] } as const;
    expectTypeOf(defineWorkflow(document)).toEqualTypeOf<Workflow<JsonObject>>();
  });

  it("an imported file", () => {
    expectTypeOf(defineWorkflow(imported)).toEqualTypeOf<Workflow<JsonObject>>();
  });

  it("a parsed file", () => {
    expectTypeOf(defineWorkflow(JSON.parse("{}"))).toExtend<Workflow>();
  });

  it("a Standard Schema, which says what the run takes and what functions read", () => {
    const workflow = defineWorkflow({
      name: "w",
      input_schema: z.object({ amount: z.number().default(1), on: z.string().transform((text) => text.length) }),
      steps: [
        {
          id: "a",
          run: (scope, context) => {
            expectTypeOf(scope.input).toEqualTypeOf<{ amount: number; on: number }>();
            expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
            return scope.input.amount;
          },
        },
        { id: "b", parallel: [{ id: "c", run: async ({ input }) => input.on }] },
      ],
    });
    expectTypeOf(workflow).toEqualTypeOf<Workflow<{ amount?: number | undefined; on: string }>>();
  });

  it("a workflow, which is given back with its type", () => {
    const typed = defineWorkflow({ name: "w", input_schema: z.object({ a: z.date() }), steps: [step] });
    expectTypeOf(defineWorkflow(typed)).toEqualTypeOf<Workflow<{ a: Date }>>();
    expectTypeOf(typed).toExtend<Workflow>();
  });

  it("steps and documents that are put together", () => {
    const steps: StepDocument[] = [step, { id: "b", run: ({ input }) => input }];
    const document: WorkflowDocument = { name: "w", steps };
    expectTypeOf(defineWorkflow(document)).toExtend<Workflow>();
    expectTypeOf(defineWorkflow({ name: "w", steps })).toEqualTypeOf<Workflow<JsonObject>>();
    expectTypeOf<Workflow<{ a: Date }>>().toExtend<WorkflowDocument>();
  });

  it("a workflow as a handler", () => {
    const flow = defineWorkflow({ name: "w", steps: [step] });
    defineWorkflow({ name: "v", steps: [{ id: "a", tool_dispatch: { tools: { look_up: { flow } } } }] });
  });
});

describe("what does not compile", () => {
  it("a document that lacks what it must have", () => {
    // @ts-expect-error no steps
    defineWorkflow({ name: "w" });
    // @ts-expect-error no name
    defineWorkflow({ steps: [step] });
    // @ts-expect-error a step without an id
    defineWorkflow({ name: "w", steps: [{ tool: "ping", inputs: {} }] });
    // @ts-expect-error a repeat without a bound
    defineWorkflow({ name: "w", steps: [{ id: "a", repeat: { workflow: "turn", state: {} } }] });
  });

  it("a key that is unknown", () => {
    // @ts-expect-error of the workflow
    defineWorkflow({ name: "w", step: [step], steps: [step] });
    // @ts-expect-error of a step
    defineWorkflow({ name: "w", steps: [{ ...step, retry: 1 }] });
    // @ts-expect-error of a compensation
    defineWorkflow({ name: "w", steps: [{ ...step, compensate: { tool: "undo", input: {} } }] });
  });

  it("a value of the wrong type", () => {
    // @ts-expect-error text for a number
    defineWorkflow({ name: "w", steps: [{ ...step, retries: "3" }] });
    // @ts-expect-error no JSON
    defineWorkflow({ name: "w", steps: [{ id: "a", tool: "t", inputs: { when: new Date() } }] });
    // @ts-expect-error a function among the inputs
    defineWorkflow({ name: "w", steps: [{ id: "a", tool: "t", inputs: { f: () => 1 } }] });
    const document = { name: "w", steps: [step] };
    // @ts-expect-error a handler that is a mere document
    defineWorkflow({ name: "v", steps: [{ id: "a", tool_dispatch: { tools: { t: { flow: document } } } }] });
  });
});
