import { describe, expect, it } from "vitest";
import { takeOutFaults } from "../../src/core/shape.js";

const kinds = "tool, workflow, tool_dispatch, repeat, for_each, parallel, ask, sleep_ms, run";
const aName = "must be 1 to 64 letters, digits, _ or - (and neither __proto__, constructor nor prototype).";

/** The faults of a document, as a person reads them. */
function faults(document: unknown): string[] {
  return takeOutFaults(document).map(({ code, pointer, message }) => `${pointer} ${code}: ${message}`);
}

describe("a document's form is at fault", () => {
  it.each<[name: string, document: object, faults: string[]]>([
    [
      "without steps",
      { name: "w" },
      ['/steps INVALID_DOCUMENT: "steps" is missing: it must be a list of at least one step.'],
    ],
    [
      "with steps that are no list",
      { name: "w", steps: {} },
      ['/steps INVALID_DOCUMENT: "steps" must be a list of at least one step.'],
    ],
    [
      "with a key that is nearly one of its own",
      { name: "w", steps: [{ id: "a", tool: "t" }], stepz: 1 },
      ['/stepz UNKNOWN_KEY: "stepz" is no key of a workflow document. Did you mean "steps"?'],
    ],
    [
      "with a key that is none",
      { name: "w", steps: [{ id: "a", tool: "t" }], nonsense: 1 },
      [
        '/nonsense UNKNOWN_KEY: "nonsense" is no key of a workflow document. Expected one of name, steps, description, input_schema, output, timeout_ms.',
      ],
    ],
  ])("%s", (_name, document, expected) => {
    expect(faults(document)).toEqual(expected);
  });
});

describe("a step's form is at fault", () => {
  it.each<[name: string, step: unknown, faults: string[]]>([
    ["that is no object", 1, ['/steps/0 INVALID_DOCUMENT: Element 0 of "steps" must be an object.']],
    [
      "that is no object, side by side with others",
      { id: "a", parallel: [1] },
      ['/steps/0/parallel/0 INVALID_DOCUMENT: Element 0 of "parallel" must be an object.'],
    ],
    [
      "that does nothing",
      { id: "a" },
      [`/steps/0 INVALID_STEP: Step "a" does nothing: give it exactly one of ${kinds}.`],
    ],
    [
      "that does nothing, side by side with others",
      { id: "a", parallel: [{ id: "b" }] },
      [`/steps/0/parallel/0 INVALID_STEP: Step "b" does nothing: give it exactly one of ${kinds}.`],
    ],
    [
      "that is empty",
      {},
      [
        `/steps/0 INVALID_STEP: A step does nothing: give it exactly one of ${kinds}.`,
        `/steps/0/id INVALID_NAME: "id" is missing: it ${aName}`,
      ],
    ],
    [
      "whose id is long, and is cut in the message",
      { id: "x".repeat(70) },
      [
        `/steps/0 INVALID_STEP: Step "${"x".repeat(64)}" does nothing: give it exactly one of ${kinds}.`,
        `/steps/0/id INVALID_NAME: "id" ${aName}`,
      ],
    ],
    [
      "that misspells what it does",
      { id: "a", tol: "t" },
      ['/steps/0/tol UNKNOWN_KEY: "tol" is no key of element 0 of "steps". Did you mean "tool"?'],
    ],
    [
      "that has a key besides, and does nothing",
      { id: "a", nonsense: 1 },
      [
        `/steps/0 INVALID_STEP: Step "a" does nothing: give it exactly one of ${kinds}.`,
        expect.stringMatching(
          /^\/steps\/0\/nonsense UNKNOWN_KEY: "nonsense" is no key of element 0 of "steps"\. Expected one of id, /,
        ),
      ],
    ],
    [
      "that does two things",
      { id: "a", tool: "t", sleep_ms: 1 },
      ['/steps/0 INVALID_STEP: Step "a" has tool and sleep_ms: give it exactly one of them.'],
    ],
    [
      "that has a key which goes not with what it does",
      { id: "a", sleep_ms: 1, retries: 1 },
      ['/steps/0/retries INVALID_STEP: Step "a" has "retries", which goes not with "sleep_ms": remove it.'],
    ],
    [
      "with a part that is no object",
      { id: "a", tool: "t", compensate: 1 },
      ['/steps/0/compensate INVALID_DOCUMENT: "compensate" must be an object.'],
    ],
    [
      "with a part that lacks what it works on",
      { id: "a", for_each: { workflow: "v" } },
      ['/steps/0/for_each/items INVALID_DOCUMENT: "items" is missing: it must be given.'],
    ],
    [
      "with a handler that is both",
      { id: "a", tool_dispatch: { tools: { x: { flow: "f", tool: "t" } } } },
      ['/steps/0/tool_dispatch/tools/x INVALID_DOCUMENT: Handler "x" must have exactly one of flow and tool.'],
    ],
    [
      "with a handler named __proto__",
      { id: "a", tool_dispatch: { tools: JSON.parse('{"__proto__":{"tool":"t"}}') } },
      ['/steps/0/tool_dispatch/tools/__proto__ INVALID_NAME: A handler can\'t be named "__proto__".'],
    ],
    [
      "with a handler that maps what it is given anyway",
      { id: "a", tool_dispatch: { tools: { x: { tool: "t", input: { tool_name: "n" } } } } },
      [
        '/steps/0/tool_dispatch/tools/x/input/tool_name INVALID_NAME: "tool_name" can\'t be mapped: every handler is given it under that name.',
      ],
    ],
  ])("%s", (_name, step, expected) => {
    expect(faults({ name: "w", steps: [step] })).toEqual(expected);
  });
});

it.each<[name: string, schema: unknown]>([
  ["an object", {}],
  ["a boolean", true],
  ["callable", Object.assign(() => 1, { "~standard": {} })],
])("the schema of an input may be %s", (_name, input_schema) => {
  expect(faults({ name: "w", input_schema, steps: [{ id: "a", tool: "t" }] })).toEqual([]);
});

describe("what is at fault is taken out, so that the rest can be read", () => {
  it.each<[name: string, step: object, left: object]>([
    ["an id that is no text", { id: 5, tool: "t" }, { id: undefined, tool: "t" }],
    ["text that is no name of a step stays: others refer to it", { id: "a b", tool: "t" }, { id: "a b", tool: "t" }],
    ["text that may not stand there", { id: "a", tool: "t", retries: "1" }, { id: "a", tool: "t", retries: undefined }],
    ["an unknown key stays", { id: "a", tool: "t", nonsense: 1 }, { id: "a", tool: "t", nonsense: 1 }],
  ])("%s", (_name, step, left) => {
    const document = { name: "w", steps: [step] };
    expect(takeOutFaults(document)).toHaveLength(1);
    expect(document.steps[0]).toStrictEqual(left);
  });
});
