import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/core/json.js";
import { compileSchema } from "../../src/core/schema.js";
import type { Tool, ToolCallContext } from "../../src/ports/tool-adapter.js";
import { defineTool } from "../../src/tools/define-tool.js";

const context: ToolCallContext = {
  runId: "r",
  stepId: "s",
  path: "s",
  attempt: 1,
  idempotencyKey: "r:s",
  signal: new AbortController().signal,
};

const amountSchema = {
  type: "object",
  properties: { amount: { type: "number" } },
  required: ["amount"],
} as const satisfies JsonObject;

describe("defineTool", () => {
  it("gives a frozen tool that bears what it was given", () => {
    const tool = defineTool({
      name: "record_payment",
      title: "Record a payment",
      description: "Books one payment.",
      inputSchema: amountSchema,
      version: "3",
      effect: "write",
      idempotent: true,
      site: "Ledger",
      preview: (inputs) => ({ page: `Invoice ${String(inputs.amount)}` }),
      execute: () => "booked",
    });
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool).toMatchObject({
      name: "record_payment",
      title: "Record a payment",
      description: "Books one payment.",
      version: "3",
      effect: "write",
      idempotent: true,
      site: "Ledger",
    });
    expect(tool.inputSchema).toBe(amountSchema);
    expect(tool.preview?.({ amount: 5 })).toEqual({ page: "Invoice 5" });
    expect(tool.execute({ amount: 5 }, context)).toBe("booked");
  });

  it("is a write that is not idempotent unless it says otherwise", () => {
    expect(defineTool({ name: "t", execute: () => 1 })).toMatchObject({ effect: "write", idempotent: false });
  });

  it("keeps nothing of its options open to change", () => {
    const options = { name: "t", effect: "read" as "read" | "write", execute: () => 1 };
    const tool = defineTool(options);
    options.effect = "write";
    expect(tool.effect).toBe("read");
  });

  it("calls execute and preview as methods of the options", () => {
    const options = {
      name: "t",
      page: "Totals",
      execute(this: { page: string }) {
        return this.page;
      },
      preview(this: { page: string }) {
        return { page: this.page };
      },
    };
    // Reached through a class or an object of one's own, options may bear more; as a literal they may not.
    const tool = defineTool(Object.create(options));
    expect(tool.execute({}, context)).toBe("Totals");
    expect(tool.preview?.({})).toEqual({ page: "Totals" });
  });

  it("passes inputs and context through, and what execute throws", () => {
    const tool = defineTool({
      name: "t",
      execute(inputs, { attempt }) {
        if (attempt > 1) throw new Error("again");
        return inputs;
      },
    });
    const inputs = { a: 1 };
    expect(tool.execute(inputs, context)).toBe(inputs);
    expect(() => tool.execute(inputs, { ...context, attempt: 2 })).toThrow("again");
  });

  const execute = () => 1;
  it.each<[string, unknown, string, string]>([
    ["nothing", undefined, "INVALID_OPTIONS", "defineTool: a tool is an object with at least a name."],
    ["a text", "record_payment", "INVALID_OPTIONS", "defineTool: a tool is an object with at least a name."],
    ["no name", { execute }, "INVALID_OPTIONS", "defineTool: name must be a text that is not empty."],
    ["an empty name", { name: "", execute }, "INVALID_OPTIONS", "defineTool: name must be a text that is not empty."],
    [
      "a name of another kind",
      { name: 5, execute },
      "INVALID_OPTIONS",
      "defineTool: name must be a text that is not empty.",
    ],
    [
      "another effect",
      { name: "t", effect: "delete", execute },
      "INVALID_OPTIONS",
      'Tool "t": effect must be "read" or "write".',
    ],
    [
      "no effect at all",
      { name: "t", effect: null, execute },
      "INVALID_OPTIONS",
      'Tool "t": effect must be "read" or "write".',
    ],
    [
      "idempotent as a text",
      { name: "t", idempotent: "yes", execute },
      "INVALID_OPTIONS",
      'Tool "t": idempotent must be true or false.',
    ],
    ["a title of another kind", { name: "t", title: 1, execute }, "INVALID_OPTIONS", 'Tool "t": title must be a text.'],
    [
      "a description of another kind",
      { name: "t", description: {}, execute },
      "INVALID_OPTIONS",
      'Tool "t": description must be a text.',
    ],
    [
      "a version of another kind",
      { name: "t", version: 2, execute },
      "INVALID_OPTIONS",
      'Tool "t": version must be a text.',
    ],
    ["a site of another kind", { name: "t", site: [], execute }, "INVALID_OPTIONS", 'Tool "t": site must be a text.'],
    [
      "a preview that is no function",
      { name: "t", preview: {}, execute },
      "INVALID_OPTIONS",
      'Tool "t": preview must be a function of the inputs.',
    ],
    [
      "no execute",
      { name: "t" },
      "INVALID_OPTIONS",
      'Tool "t": execute must be a function of the inputs and the call\'s context.',
    ],
    [
      "an option of another library",
      { name: "t", parameters: {}, execute },
      "INVALID_OPTIONS",
      'Tool "t": unknown option "parameters". Known are name, title, description, inputSchema, version, effect, idempotent, site, preview, execute.',
    ],
    ["a schema that is none", { name: "t", inputSchema: "object", execute }, "INVALID_SCHEMA", 'Tool "t": '],
    ["a schema that is null", { name: "t", inputSchema: null, execute }, "INVALID_SCHEMA", 'Tool "t": '],
    [
      "a schema that leads nowhere",
      { name: "t", inputSchema: { $ref: "#/$defs/gone" }, execute },
      "INVALID_SCHEMA",
      'Tool "t": ',
    ],
  ])("refuses %s", (_, options, code, message) => {
    // What a program without types can pass.
    const define: (options: never) => Tool = defineTool;
    expect(() => define(options as never)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it("names a tool whatever its name is made of", () => {
    expect(() => defineTool({ name: 'a"\n\u202e', execute: execute, effect: "no" as "read" })).toThrow('Tool "a\\"\\n');
    expect(() => defineTool({ name: "x".repeat(5_000), execute: execute, effect: "no" as "read" })).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^Tool "x{100}…": effect/) }),
    );
  });
});

describe("the inputs of execute are typed", () => {
  it("by a Standard Schema: its output, as JSON", () => {
    const schema = z.object({
      amount: z.coerce.number(),
      currency: z.string().default("EUR"),
      note: z.string().optional(),
      due: z.coerce.date(),
      lines: z.array(z.object({ sku: z.string(), at: z.date().nullable() })),
      tags: z.record(z.string(), z.number()),
      kind: z.enum(["a", "b"]),
      pair: z.tuple([z.string(), z.date()]),
    });
    defineTool({
      name: "t",
      inputSchema: schema,
      execute(inputs, given) {
        expectTypeOf(inputs.amount).toEqualTypeOf<number>();
        expectTypeOf(inputs.currency).toEqualTypeOf<string>();
        expectTypeOf(inputs.note).toEqualTypeOf<string | undefined>();
        expectTypeOf(inputs.due).toEqualTypeOf<string>();
        expectTypeOf(inputs.lines).toEqualTypeOf<{ sku: string; at: string | null }[]>();
        expectTypeOf(inputs.tags).toEqualTypeOf<Record<string, number>>();
        expectTypeOf(inputs.kind).toEqualTypeOf<"a" | "b">();
        expectTypeOf(inputs.pair).toEqualTypeOf<[string, string]>();
        expectTypeOf(given).toEqualTypeOf<ToolCallContext>();
      },
    });
  });

  it("by a Standard Schema that says little", () => {
    defineTool({ name: "t", inputSchema: z.unknown(), execute: (inputs) => expectTypeOf(inputs).toBeUnknown() });
    defineTool({
      name: "t",
      inputSchema: z.looseObject({ id: z.string() }),
      execute: (inputs) => expectTypeOf(inputs.id).toEqualTypeOf<string>(),
    });
  });

  it("as any object by JSON Schema, and without a schema", () => {
    defineTool({
      name: "t",
      inputSchema: amountSchema,
      execute: (inputs) => expectTypeOf(inputs).toEqualTypeOf<JsonObject>(),
    });
    defineTool({ name: "t", inputSchema: true, execute: (inputs) => expectTypeOf(inputs).toEqualTypeOf<JsonObject>() });
    defineTool({ name: "t", execute: (inputs) => expectTypeOf(inputs).toEqualTypeOf<JsonObject>() });
  });

  it("gives one type of tool, whatever the schema", () => {
    expectTypeOf(
      defineTool({ name: "t", inputSchema: z.object({ a: z.date() }), execute: () => 1 }),
    ).toEqualTypeOf<Tool>();
  });
});

it("a schema is compiled when the tool is defined, once", () => {
  const inputSchema = z.object({ a: z.string() });
  defineTool({ name: "t", inputSchema, execute: () => 1 });
  expect(compileSchema(inputSchema)).toBe(compileSchema(inputSchema));
});
