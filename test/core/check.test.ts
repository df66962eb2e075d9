import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Check, checkAgainst, type PublishedTool } from "../../src/core/check.js";
import { defineWorkflow } from "../../src/core/define.js";
import type { Workflow, WorkflowDocument } from "../../src/core/document.js";
import { compileSchema, type Schema } from "../../src/core/schema.js";

const order = {
  type: "object",
  properties: {
    number: { type: "string", minLength: 2 },
    amount: { type: "number" },
    to: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["number"],
  additionalProperties: false,
} as const;

const published: readonly (readonly [name: string, effect: "read" | "write", schema?: Schema])[] = [
  ["look", "read"],
  ["make", "write"],
  ["unmake", "write"],
  ["order", "write", order],
  ["zod", "read", z.strictObject({ n: z.number().default(1), t: z.string() })],
  ["mute", "read", { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) } }],
];
const tools = new Map<string, PublishedTool>(
  published.map(([name, effect, schema]) => [
    name,
    { name, effect, ...(schema !== undefined && { schema: compileSchema(schema) }) },
  ]),
);

function check(document: WorkflowDocument, called: readonly WorkflowDocument[] = []): Check {
  const workflows = new Map<string, Workflow>(called.map((each) => [each.name, defineWorkflow(each)]));
  return checkAgainst(defineWorkflow(document), tools, workflows);
}

const of = (...steps: readonly WorkflowDocument["steps"][number][]): WorkflowDocument => ({ name: "w", steps });
const named = (name: string, ...steps: readonly WorkflowDocument["steps"][number][]): WorkflowDocument => ({
  name,
  steps,
});
const look = (id: string, inputs = {}) => ({ id, tool: "look", inputs });
const make = (id: string, more = {}) => ({ id, tool: "make", inputs: {}, ...more });
const undo = { compensate: { tool: "unmake", inputs: {} } };

const told = (problems: Check["problems"]) => problems.map(({ code, pointer }) => `${code} ${pointer}`);

describe("what must be published", () => {
  it("every tool, wherever it is named", () => {
    const { problems } = check(
      of(
        { id: "a", tool: "lok", compensate: { tool: "no" }, fallback: { tool: "no", compensate: { tool: "no" } } },
        {
          id: "b",
          parallel: [
            { id: "c", tool: "toString" },
            { id: "d", tool: "__proto__" },
          ],
        },
        { id: "e", tool_dispatch: { tools: { "x/y": { tool: "no" } } } },
      ),
    );
    expect(told(problems)).toEqual([
      "UNKNOWN_TOOL /steps/0/tool",
      "UNKNOWN_TOOL /steps/0/compensate/tool",
      "UNKNOWN_TOOL /steps/0/fallback/tool",
      "UNKNOWN_TOOL /steps/0/fallback/compensate/tool",
      "UNKNOWN_TOOL /steps/1/parallel/0/tool",
      "UNKNOWN_TOOL /steps/1/parallel/1/tool",
      "UNKNOWN_TOOL /steps/2/tool_dispatch/tools/x~1y/tool",
    ]);
    expect(problems[0]?.message).toBe('Tool "lok" is not there. Did you mean "look"?');
    expect(problems[1]?.message).toBe('Tool "no" is not there. Publish it, or name one that is there.');
  });

  it("every workflow, wherever it is called", () => {
    const { problems } = check(
      of(
        { id: "a", workflow: "no", inputs: {} },
        { id: "b", repeat: { workflow: "no", state: 1, max_iterations: 1 } },
        { id: "c", for_each: { items: [], workflow: "no" } },
        { id: "d", tool_dispatch: { tools: { t: { flow: "no" } } } },
      ),
    );
    expect(told(problems)).toEqual([
      "UNKNOWN_WORKFLOW /steps/0/workflow",
      "UNKNOWN_WORKFLOW /steps/1/repeat/workflow",
      "UNKNOWN_WORKFLOW /steps/2/for_each/workflow",
      "UNKNOWN_WORKFLOW /steps/3/tool_dispatch/tools/t/flow",
    ]);
  });

  it("but not what the document holds itself", () => {
    const flow = defineWorkflow(named("inner", look("a")));
    expect(check(of({ id: "a", tool_dispatch: { tools: { t: { flow } } } })).problems).toEqual([]);
  });

  it("stops naming the nearest where there are very many", () => {
    const steps = Array.from({ length: 120 }, (_, index) => ({ id: `s${index}`, tool: "loook" }));
    const { problems } = check(of(...steps));
    expect(problems).toHaveLength(120);
    expect(problems.filter(({ message }) => message.includes("Did you mean"))).toHaveLength(100);
  });
});

describe("workflows that are called", () => {
  it("are checked too, and their problems told where they are called", () => {
    const faulty = named("faulty", { id: "a", tool: "no" }, { id: "b", tool: "no" });
    const caller = named("caller", { id: "x", workflow: "faulty" });
    const { problems } = check(of({ id: "a", workflow: "caller" }, { id: "b", workflow: "caller" }), [faulty, caller]);
    expect(told(problems)).toEqual([
      "UNKNOWN_TOOL /steps/0/workflow",
      "UNKNOWN_TOOL /steps/0/workflow",
      "UNKNOWN_TOOL /steps/1/workflow",
      "UNKNOWN_TOOL /steps/1/workflow",
    ]);
    expect(problems[1]?.message).toBe(
      'Workflow "caller" has a problem at /steps/0/workflow: Workflow "faulty" has a problem at /steps/1/tool: Tool "no" is not there. Publish it, or name one that is there.',
    );
  });

  it("may be no workflows at all", () => {
    const workflows = new Map([["bad", { name: "bad", steps: [] } as unknown as Workflow]]);
    const { problems } = checkAgainst(defineWorkflow(of({ id: "a", workflow: "bad" }, look("b"))), tools, workflows);
    expect(told(problems)).toEqual(["INVALID_DOCUMENT /steps/0/workflow"]);
  });

  it("fails as it fails, where it is read at all", () => {
    const workflows = new Map([["bad", null as unknown as Workflow]]);
    expect(told(checkAgainst(defineWorkflow(of({ id: "a", workflow: "bad" })), tools, workflows).problems)).toEqual([
      "INVALID_DOCUMENT /steps/0/workflow",
    ]);
  });

  it("call nobody in a circle", () => {
    expect(told(check(of({ id: "a", workflow: "w" })).problems)).toEqual(["WORKFLOW_CYCLE /steps/0/workflow"]);
    const there = named("there", look("a"), { id: "b", for_each: { items: [], workflow: "back" } });
    const back = named("back", { id: "a", workflow: "there" });
    const { problems } = check(of({ id: "a", workflow: "there" }), [there, back]);
    expect(told(problems)).toEqual(["WORKFLOW_CYCLE /steps/0/workflow"]);
    expect(problems[0]?.message).toContain("there → back → there");
  });

  it("may be called twice without a circle", () => {
    const leaf = named("leaf", look("a"));
    const left = named("left", { id: "a", workflow: "leaf" });
    expect(check(of({ id: "a", workflow: "left" }, { id: "b", workflow: "leaf" }), [leaf, left]).problems).toEqual([]);
  });

  it("lie within reach of the stack", () => {
    const chain = Array.from({ length: 300 }, (_, index) =>
      named(`n${index}`, index === 299 ? look("a") : { id: "a", workflow: `n${index + 1}` }),
    );
    const { problems } = check(of({ id: "a", workflow: "n0" }), chain);
    expect(told(problems)).toEqual(["LIMIT_REACHED /steps/0/workflow"]);
  });
});

describe("literal inputs", () => {
  it.each<[string, string, WorkflowDocument["steps"][number]["inputs"], string[]]>([
    ["that fit", "order", { number: "n1", amount: 2, to: { city: "Oslo" }, tags: ["a"] }, []],
    ["of the wrong type", "order", { number: 12 }, ["/number"]],
    ["that lack what is required", "order", { amount: 1 }, [""]],
    ["that are left out", "order", undefined, [""]],
    ["that the tool does not know", "order", { number: "n1", nmae: 1 }, ["/nmae"]],
    ["beside templates", "order", { number: "{{input.n}}", amount: "1", to: { city: 5 } }, ["/amount", "/to/city"]],
    ["beside templates, deep down", "order", { number: "n1", to: { city: "{{input.c}}", zip: "1" } }, ["/to/zip"]],
    [
      "that lack what is required, deep down",
      "order",
      { number: "n1", to: { "x{{": 1, city: "{{input.c}}" } },
      ["/to/x{{"],
    ],
    ["that no template provides", "order", { amount: "{{input.a}}" }, [""]],
    ["that a template refuses to know", "order", { number: "n1", "a/b": "{{input.a}}" }, ["/a~1b"]],
    ["a list with a template", "order", { number: "n1", tags: ["{{input.t}}", 5] }, []],
    ["by one template", "order", "{{input}}", []],
    ["with escaped braces", "order", { number: "\\{{", amount: "{{input.a}}" }, []],
    ["of a zod schema", "zod", { t: 1 }, ["/t"]],
    ["of a zod schema, whose defaults it fills in", "zod", { t: "x" }, []],
    ["of a schema that says nothing of itself", "mute", { t: 1 }, []],
    ["of a tool that takes any object", "look", { t: 1 }, []],
  ])("%s", (_, tool, inputs, expected) => {
    const { problems } = check(of({ id: "a", tool, ...(inputs !== undefined && { inputs }) }));
    expect(told(problems)).toEqual(expected.map((pointer) => `INVALID_INPUT /steps/0/inputs${pointer}`));
  });

  it("names the tool and the property, not the value", () => {
    const { problems } = check(of({ id: "a", tool: "order", inputs: { number: 4711, amount: "{{input.a}}" } }));
    expect(problems[0]?.message).toBe(
      'What is given to the tool "order" does not fit: The value type "number" is invalid. Expected "string".',
    );
  });

  it("are held against the workflow that is called, beside what the runtime lays", () => {
    const turn: WorkflowDocument = {
      ...named("turn", look("a")),
      input_schema: { properties: { n: { type: "number" } }, required: ["n", "state", "iteration"] },
    };
    const document = of(
      { id: "a", workflow: "turn", inputs: { n: "1", state: 1 } },
      { id: "b", repeat: { workflow: "turn", inputs: { n: "1" }, state: 1, max_iterations: 1 } },
      { id: "c", repeat: { workflow: "turn", inputs: {}, state: 1, max_iterations: 1 } },
      { id: "d", for_each: { items: [], workflow: "turn", inputs: "{{item}}" } },
    );
    expect(told(check(document, [turn]).problems)).toEqual([
      "INVALID_INPUT /steps/0/inputs",
      "INVALID_INPUT /steps/0/inputs/n",
      "INVALID_INPUT /steps/1/repeat/inputs/n",
      "INVALID_INPUT /steps/2/repeat/inputs",
    ]);
  });

  it("are held against all that a schema refers to", () => {
    const schema = compileSchema({
      $defs: { base: { properties: { a: { type: "string" } }, required: ["a"] } },
      $ref: "#/$defs/base",
      allOf: [
        {
          properties: { b: { type: "number" } },
          patternProperties: { "^x": { type: "boolean" } },
          additionalProperties: { type: "null" },
        },
        true,
      ],
    });
    const { problems } = checkAgainst(
      defineWorkflow(of({ id: "a", tool: "t", inputs: { b: "{{input.b}}", x1: "no", y: 1 } })),
      new Map([["t", { name: "t", effect: "read" as const, schema }]]),
      new Map(),
    );
    expect(told(problems)).toEqual([
      "INVALID_INPUT /steps/0/inputs",
      "INVALID_INPUT /steps/0/inputs/x1",
      "INVALID_INPUT /steps/0/inputs/y",
    ]);
  });
});

describe("inputs that are read", () => {
  const schema = {
    type: "object",
    properties: {
      must: {
        type: "object",
        properties: { deep: { type: "string" }, may: {} },
        required: ["deep"],
        additionalProperties: false,
      },
      may: { type: "array" },
      list: { type: ["array", "null"] },
      closed: { anyOf: [{}], properties: { a: {} }, additionalProperties: false },
      choice: { anyOf: [{ required: ["a"] }, {}] },
    },
    required: ["must", "choice", "list", "closed"],
    additionalProperties: false,
  } as const;

  it.each<[string, string[], string[]]>([
    ["{{input}}", [], []],
    ["{{input.must.deep}}", [], []],
    ["{{input.must.deep.er}}", [], ["OPTIONAL_INPUT"]],
    ["{{input.must.may}}", [], ["OPTIONAL_INPUT"]],
    ["{{input.must.may?}}", [], []],
    ["{{input.may}}", [], ["OPTIONAL_INPUT"]],
    ["{{input.may.0}}", [], []],
    ["{{input.list.0}}", [], []],
    ['{{input.may ?? "none"}}', [], []],
    ["{{input.mst}}", ["UNKNOWN_INPUT"], []],
    ["{{input.mst?}}", ["UNKNOWN_INPUT"], []],
    ["{{input.must.dep}}", ["UNKNOWN_INPUT"], []],
    ["{{input.choice.a}}", [], []],
    ["{{input.closed.a}}", [], []],
    ["{{input.closed.b}}", ["UNKNOWN_INPUT"], []],
    ["{{input.tool_call_id}} {{input.tool_arguments.x}} {{input.iteration}}", [], []],
  ])("%s", (text, problems, warnings) => {
    const result = check({ ...of(look("a", { v: text })), input_schema: schema });
    expect(told(result.problems)).toEqual(problems.map((code) => `${code} /steps/0/inputs/v`));
    expect(told(result.warnings)).toEqual(warnings.map((code) => `${code} /steps/0/inputs/v`));
  });

  it("are as zod gives them, not as it takes them", () => {
    const input_schema = z.object({ n: z.number().default(1), o: z.string().optional() });
    const result = check({ ...of(look("a", { n: "{{input.n}}", o: "{{input.o}}", x: "{{input.x}}" })), input_schema });
    expect(told(result.problems)).toEqual(["UNKNOWN_INPUT /steps/0/inputs/x"]);
    expect(told(result.warnings)).toEqual(["OPTIONAL_INPUT /steps/0/inputs/o"]);
  });

  it("are anything where the document says nothing", () => {
    const result = check(of(look("a", { v: "{{input.x}}" })));
    expect([result.problems, result.warnings]).toEqual([[], []]);
  });

  it("may be asked for in a condition", () => {
    const result = check({ ...of({ ...look("a"), when: { exists: "{{input.may}}" } }), input_schema: schema });
    expect(result.warnings).toEqual([]);
  });
});

describe("writes", () => {
  it.each<[string, WorkflowDocument, boolean]>([
    ["none", of(look("a"), { id: "b", run: () => 1 }, { id: "c", sleep_ms: 1 }), false],
    ["a step", of(make("a")), true],
    ["a compensation", of({ ...look("a"), ...undo }), true],
    ["a fallback", of({ ...look("a"), fallback: { tool: "make" } }), true],
    ["a branch", of({ id: "p", parallel: [look("a"), make("b")] }), true],
    ["a handler", of({ id: "a", tool_dispatch: { tools: { t: { tool: "make" } } } }), true],
    ["a workflow that is called, by another", of({ id: "a", workflow: "outer" }), true],
    ["what is not known", of({ id: "a", tool: "no" }), true],
    ["itself only", of({ id: "a", workflow: "w" }), false],
  ])("%s", (_, document, writes) => {
    const inner = named("inner", look("a"), make("b"));
    const outer = named("outer", { id: "a", for_each: { items: [], workflow: "inner" } });
    expect(check(document, [inner, outer]).writes).toBe(writes);
  });
});

describe("warnings", () => {
  const warned = (document: WorkflowDocument, called?: readonly WorkflowDocument[]) =>
    told(check(document, called).warnings);

  it.each<[string, WorkflowDocument, string[]]>([
    ["the last write of all", of(make("a"), look("b")), []],
    ["a write before another", of(look("z"), make("a"), look("b"), make("c")), ["/steps/1"]],
    ["one that is undone", of(make("a", undo), make("b")), []],
    [
      "one whose fallback is not",
      of({ ...make("a", undo), fallback: { tool: "make" } }, make("b")),
      ["/steps/0/fallback"],
    ],
    [
      "one whose fallback is, or reads",
      of(
        { ...make("a", undo), fallback: { tool: "make", ...undo } },
        { ...look("c"), fallback: { tool: "look" } },
        make("b"),
      ),
      [],
    ],
    [
      "a write before a fallback that writes",
      of(make("a"), { ...look("b"), fallback: { tool: "make" } }),
      ["/steps/0"],
    ],
    [
      "branches that both write",
      of({ id: "p", parallel: [make("a"), make("b", undo), look("c")] }),
      ["/steps/0/parallel/0"],
    ],
    ["one branch that writes", of({ id: "p", parallel: [make("a"), look("b")] }), []],
    [
      "a branch before another write",
      of({ id: "p", parallel: [make("a"), look("b")] }, make("c")),
      ["/steps/0/parallel/0"],
    ],
    [
      "branches that stand undone as a whole",
      of({ id: "p", parallel: [make("a"), make("b")], ...undo }, make("c")),
      [],
    ],
    ["a workflow that leaves a write", of({ id: "a", workflow: "leaves" }, make("b")), ["/steps/0"]],
    ["one that undoes its own", of({ id: "a", workflow: "undoes" }, make("b")), []],
    ["one that is undone as a whole", of({ id: "a", workflow: "leaves", ...undo }, make("b")), []],
    ["a loop over a write", of({ id: "a", for_each: { items: [], workflow: "leaves" } }), ["/steps/0"]],
    ["turns of a write", of({ id: "a", repeat: { workflow: "leaves", state: 1, max_iterations: 2 } }), ["/steps/0"]],
    [
      "handlers that write",
      of({ id: "a", tool_dispatch: { tools: { t: { tool: "make" }, f: { flow: "undoes" } } } }, make("b")),
      ["/steps/0"],
    ],
  ])("of a write that nothing undoes: %s", (_, document, expected) => {
    const called = [named("leaves", make("a")), named("undoes", make("a", undo))];
    expect(warned(document, called)).toEqual(expected.map((pointer) => `NO_COMPENSATION ${pointer}`));
  });

  it.each<[string, string, string, string[]]>([
    ["the same", "{{input.a.b}}", "{{input.a.b}}", ["v"]],
    ["what holds it", "{{input.a.b}}", "{{input.a}}", ["v"]],
    ["what it holds", "{{input.a}}", "{{input.a.b}}", ["v"]],
    ["all of it", "{{input.a}}", "{{input}}", ["v"]],
    ["another", "{{input.a}}", "{{input.ab}}", []],
    ["what was sent", "{{input.a}}", "{{steps.s.inputs.v}}", []],
  ])("of an undo that an edit would escape: it reads %s", (_, sent, undone, expected) => {
    const compensate = { tool: "unmake", inputs: { v: undone } };
    const pointers = (place: string) =>
      expected.map((key) => `COMPENSATION_READS_INPUT /steps/0${place}/compensate/inputs/${key}`);
    expect(warned(of({ id: "s", tool: "make", inputs: { v: sent }, compensate }))).toEqual(pointers(""));
    const fallback = { tool: "make", inputs: { v: sent }, compensate };
    expect(warned(of({ id: "s", tool: "look", inputs: {}, fallback }))).toEqual(pointers("/fallback"));
    expect(warned(of({ id: "s", run: () => 1, compensate: { tool: "unmake", inputs: { v: "{{input.a}}" } } }))).toEqual(
      [],
    );
  });

  it("of a read of a step that may be skipped", () => {
    const document = of(
      { ...look("a"), when: "{{input.x}}", compensate: { tool: "look", inputs: { v: "{{steps.a.result}}" } } },
      { id: "p", when: "{{input.x}}", parallel: [look("b")] },
      look("c", {
        a: "{{steps.a.result}}",
        b: "{{steps.b.result}}",
        p: "{{steps.p.result}}",
        fine: "{{steps.a.result?}}",
      }),
    );
    expect(warned({ ...document, output: "{{steps.a.result}} {{steps.c.result}}" })).toEqual([
      "SKIPPABLE_STEP /steps/2/inputs/a",
      "SKIPPABLE_STEP /steps/2/inputs/b",
      "SKIPPABLE_STEP /steps/2/inputs/p",
      "SKIPPABLE_STEP /output",
    ]);
  });

  it("of a key that replaces another where dispatches read", () => {
    const calls = { id: "calls", tool_dispatch: { tools: {} } };
    const input_schema = {
      properties: { amount: {} },
      additionalProperties: true,
      allOf: [{ properties: { note: {} } }],
    };
    const steps = [
      { ...look("a"), output_key: "amount" },
      look("note"),
      { ...look("b"), output_key: "tool_results_count" },
      calls,
      {
        id: "p",
        parallel: [
          { ...look("c"), output_key: "a" },
          { ...look("d"), output_key: "a" },
        ],
      },
    ];
    expect(warned({ ...of(...steps), input_schema })).toEqual([
      "SHADOWED_KEY /steps/0",
      "SHADOWED_KEY /steps/1",
      "SHADOWED_KEY /steps/3",
      "SHADOWED_KEY /steps/4/parallel/1",
    ]);
    expect(warned({ ...of(...steps.filter((each) => each !== calls)), input_schema })).toEqual([]);
    expect(warned(of(calls, { ...calls, id: "again" }))).toEqual(["SHADOWED_KEY /steps/1"]);
  });
});
