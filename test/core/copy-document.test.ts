import { describe, expect, it } from "vitest";
import { z } from "zod";
import { copyDocument } from "../../src/core/copy-document.js";
import { defineWorkflow } from "../../src/core/define.js";

const run = () => 1;
const schema = z.object({});
const flow = defineWorkflow({ name: "w", steps: [{ id: "a", tool: "t" }] });
const ring: Record<string, unknown> = {};
ring.next = [ring];
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

describe("what is no JSON is left out, and reported at its place", () => {
  it.each<[name: string, document: unknown, pointer: string, message: string]>([
    ["a number that is not finite", { a: Number.NaN }, "/a", 'The value of "a" is not JSON: it is no finite number.'],
    ["a function", { a: run }, "/a", 'The value of "a" is not JSON: its type is function.'],
    ["a BigInt in a list", { a: [1, 2n] }, "/a/1", "The value of 1 is not JSON: its type is bigint."],
    ["a map", { a: new Map() }, "/a", 'The value of "a" is not JSON: its type is Map.'],
    ["a schema", { a: schema }, "/a", 'The value of "a" is not JSON: its type is Standard Schema.'],
    ["what contains itself", ring, "/next/0", "The value of 0 is not JSON: it contains itself."],
    [
      "what is nested too deep",
      nested(201),
      "/0".repeat(200),
      "The value of 0 is not JSON: it is nested deeper than the 200 levels allowed.",
    ],
    [
      "what throws as it is read",
      {
        a: {
          get b() {
            throw new Error("no");
          },
        },
      },
      "/a",
      'The value of "a" is not JSON: reading it failed.',
    ],
    ["the document itself", run, "", "The document is not JSON: its type is function."],
  ])("%s", (_name, document, pointer, message) => {
    expect(copyDocument(document).problems).toEqual([{ code: "INVALID_DOCUMENT", message, pointer }]);
  });

  it("and what stands beside it is copied", () => {
    const { copy } = copyDocument({ a: [run, 1], b: undefined, c: run, d: { e: null } });
    expect(copy).toStrictEqual({ a: [null, 1], d: { e: null } });
  });
});

describe("what is no JSON is kept where a document may hold it", () => {
  const holds = (document: unknown) => copyDocument(document).problems.map(({ pointer }) => pointer);

  it.each<[name: string, document: unknown]>([
    ["the input's schema", { input_schema: schema }],
    ["the schema of an answer", { steps: [{ ask: { schema } }] }],
    ["a step's function", { steps: [{ run }] }],
    ["that of a step side by side with others", { steps: [{ parallel: [{ run }, { parallel: [{ run }] }] }] }],
    ["a handler's workflow", { steps: [{ tool_dispatch: { tools: { t: { flow } } } }] }],
  ])("%s", (_name, document) => {
    expect(copyDocument(document)).toEqual({ copy: document, problems: [] });
  });

  it.each<[name: string, document: unknown, pointer: string]>([
    ["a schema as a function", { steps: [{ run: schema }] }, "/steps/0/run"],
    ["a function as a schema", { input_schema: run }, "/input_schema"],
    ["a function outside the steps", { outputs: [{ run }] }, "/outputs/0/run"],
    ["a function in steps that are no list", { steps: { a: { run } } }, "/steps/a/run"],
    ["a function in a list that is no parallel", { steps: [{ other: [{ run }] }] }, "/steps/0/other/0/run"],
    ["a function in a parallel that is no list", { steps: [{ parallel: { a: { run } } }] }, "/steps/0/parallel/a/run"],
    [
      "a schema as a handler's workflow",
      { steps: [{ tool_dispatch: { tools: { t: { flow: schema } } } }] },
      "/steps/0/tool_dispatch/tools/t/flow",
    ],
  ])("and nowhere else: %s", (_name, document, pointer) => {
    expect(holds(document)).toEqual([pointer]);
  });

  it.each<[name: string, document: unknown, place: string[]]>([
    ["of a step", { steps: [{ workflow: flow }] }, ["steps", "0", "workflow"]],
    ["outside the steps", { output: { a: { b: flow } } }, ["output", "a", "b"]],
    [
      "as a handler's tool",
      { steps: [{ tool_dispatch: { tools: { t: { tool: flow } } } }] },
      ["steps", "0", "tool_dispatch", "tools", "t", "tool"],
    ],
    [
      "within what a handler runs",
      { steps: [{ tool_dispatch: { tools: { t: { flow: { in: flow } } } } }] },
      ["steps", "0", "tool_dispatch", "tools", "t", "flow", "in"],
    ],
    [
      "where nothing is dispatched",
      { steps: [{ repeat: { tools: { t: { flow } } } }] },
      ["steps", "0", "repeat", "tools", "t", "flow"],
    ],
  ])("and a workflow is plain data elsewhere: %s", (_name, document, place) => {
    const copied = place.reduce<unknown>((value, key) => Reflect.get(Object(value), key), copyDocument(document).copy);
    expect(copied).toEqual(flow);
    expect(copied).not.toBe(flow);
  });
});

describe("a document that is too large", () => {
  it.each<[name: string, document: unknown]>([
    ["by a text", { a: "x".repeat(16 * 1024 * 1024) }],
    ["by a key", { ["k".repeat(16 * 1024 * 1024)]: 1 }],
    ["by a list, which is not read", { a: Object.assign([], { length: 4_000_000_000 }) }],
  ])("%s has no copy", (_name, document) => {
    const message = expect.stringMatching(/^The document is too large: it exceeds 16777216 bytes\./);
    expect(copyDocument(document)).toEqual({
      copy: undefined,
      problems: [{ code: "INVALID_DOCUMENT", message, pointer: "" }],
    });
  });

  it("is not read to its end", () => {
    let reads = 0;
    copyDocument({
      a: "x".repeat(17 * 1024 * 1024),
      get b() {
        return ++reads;
      },
    });
    expect(reads).toBe(0);
  });
});
