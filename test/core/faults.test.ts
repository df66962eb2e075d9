import { describe, expect, it } from "vitest";
import { checkAgainst, type PublishedTool } from "../../src/core/check.js";
import { defineWorkflow } from "../../src/core/define.js";
import type { Workflow, WorkflowDocument } from "../../src/core/document.js";
import { DefinitionError, type Problem } from "../../src/core/errors.js";
import { compileSchema } from "../../src/core/schema.js";

/** What an author reads of faults and warnings: the place, and what to do. */

const list = (problems: readonly Problem[]) => problems.map(({ pointer, message }) => `${pointer}: ${message}`);
const of = (...steps: object[]): WorkflowDocument => JSON.parse(JSON.stringify({ name: "w", steps }));

function error(define: () => unknown): DefinitionError {
  try {
    define();
  } catch (thrown) {
    if (thrown instanceof DefinitionError) return thrown;
    throw thrown;
  }
  throw new Error("It is a workflow.");
}

describe("a definition is refused", () => {
  const t = { id: "a", tool: "t" };
  const wrong = "{{input.}}";
  const one = defineWorkflow({ name: "h", steps: [{ id: "a", tool: "t" }] });
  const other = defineWorkflow({ name: "h", steps: [{ id: "b", tool: "t" }] });
  const dispatch = (id: string, flow: Workflow) => ({ id, tool_dispatch: { tools: { x: { flow } } } });

  it.each<[name: string, document: object, problems: string[]]>([
    [
      "for an id that is taken",
      of(t, t),
      ['/steps/1/id: Step id "a" is taken by an earlier step: give each step its own.'],
    ],
    [
      "for a default that does not fit",
      of({ id: "a", ask: { prompt: "?", schema: { type: "number" }, default: "x" } }),
      [
        '/steps/0/ask/default: The default does not fit the schema: The value type "string" is invalid. Expected "number".',
      ],
    ],
    [
      "for two workflows of one name",
      { name: "w", steps: [dispatch("a", one), dispatch("b", other)] },
      [
        '/steps/1/tool_dispatch/tools/x/flow: Workflow "h" stands for two different workflows here: give each its own name.',
      ],
    ],
    [
      "once for what is no JSON, and is no name either",
      { name: 1n, steps: [t] },
      ['/name: The value of "name" is not JSON: its type is bigint.'],
    ],
  ])("%s", (_name, document, problems) => {
    expect(list(error(() => defineWorkflow(document as never)).problems)).toEqual(problems);
  });

  it("where the same workflow stands twice it is one, and in code only the very same", () => {
    const coded = (id: string) => defineWorkflow({ name: "h", steps: [{ id, run: () => 1 }] });
    const [first, second] = [coded("a"), coded("a")];
    const twice = (left: Workflow, right: Workflow) => () =>
      defineWorkflow({ name: "w", steps: [dispatch("a", left), dispatch("b", right)] });
    expect(twice(first, first)).not.toThrow();
    expect(twice(one, defineWorkflow({ name: "h", steps: [{ id: "a", tool: "t" }] }))).not.toThrow();
    expect(twice(first, second)).toThrow(DefinitionError);
    expect(twice(one, coded("a"))).toThrow(DefinitionError);
  });

  it.each<[name: string, step: object, pointer: string]>([
    ["a tool's inputs", { id: "a", tool: "t", inputs: { x: wrong } }, "/inputs/x"],
    ["a workflow's inputs", { id: "a", workflow: "v", inputs: { x: wrong } }, "/inputs/x"],
    [
      "a repeat's inputs",
      { id: "a", repeat: { workflow: "v", state: 0, max_iterations: 1, inputs: { x: wrong } } },
      "/repeat/inputs/x",
    ],
    ["a repeat's state", { id: "a", repeat: { workflow: "v", state: wrong, max_iterations: 1 } }, "/repeat/state"],
    [
      "a repeat's condition",
      { id: "a", repeat: { workflow: "v", state: 0, max_iterations: 1, until: wrong } },
      "/repeat/until",
    ],
    ["items", { id: "a", for_each: { workflow: "v", items: wrong } }, "/for_each/items"],
    [
      "what each item gives",
      { id: "a", for_each: { workflow: "v", items: [], inputs: { x: wrong } } },
      "/for_each/inputs/x",
    ],
    ["a prompt", { id: "a", ask: { prompt: wrong } }, "/ask/prompt"],
    ["a condition", { id: "a", tool: "t", when: wrong }, "/when"],
    ["a compensation", { id: "a", tool: "t", compensate: { tool: "u", inputs: { x: wrong } } }, "/compensate/inputs/x"],
    ["a fallback", { id: "a", tool: "t", fallback: { tool: "f", inputs: { x: wrong } } }, "/fallback/inputs/x"],
  ])("at the place of a template at fault: %s", (_name, step, pointer) => {
    expect(error(() => defineWorkflow(of(step))).problems).toMatchObject([{ pointer: `/steps/0${pointer}` }]);
  });

  it("with what is missing where its object stands", () => {
    const { problems } = error(() => defineWorkflow(of({ id: "a", for_each: { workflow: "v" } }, { id: "b" })));
    expect(problems.map(({ pointer }) => pointer)).toEqual(["/steps/0/for_each/items", "/steps/1"]);
  });

  it("with a few of many faults in its message", () => {
    const few = error(() => defineWorkflow(of(...Array.from({ length: 5 }, () => ({ id: "", tool: "t" })))));
    expect(few.message.split("\n")).toHaveLength(6);
    const one = error(() => defineWorkflow({ name: "w", steps: [] })).message;
    expect(one).toBe('The workflow document has a problem.\n/steps: "steps" must be a list of at least one step.');
    const many = error(() => defineWorkflow(of({}, {}, {})));
    expect(many.message).toMatch(/^The workflow document has 6 problems\.\n\/steps\/0: A step does nothing/);
    expect(many.message).toMatch(/\n… and 1 more\.$/);
  });
});

describe("a check says", () => {
  const order = { required: ["n"], properties: { n: { type: "number" } }, additionalProperties: false } as const;
  const published: PublishedTool[] = [
    { name: "look", effect: "read" },
    { name: "make", effect: "write" },
    { name: "order", effect: "write", schema: compileSchema(order) },
    { name: "deep", effect: "read", schema: compileSchema({ properties: { o: { minProperties: 1 } } }) },
  ];
  const tools = new Map(published.map((tool) => [tool.name, tool]));
  const check = (document: WorkflowDocument, ...called: WorkflowDocument[]) =>
    checkAgainst(defineWorkflow(document), tools, new Map(called.map((each) => [each.name, defineWorkflow(each)])));
  const calls = (name: string, workflow: string): WorkflowDocument => ({ name, steps: [{ id: "a", workflow }] });
  const reads = (name: string): WorkflowDocument => ({ name, steps: [{ id: "a", tool: "look" }] });

  it.each<[name: string, document: WorkflowDocument, called: WorkflowDocument[], problems: string[]]>([
    [
      "which tool is not there",
      of({ id: "a", tool: "nothing" }),
      [],
      ['/steps/0/tool: Tool "nothing" is not there. Publish it, or name one that is there.'],
    ],
    [
      "which workflow is not there",
      calls("w", "nothing"),
      [],
      ['/steps/0/workflow: Workflow "nothing" is not there. Publish it, or name one that is there.'],
    ],
    [
      "what a tool can't be given",
      of({ id: "a", tool: "order", inputs: { m: 1, x: "{{input.x}}" } }),
      [],
      [
        '/steps/0/inputs: What is given to the tool "order" does not fit: The property "n" is missing.',
        '/steps/0/inputs/m: What is given to the tool "order" does not fit: Nothing may stand here.',
        '/steps/0/inputs/x: What is given to the tool "order" does not fit: Nothing may stand here.',
      ],
    ],
    [
      "what a part of the inputs can't be, whatever stands beside it",
      of({ id: "a", tool: "deep", inputs: { o: {}, x: "{{input.x}}" } }),
      [],
      [
        '/steps/0/inputs/o: What is given to the tool "deep" does not fit: The value does not have at least 1 properties.',
      ],
    ],
    [
      "what a workflow can't be given",
      of({ id: "a", workflow: "v", inputs: { n: "1" } }),
      [{ ...reads("v"), input_schema: order }],
      [
        '/steps/0/inputs/n: What is given to the workflow "v" does not fit: The value type "string" is invalid. Expected "number".',
      ],
    ],
    [
      "which circle workflows call each other in",
      calls("w", "u"),
      [calls("u", "v"), calls("v", "u")],
      [
        '/steps/0/workflow: Workflow "u" has a problem at /steps/0/workflow: Workflow "v" has a problem at /steps/0/workflow: Workflow "u" calls itself in a circle: u → v → u. Break it, or use repeat.',
      ],
    ],
    [
      "that an input is not allowed",
      { ...of({ id: "a", tool: "look", inputs: { x: "{{input.x}}" } }), input_schema: order },
      [],
      ["/steps/0/inputs/x: Template {{input.x}} reads what input_schema does not allow."],
    ],
  ])("%s", (_name, document, called, problems) => {
    expect(list(check(document, ...called).problems)).toEqual(problems);
  });

  it("how deep workflows may call each other", () => {
    const deepest = (depth: number) => {
      const chain = Array.from({ length: depth }, (_, n) => calls(`v${n}`, `v${n + 1}`));
      return check(calls("w", "v0"), ...chain, reads(`v${depth}`)).problems;
    };
    expect(deepest(198)).toEqual([]);
    expect(deepest(199)[0]?.message).toMatch(/Workflow "v199" lies more than 200 calls deep: call it more directly\.$/);
  });

  it("the first problems of a workflow that is called, and no more", () => {
    const steps = Array.from({ length: 200 }, (_, n) => ({ id: `s${n}`, tool: "nothing" }));
    const { problems } = check(calls("w", "v"), { name: "v", steps });
    expect(problems.length).toBeLessThan(200);
    expect(problems[0]?.message).toMatch(
      /^Workflow "v" has a problem at \/steps\/0\/tool: Tool "nothing" is not there\./,
    );
  });

  it.each<[name: string, document: WorkflowDocument, warnings: string[]]>([
    [
      "that nothing undoes a write",
      of({ id: "a", tool: "make" }, { id: "b", tool: "make" }),
      [
        '/steps/0: Step "a" makes a write that nothing undoes, and another write may fail after it: give it a compensate.',
      ],
    ],
    [
      "that an undo reads what may be edited",
      of({
        id: "a",
        tool: "make",
        inputs: { x: "{{input.x}}" },
        compensate: { tool: "make", inputs: { x: "{{input.x}}" } },
      }),
      [
        "/steps/0/compensate/inputs/x: Template {{input.x}} reads what the step reads too: an edit of what is sent would escape it. Read steps.<id>.inputs.",
      ],
    ],
    [
      "that a step may be skipped",
      of(
        { id: "a", tool: "look", when: "{{input.x}}" },
        { id: "b", tool: "look", inputs: { x: "{{steps.a.result}}" } },
      ),
      [
        "/steps/1/inputs/x: Template {{steps.a.result}} reads a step that may be skipped: allow for its absence with ? or ??.",
      ],
    ],
    [
      "that an input may be missing",
      { ...of({ id: "a", tool: "look", inputs: { x: "{{input.x}}" } }), input_schema: { properties: { x: {} } } },
      [
        "/steps/0/inputs/x: Template {{input.x}} reads what input_schema does not require: require it, or allow for its absence with ? or ??.",
      ],
    ],
    [
      "that a key is taken by the input, or by another step",
      {
        ...of(
          { id: "a", tool: "look", output_key: "x" },
          { id: "b", tool: "look" },
          { id: "c", tool: "look", output_key: "b" },
          { id: "d", tool_dispatch: { source_key: "x", tools: { t: { tool: "look" } } } },
        ),
        input_schema: { properties: { x: {} } },
      },
      [
        '/steps/0: Step "a" replaces "x" in ctx, which is a property of the input: give it another output_key.',
        '/steps/2: Step "c" replaces "b" in ctx, which is the key of step "b": give it another output_key.',
      ],
    ],
    [
      "nothing of what an undo reads of the steps",
      of(
        { id: "a", tool: "look" },
        {
          id: "b",
          tool: "make",
          inputs: { x: "{{steps.a.result}}" },
          compensate: { tool: "make", inputs: { x: "{{steps.a.result}}" } },
        },
      ),
      [],
    ],
  ])("%s, as a warning", (_name, document, warnings) => {
    expect(list(check(document).warnings)).toEqual(warnings);
  });
});
