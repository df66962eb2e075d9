import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineWorkflow, embeddedWorkflows, planOf } from "../../src/core/define.js";
import { workflowBrand } from "../../src/core/document.js";
import { DefinitionError, type Problem } from "../../src/core/errors.js";

/** What `defineWorkflow` finds, whatever it is given. */
function problemsOf(document: unknown): readonly Problem[] {
  try {
    defineWorkflow(document as never);
    return [];
  } catch (error) {
    if (error instanceof DefinitionError) return error.problems;
    throw error;
  }
}

function found(document: unknown): string[] {
  return problemsOf(document).map(({ code, pointer }) => `${code} ${pointer}`);
}

const read = (id: string, inputs: unknown = {}) => ({ id, tool: "look", inputs });
const of = (...steps: unknown[]) => ({ name: "w", steps });
/** A step of each kind that calls something, with the templates at every place that may hold one. */
const fine = {
  name: "fine",
  description: "Everything a document can hold.",
  input_schema: { type: "object", properties: { n: { type: "number" } } },
  timeout_ms: 60_000,
  steps: [
    {
      id: "first",
      tool: "look",
      inputs: { a: "{{input.n}}", b: ["{{...input.list}}"] },
      retries: 3,
      timeout_ms: 1,
      output_key: "x",
    },
    {
      id: "second",
      when: { not: { exists: "{{steps.first.result}}" } },
      tool: "make",
      inputs: "{{steps.first.inputs}}",
      compensate: {
        tool: "unmake",
        inputs: { id: "{{steps.second.result.id}}", sent: "{{steps.second.inputs.a}}", n: "{{steps.first.result}}" },
        retries: 0,
        timeout_ms: 5,
        if_in_doubt: true,
      },
      fallback: {
        tool: "make_other",
        inputs: { why: "{{error.message}}" },
        compensate: {
          tool: "unmake_other",
          inputs: { id: "{{steps.second.result}}", sent: "{{steps.second.inputs}}" },
        },
      },
    },
    { id: "child", workflow: "other", inputs: { n: "{{steps.second.result?}}" } },
    {
      id: "turns",
      repeat: {
        workflow: "turn",
        inputs: {},
        state: { n: "{{steps.child.inputs.n}}" },
        until: { greater_than: ["{{result.state.n}}", "{{input.n}}"] },
        max_iterations: 1024,
        delay_ms: 0,
      },
    },
    {
      id: "each",
      for_each: {
        items: "{{steps.first.result}}",
        workflow: "one",
        inputs: { item: "{{item.id}}", at: "{{index}}" },
        max_concurrent: 4,
        on_error: "ignore",
      },
    },
    {
      id: "both",
      parallel: [
        { id: "left", tool: "look", inputs: { a: "{{steps.each.result}}" } },
        { id: "right", parallel: [{ id: "inner", sleep_ms: 0 }] },
      ],
      compensate: { tool: "unmake", inputs: { all: "{{steps.both.result.left}}" } },
    },
    {
      id: "calls",
      tool_dispatch: {
        source_key: "k",
        output_key: "out",
        on_error: "fail_fast",
        max_calls: 1,
        max_concurrent: 1,
        tools: {
          a: { flow: "one", input: { city: "arguments.city" } },
          b: { tool: "look" },
          constructor: { tool: "look" },
        },
      },
    },
    {
      id: "sure",
      ask: { prompt: "About {{steps.left.result}}?", schema: { type: "boolean" }, expires_after_ms: 5, default: true },
    },
  ],
  output: { a: "{{steps.inner.result}}", b: "{{steps.sure.result}}" },
};

describe("a workflow", () => {
  it("is the document, deeply frozen, and JSON gives it back", () => {
    const text = JSON.stringify(fine);
    const workflow = defineWorkflow(fine);
    expect(workflow).toEqual(fine);
    expect(JSON.stringify(workflow)).toBe(text);
    expect(JSON.stringify(fine)).toBe(text);
    const everything: unknown[] = [workflow];
    for (const value of everything) {
      if (typeof value !== "object" || value === null) continue;
      expect(Object.isFrozen(value)).toBe(true);
      everything.push(...Object.values(value));
    }
  });

  it("shows nothing of later changes to the document", () => {
    const document = of(read("a", { list: [1] }));
    const workflow = defineWorkflow(document as never);
    document.steps.push(read("b"));
    (document.steps[0] as { inputs: { list: number[] } }).inputs.list.push(2);
    expect(workflow).toEqual(of(read("a", { list: [1] })));
  });

  it("is given back when it is defined again", () => {
    const workflow = defineWorkflow(fine);
    expect(defineWorkflow(workflow)).toBe(workflow);
  });

  it("leaves out what is undefined, as JSON does", () => {
    const workflow = defineWorkflow({
      name: "w",
      description: undefined,
      steps: [{ id: "a", sleep_ms: 1, when: undefined }],
    });
    expect(JSON.stringify(workflow)).toBe('{"name":"w","steps":[{"id":"a","sleep_ms":1}]}');
  });

  it("keeps functions and Standard Schemas as they are", () => {
    const schema = z.object({ n: z.number() });
    const run = () => 1;
    const workflow = defineWorkflow({
      name: "w",
      input_schema: schema,
      steps: [
        { id: "a", run },
        { id: "b", ask: { prompt: "?", schema } },
        { id: "c", parallel: [{ id: "d", run }] },
      ],
    });
    expect(workflow.input_schema).toBe(schema);
    expect(workflow.steps[0]?.run).toBe(run);
    expect(workflow.steps[1]?.ask?.schema).toBe(schema);
    expect(workflow.steps[2]?.parallel?.[0]?.run).toBe(run);
    expect(Object.isFrozen(schema)).toBe(false);
    expect(planOf(workflow).hasCode).toBe(true);
  });

  it("holds an own __proto__ as data", () => {
    const inputs = JSON.parse('{"__proto__":{"polluted":"{{input.a}}"},"constructor":1}');
    const workflow = defineWorkflow({ name: "w", steps: [{ id: "a", tool: "t", inputs }] });
    expect(JSON.stringify(workflow.steps[0]?.inputs)).toBe(JSON.stringify(inputs));
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("faults of the form", () => {
  it.each<[string, unknown, string[]]>([
    ["no object", [], ["INVALID_DOCUMENT "]],
    ["nothing at all", undefined, ["INVALID_DOCUMENT "]],
    ["no name", { steps: [read("a")] }, ["INVALID_NAME /name"]],
    ["no steps", { name: "w" }, ["INVALID_DOCUMENT /steps"]],
    ["an empty list", { name: "w", steps: [] }, ["INVALID_DOCUMENT /steps"]],
    ["steps that are none", { name: "w", steps: {} }, ["INVALID_DOCUMENT /steps"]],
    ["a step that is none", of("look", read("a")), ["INVALID_DOCUMENT /steps/0"]],
    ["a name with a dot", { ...of(read("a")), name: "a.b" }, ["INVALID_NAME /name"]],
    ["a name of 65", { ...of(read("a")), name: "n".repeat(65) }, ["INVALID_NAME /name"]],
    ["an id that JavaScript knows", of(read("constructor")), ["INVALID_NAME /steps/0/id"]],
    ["an id that is a number", of({ ...read("a"), id: 7 }), ["INVALID_NAME /steps/0/id"]],
    ["no id", of({ tool: "look" }), ["INVALID_NAME /steps/0/id"]],
    ["an id twice", of(read("a"), { id: "p", parallel: [read("a")] }), ["DUPLICATE_ID /steps/1/parallel/0/id"]],
    [
      "an unfit id twice, told once each",
      of(read("ä"), read("ä")),
      ["INVALID_NAME /steps/0/id", "INVALID_NAME /steps/1/id"],
    ],
    ["a key of no step", of({ ...read("a"), retry: 1 }), ["UNKNOWN_KEY /steps/0/retry"]],
    ["an own __proto__ as a key", { ...JSON.parse('{"__proto__":1}'), ...of(read("a")) }, ["UNKNOWN_KEY /__proto__"]],
    [
      "a key of no compensation",
      of({ ...read("a"), compensate: { tool: "t", "a/b": 1 } }),
      ["UNKNOWN_KEY /steps/0/compensate/a~1b"],
    ],
    ["too many retries", of({ ...read("a"), retries: 4 }), ["INVALID_DOCUMENT /steps/0/retries"]],
    ["retries far too many", of({ ...read("a"), retries: 1e300 }), ["INVALID_DOCUMENT /steps/0/retries"]],
    ["no time at all", { ...of(read("a")), timeout_ms: 0 }, ["INVALID_DOCUMENT /timeout_ms"]],
    ["a time beyond all dates", of({ id: "a", sleep_ms: 1e15 }), ["INVALID_DOCUMENT /steps/0/sleep_ms"]],
    ["half a millisecond", of({ id: "a", sleep_ms: 0.5 }), ["INVALID_DOCUMENT /steps/0/sleep_ms"]],
    ["a tool without a name", of({ ...read("a"), tool: "" }), ["INVALID_DOCUMENT /steps/0/tool"]],
    ["a tool by template", of({ ...read("a"), tool: "x{{input.t}}" }), ["INVALID_TEMPLATE /steps/0/tool"]],
    ["inputs that are a list", of(read("a", [])), ["INVALID_DOCUMENT /steps/0/inputs"]],
    ["inputs that are text", of(read("a", "all of {{input}}")), ["INVALID_TEMPLATE /steps/0/inputs"]],
    ["inputs that are malformed", of(read("a", "{{input")), ["INVALID_TEMPLATE /steps/0/inputs"]],
    ["a function that is text", of({ id: "a", run: "f" }), ["INVALID_DOCUMENT /steps/0/run"]],
    ["an output that is nothing", { ...of(read("a")), output: null }, []],
    [
      "no id, and a read of no step",
      of({ tool: "look", inputs: { v: "{{steps.a.result}}" } }),
      ["INVALID_NAME /steps/0/id", "UNKNOWN_STEP /steps/0/inputs/v"],
    ],
    ["no kind", of({ id: "a" }), ["INVALID_STEP /steps/0"]],
    ["no kind and no id", of({}), ["INVALID_STEP /steps/0", "INVALID_NAME /steps/0/id"]],
    ["a kind misspelt", of({ id: "a", tol: "look" }), ["UNKNOWN_KEY /steps/0/tol"]],
    ["two kinds", of({ ...read("a"), sleep_ms: 1 }), ["INVALID_STEP /steps/0"]],
    ["inputs of a wait", of({ id: "a", sleep_ms: 1, inputs: {} }), ["INVALID_STEP /steps/0/inputs"]],
    [
      "what an ask has not",
      of({
        id: "a",
        ask: { prompt: "?" },
        retries: 1,
        timeout_ms: 1,
        fallback: { tool: "t" },
        compensate: { tool: "t" },
      }),
      ["retries", "timeout_ms", "fallback", "compensate"].map((key) => `INVALID_STEP /steps/0/${key}`),
    ],
    ["what a wait has not", of({ id: "a", sleep_ms: 1, retries: 1 }), ["INVALID_STEP /steps/0/retries"]],
    [
      "an output_key of a dispatch's step",
      of({ id: "a", output_key: "k", tool_dispatch: { tools: {} } }),
      ["INVALID_STEP /steps/0/output_key"],
    ],
    ["a dispatch without tools", of({ id: "a", tool_dispatch: {} }), ["INVALID_DOCUMENT /steps/0/tool_dispatch/tools"]],
    [
      "tools that are a list",
      of({ id: "a", tool_dispatch: { tools: [] } }),
      ["INVALID_DOCUMENT /steps/0/tool_dispatch/tools"],
    ],
    [
      "no calls allowed",
      of({ id: "a", tool_dispatch: { tools: {}, max_calls: 0 } }),
      ["INVALID_DOCUMENT /steps/0/tool_dispatch/max_calls"],
    ],
    [
      "a mode of errors that is none",
      of({ id: "a", tool_dispatch: { tools: {}, on_error: "stop" } }),
      ["INVALID_DOCUMENT /steps/0/tool_dispatch/on_error"],
    ],
    [
      "handlers that are none",
      of({ id: "a", tool_dispatch: { tools: { "x/y": {}, b: { flow: "f", tool: "t" }, c: 1, d: { flow: "é" } } } }),
      [
        "INVALID_DOCUMENT /steps/0/tool_dispatch/tools/x~1y",
        "INVALID_DOCUMENT /steps/0/tool_dispatch/tools/b",
        "INVALID_DOCUMENT /steps/0/tool_dispatch/tools/c",
        "INVALID_DOCUMENT /steps/0/tool_dispatch/tools/d/flow",
      ],
    ],
    [
      "a handler by an inherited name",
      of({ id: "a", tool_dispatch: { tools: JSON.parse('{"__proto__":{"tool":"t"},"toString":{"tool":"t"}}') } }),
      ["INVALID_NAME /steps/0/tool_dispatch/tools/__proto__"],
    ],
    [
      "a key of no handler",
      of({ id: "a", tool_dispatch: { tools: { t: { flow: "f", inputs: {} } } } }),
      ["UNKNOWN_KEY /steps/0/tool_dispatch/tools/t/inputs"],
    ],
    [
      "a mapping of what is laid beside",
      of({
        id: "a",
        tool_dispatch: { tools: { t: { tool: "t", input: { tool_name: "tool_name", name: "tool_name" } } } },
      }),
      ["INVALID_NAME /steps/0/tool_dispatch/tools/t/input/tool_name"],
    ],
    [
      "a mapping that is none",
      of({ id: "a", tool_dispatch: { tools: { t: { tool: "t", input: [] } } } }),
      ["INVALID_DOCUMENT /steps/0/tool_dispatch/tools/t/input"],
    ],
    [
      "a repeat that lacks all",
      of({ id: "a", repeat: {} }),
      [
        "INVALID_NAME /steps/0/repeat/workflow",
        "INVALID_DOCUMENT /steps/0/repeat/state",
        "INVALID_DOCUMENT /steps/0/repeat/max_iterations",
      ],
    ],
    [
      "too many turns",
      of({ id: "a", repeat: { workflow: "t", state: 1, max_iterations: 1025 } }),
      ["INVALID_DOCUMENT /steps/0/repeat/max_iterations"],
    ],
    ["items of nothing", of({ id: "a", for_each: { workflow: "t" } }), ["INVALID_DOCUMENT /steps/0/for_each/items"]],
    ["an ask without a prompt", of({ id: "a", ask: {} }), ["INVALID_DOCUMENT /steps/0/ask/prompt"]],
    [
      "a branch that is none",
      of({ id: "a", parallel: [null, read("b")] }, read("c", { v: "{{steps.b.result}}" })),
      ["INVALID_DOCUMENT /steps/0/parallel/0"],
    ],
    ["an empty parallel", of({ id: "a", parallel: [] }), ["INVALID_DOCUMENT /steps/0/parallel"]],
    ["a condition that is none", of({ ...read("a"), when: { same: [1, 1] } }), ["INVALID_DOCUMENT /steps/0/when"]],
    ["a schema that is none", { ...of(read("a")), input_schema: 5 }, ["INVALID_DOCUMENT /input_schema"]],
    [
      "a schema that can't be used",
      { ...of(read("a")), input_schema: { properties: { a: { type: "strng" } } } },
      ["INVALID_SCHEMA /input_schema/properties/a/type"],
    ],
    [
      "a schema that leads nowhere",
      of({ id: "a", ask: { prompt: "?", schema: { $ref: "#/$defs/x" } } }),
      ["INVALID_SCHEMA /steps/0/ask/schema/$ref"],
    ],
    [
      "a default that does not fit",
      of({ id: "a", ask: { prompt: "?", schema: { properties: { n: { type: "number" } } }, default: { n: "1" } } }),
      ["INVALID_INPUT /steps/0/ask/default/n"],
    ],
    ["a default without a schema", of({ id: "a", ask: { prompt: "?", default: { n: "{{not read}}" } } }), []],
  ])("%s", (_, document, expected) => {
    expect(found(document)).toEqual(expected);
  });

  it("names the nearest key, and all where none is near", () => {
    const [near, far] = problemsOf(of({ ...read("a"), retrys: 1, zzz: 1 }));
    expect(near?.message).toBe('"retrys" is no key of element 0 of "steps". Did you mean "retries"?');
    expect(far?.message).toContain("Expected one of id, when, retries,");
    expect(problemsOf({ ...of(read("a")), nmae: "x" })[0]?.message).toContain(
      'of a workflow document. Did you mean "name"?',
    );
  });

  it("are all told, in the order of the document, once each", () => {
    const document = {
      steps: [
        {
          tool: "look",
          retries: 9,
          inputs: { b: "{{steps.no.result}} {{steps.no.result}}", a: "{{" },
          id: "a b",
          nope: 1,
        },
        { id: "c", tool: "look", inputs: { v: "{{steps.c.result}}" } },
      ],
      nope: true,
      name: "w",
      output: "{{inputs.a}}",
    };
    expect(found(document)).toEqual([
      "INVALID_DOCUMENT /steps/0/retries",
      "UNKNOWN_STEP /steps/0/inputs/b",
      "INVALID_TEMPLATE /steps/0/inputs/a",
      "INVALID_NAME /steps/0/id",
      "UNKNOWN_KEY /steps/0/nope",
      "UNREADABLE_STEP /steps/1/inputs/v",
      "UNKNOWN_KEY /nope",
      "INVALID_TEMPLATE /output",
    ]);
  });

  it("are summed up in the message", () => {
    const document = of(...["a", "b", "c", "d", "e", "f", "g"].map((id) => ({ id })));
    expect(() => defineWorkflow(document as never)).toThrow(
      /^The workflow document has 7 problems\.\n\/steps\/0: Step "a" does nothing.*\n(.*\n){4}… and 2 more\.$/,
    );
    expect(() => defineWorkflow([] as never)).toThrow(
      "The workflow document has a problem.\n/: A workflow document must be",
    );
  });
});

describe("what is read", () => {
  it.each<[string, unknown[], string[]]>([
    ["a step before", [read("a"), read("b", { v: "{{steps.a.result}}" })], []],
    ["its own result", [read("a", { v: "{{steps.a.result}}" })], ["UNREADABLE_STEP /steps/0/inputs/v"]],
    [
      "a later step, deep down",
      [read("a", { l: [{ v: "x {{steps.b.result}}" }] }), read("b")],
      ["UNREADABLE_STEP /steps/0/inputs/l/0/v"],
    ],
    [
      "a step that is not there",
      [read("abc"), read("b", { v: "{{steps.acb.result}}" })],
      ["UNKNOWN_STEP /steps/1/inputs/v"],
    ],
    [
      "a faulty step",
      [
        { id: "a", retries: 4, tool: "t" },
        { id: "x y", sleep_ms: 0 },
        read("b", { v: "{{steps.a.result}} {{steps.x y.result}}" }),
      ],
      ["INVALID_DOCUMENT /steps/0/retries", "INVALID_NAME /steps/1/id"],
    ],
    [
      "a compensation's result",
      [read("a"), read("b", { v: "{{steps.a.compensate.result}}" })],
      ["INVALID_TEMPLATE /steps/1/inputs/v"],
    ],
    [
      "a later step, by a compensation",
      [{ ...read("a"), compensate: { tool: "t", inputs: { v: "{{steps.b.result}}" } } }, read("b")],
      ["UNREADABLE_STEP /steps/0/compensate/inputs/v"],
    ],
    [
      "a sibling in a parallel",
      [{ id: "p", parallel: [read("a"), read("b", { v: "{{steps.a.result}}" })] }],
      ["UNREADABLE_STEP /steps/0/parallel/1/inputs/v"],
    ],
    [
      "the whole, by a branch",
      [{ id: "p", parallel: [read("a", { v: "{{steps.p.result}}" })] }],
      ["UNREADABLE_STEP /steps/0/parallel/0/inputs/v"],
    ],
    [
      "its own result, by a fallback",
      [{ ...read("a"), fallback: { tool: "t", inputs: { v: "{{steps.a.result}}" } } }],
      ["UNREADABLE_STEP /steps/0/fallback/inputs/v"],
    ],
    [
      "its own result, by a condition",
      [{ ...read("a"), when: "{{steps.a.result}}" }],
      ["UNREADABLE_STEP /steps/0/when"],
    ],
    [
      "the inputs of a wait",
      [{ id: "a", sleep_ms: 1 }, read("b", { v: "{{steps.a.inputs}}" })],
      ["UNREADABLE_STEP /steps/1/inputs/v"],
    ],
    [
      "an error that there is not",
      [{ ...read("a", { v: "{{error.code}}" }), compensate: { tool: "t", inputs: { v: "{{error.code}}" } } }],
      ["INVALID_TEMPLATE /steps/0/inputs/v", "INVALID_TEMPLATE /steps/0/compensate/inputs/v"],
    ],
    [
      "an item outside its inputs",
      [{ id: "a", for_each: { items: "{{item}}", workflow: "w", inputs: { v: "{{index}}" } } }],
      ["INVALID_TEMPLATE /steps/0/for_each/items"],
    ],
    [
      "a turn's result outside until",
      [{ id: "a", repeat: { workflow: "w", state: "{{result}}", until: "{{result.done}}", max_iterations: 1 } }],
      ["INVALID_TEMPLATE /steps/0/repeat/state"],
    ],
    ["no template at all", [read("a", { v: "steps.b.result \\{{steps.b.result}}" })], []],
  ])("%s", (_, steps, expected) => {
    expect(found(of(...steps))).toEqual(expected);
  });

  it("names the step that was probably meant, while there are few problems", () => {
    const messages = problemsOf(of(read("orders"), read("b", { v: Array(120).fill("{{steps.ordres.result}}") }))).map(
      ({ message }) => message,
    );
    expect(messages[0]).toBe('Template {{steps.ordres.result}} reads a step that is not there. Did you mean "orders"?');
    expect(messages[119]).toBe("Template {{steps.ordres.result}} reads a step that is not there.");
  });
});

describe("a document that is hostile", () => {
  const cyclic: Record<string, unknown> = { name: "w" };
  cyclic.steps = [{ id: "a", tool: "t", inputs: { again: cyclic } }];
  let deep: unknown = 0;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const throwing = {
    get name() {
      throw new Error("no name");
    },
    steps: [read("a")],
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each<[string, unknown, string[]]>([
    ["contains itself", cyclic, ["INVALID_DOCUMENT /steps/0/inputs/again"]],
    ["is 100,000 deep", of(read("a", { deep })), [`INVALID_DOCUMENT /steps/0/inputs/deep${"/0".repeat(196)}`]],
    ["has a getter that throws", throwing, ["INVALID_DOCUMENT "]],
    ["is a proxy that is revoked", of(read("a", { p: revoked.proxy })), ["INVALID_DOCUMENT /steps/0/inputs/p"]],
    [
      "holds what is no JSON",
      of(read("a", { b: 10n, d: new Date(0), f: () => 1, m: new Map(), n: Number.NaN, s: Symbol("s"), z: z.string() })),
      ["b", "d", "f", "m", "n", "s", "z"].map((key) => `INVALID_DOCUMENT /steps/0/inputs/${key}`),
    ],
    ["has a symbol for a name", { name: Symbol("w"), steps: [read("a")] }, ["INVALID_DOCUMENT /name"]],
    ["runs a schema", of({ id: "a", run: z.string() }), ["INVALID_DOCUMENT /steps/0/run"]],
    [
      "hides a function in a handler",
      of({ id: "a", tool_dispatch: { tools: { t: { flow: () => 1 } } } }),
      ["INVALID_DOCUMENT /steps/0/tool_dispatch/tools/t/flow"],
    ],
    ["has a list without end", of(read("a", { list: new Array(4_000_000_000) })), ["INVALID_DOCUMENT "]],
    ["is far too large", of(read("a", { a: "x".repeat(9e6), b: "x".repeat(9e6), c: 1 })), ["INVALID_DOCUMENT "]],
    ["is a function", () => 1, ["INVALID_DOCUMENT "]],
  ])("that %s is refused", (_, document, expected) => {
    const given = found(document);
    expect(given.slice(0, expected.length)).toEqual(expected);
  });

  it("shares a part as often as it likes", () => {
    const shared = { a: 1 };
    expect(found(of(read("a", { x: shared, y: [shared] })))).toEqual([]);
  });
});

describe("workflows within a document", () => {
  const inner = defineWorkflow({ name: "inner", steps: [{ id: "a", sleep_ms: 1 }] });
  const holding = (...flows: unknown[]) =>
    of({
      id: "calls",
      tool_dispatch: { tools: Object.fromEntries(flows.map((flow, index) => [`t${index}`, { flow }])) },
    });

  it("are kept, and the plan names them", () => {
    const workflow = defineWorkflow({
      name: "outer",
      steps: [{ id: "calls", tool_dispatch: { tools: { t: { flow: inner } } } }],
    });
    expect(workflow.steps[0]?.tool_dispatch?.tools.t?.flow).toBe(inner);
    expect(embeddedWorkflows(workflow)).toEqual([inner]);
    const action = planOf(workflow).steps[0]?.action;
    expect(action?.kind === "tool_dispatch" && action.handlers.get("t")).toEqual({
      kind: "flow",
      workflow: "inner",
      input: {},
    });
    expect(planOf(workflow).hasCode).toBe(false);
  });

  it("are found through each other, and their code counts", () => {
    const coded = defineWorkflow({ name: "coded", steps: [{ id: "a", run: () => 1 }] });
    const middle = defineWorkflow(holding(coded) as never);
    const outer = defineWorkflow({ ...holding(middle), name: "outer" } as never);
    expect(embeddedWorkflows(outer).map(({ name }) => name)).toEqual(["w", "coded"]);
    expect(planOf(outer).hasCode).toBe(true);
  });

  it("may come back as JSON", () => {
    const text = JSON.stringify(defineWorkflow(holding(inner, inner) as never));
    const again = defineWorkflow(JSON.parse(text));
    expect(JSON.stringify(again)).toBe(text);
    expect(embeddedWorkflows(again)).toEqual([inner]);
  });

  it("may come from another copy of the package", () => {
    const foreign = { ...inner };
    Object.defineProperty(foreign, workflowBrand, { value: true });
    const outer = defineWorkflow(holding(Object.freeze(foreign)) as never);
    expect(embeddedWorkflows(outer)).toEqual([inner]);
    expect(planOf(foreign as typeof inner)).toBe(planOf(foreign as typeof inner));
  });

  it("are a workflow of each name", () => {
    const other = defineWorkflow({ name: "inner", steps: [{ id: "a", sleep_ms: 2 }] });
    const coded = () => defineWorkflow({ name: "coded", steps: [{ id: "a", run: () => 1 }] });
    const place = (index: number) => `DUPLICATE_WORKFLOW /steps/0/tool_dispatch/tools/t${index}/flow`;
    expect(found(holding(inner, other))).toEqual([place(1)]);
    expect(found(holding(coded(), coded()))).toEqual([place(1)]);
    expect(found({ ...holding(inner), name: "inner" })).toEqual([place(0)]);
  });

  it("have their faults told at their place", () => {
    expect(found(holding({ name: "x", steps: [{ id: "a" }] }))).toEqual([
      "INVALID_STEP /steps/0/tool_dispatch/tools/t0/flow/steps/0",
    ]);
    expect(found(holding([]))).toEqual(["INVALID_DOCUMENT /steps/0/tool_dispatch/tools/t0/flow"]);
  });
});

describe("a plan", () => {
  it("fills in what a document leaves out", () => {
    const plan = planOf(
      defineWorkflow({
        name: "w",
        steps: [
          { id: "a", tool: "t", timeout_ms: 7, compensate: { tool: "u" } },
          { id: "b", tool: "t", compensate: { tool: "u", timeout_ms: 9 }, fallback: { tool: "v" } },
          { id: "c", workflow: "other", compensate: { tool: "u" } },
          { id: "d", repeat: { workflow: "turn", state: null, max_iterations: 2 } },
          { id: "e", for_each: { items: [], workflow: "one" } },
          { id: "f", tool_dispatch: { tools: { x: { tool: "t", input: { a: 1 } }, y: { tool: "t" } } } },
          { id: "g", ask: { prompt: "?" } },
        ],
      }),
    );
    const compensations = plan.steps.map(({ compensate }) => compensate?.timeoutMs);
    expect(compensations).toEqual([7, 9, 60_000, undefined, undefined, undefined, undefined]);
    expect(plan.steps[0]).toMatchObject({
      outputKey: "a",
      retries: 0,
      compensate: { ifInDoubt: false },
      inputsAreRead: false,
    });
    expect(plan.steps[0]?.compensate).not.toHaveProperty("retries");
    expect(plan.steps[1]?.fallback).not.toHaveProperty("compensate");
    expect(plan.steps[3]?.action).toMatchObject({ kind: "repeat", maxIterations: 2, delayMs: 0 });
    expect(plan.steps[4]?.action).toMatchObject({ kind: "for_each", maxConcurrent: 1, ignoreErrors: false });
    expect(plan.steps[5]?.action).toEqual({
      kind: "tool_dispatch",
      handlers: new Map([
        ["x", { kind: "tool", tool: "t", input: { a: 1 } }],
        ["y", { kind: "tool", tool: "t" }],
      ]),
      outputKey: "tool_results",
      ignoreErrors: false,
      maxCalls: 32,
      maxConcurrent: 1,
    });
    expect(plan.steps[6]?.action).not.toHaveProperty("default");
    expect(plan).not.toHaveProperty("output");
  });

  it("takes over what a document says", () => {
    const plan = planOf(defineWorkflow(fine));
    expect(plan.timeoutMs).toBe(60_000);
    expect(plan.steps[0]).toMatchObject({ outputKey: "x", retries: 3, timeoutMs: 1, inputsAreRead: true });
    expect(plan.steps[1]?.compensate).toMatchObject({ tool: "unmake", retries: 0, timeoutMs: 5, ifInDoubt: true });
    expect(plan.steps[6]?.action).toMatchObject({ sourceKey: "k", outputKey: "out", maxCalls: 1 });
    expect(plan.steps[7]?.action).toMatchObject({ kind: "ask", expiresAfterMs: 5, default: { value: true } });
    expect(plan.steps.map(({ inputsAreRead }) => inputsAreRead)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(plan.input?.json).toEqual(fine.input_schema);
  });

  it("is compiled once", () => {
    const workflow = defineWorkflow(fine);
    expect(planOf(workflow)).toBe(planOf(workflow));
    expect(planOf(fine as never)).not.toBe(planOf(fine as never));
  });
});
