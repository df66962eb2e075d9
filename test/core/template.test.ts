import { describe, expect, test } from "vitest";
import { DefinitionError, ToolweaveError } from "../../src/core/errors.js";
import { deepFreeze } from "../../src/core/freeze.js";
import { deepestNesting, isJsonObject, type JsonObject, type JsonValue } from "../../src/core/json.js";
import {
  compileTemplate,
  lookUp,
  type PlainScope,
  type Root,
  resolveCompiled,
  resolveLeniently,
  resolveTemplate,
  type StepValues,
  type TemplateScope,
} from "../../src/core/template.js";

const roots: readonly Root[] = ["input", "steps", "error", "item", "index", "result"];

function scopeOf({ steps = {}, ...values }: { steps?: Record<string, StepValues> } & Omit<TemplateScope, "step">) {
  return { ...values, step: (id: string) => steps[id] } satisfies TemplateScope;
}

function failure(act: () => unknown): ToolweaveError {
  try {
    act();
  } catch (error) {
    if (error instanceof ToolweaveError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

describe("resolveTemplate: values", () => {
  const scope: PlainScope = {
    input: {
      zip: "01067",
      zero: 0,
      no: false,
      empty: "",
      none: null,
      big: "9007199254740993",
      list: ["a", "b"],
      nothing: [],
      money: { amount: 5, tags: ["x"] },
      "a.b": { "c/d": 1 },
      evil: "$& $1 $$ {{input.zip}} \\{{",
    },
    steps: {
      search: { result: [{ id: 7 }, { id: 8 }], inputs: { query: "due" } },
      "second-look": { result: "ok" },
      Search: { result: "upper" },
    },
    error: { code: "TOOL_FAILED", message: "closed" },
    item: { sku: "A" },
    index: 2,
  };

  test.each<[template: JsonValue, expected: JsonValue]>([
    // Alone in its string, a template keeps the type.
    ["{{input.zip}}", "01067"],
    ["{{ input.zip }}", "01067"],
    ["{{input.zero}}", 0],
    ["{{input.no}}", false],
    ["{{input.empty}}", ""],
    ["{{input.none}}", null],
    ["{{input.big}}", "9007199254740993"],
    ["{{input.list}}", ["a", "b"]],
    ["{{steps.search.result.1}}", { id: 8 }],
    ["{{steps.search.inputs.query}}", "due"],
    ["{{steps.second-look.result}}", "ok"],
    ["{{steps.Search.result}}", "upper"],
    ["{{input#/a.b/c~1d}}", 1],
    ["{{error.code}}", "TOOL_FAILED"],
    ["{{item.sku}}", "A"],
    ["{{index}}", 2],
    ["{{error}}", { code: "TOOL_FAILED", message: "closed" }],
    // In other text it becomes text.
    [" {{input.zero}}", " 0"],
    ["n={{input.zero}} f={{input.no}} e={{input.empty}} z={{input.none}};", "n=0 f=false e= z=;"],
    ["{{input.zero}}{{index}}", "02"],
    ["all: {{input.money}}", 'all: {"amount":5,"tags":["x"]}'],
    ["<{{input.nothing}}>", "<[]>"],
    ["line one\nfor {{item.sku}}", "line one\nfor A"],
    // What is put in is data.
    ["{{input.evil}}", "$& $1 $$ {{input.zip}} \\{{"],
    ["see {{input.evil}}!", "see $& $1 $$ {{input.zip}} \\{{!"],
    // What is no template stays.
    ["input.zip and steps.search.result cost $5 {each}", "input.zip and steps.search.result cost $5 {each}"],
    ["\\{{input.zip}} \\\\{{input.zip}}", "{{input.zip}} \\01067"],
    [["\\{{x}}"], ["{{x}}"]],
    [
      { "{{input.zip}}": 1, n: [true, null, 2] },
      { "{{input.zip}}": 1, n: [true, null, 2] },
    ],
    // Anywhere in objects and arrays.
    [
      { a: [{ b: "{{index}}" }, "no {{index}}"], c: 1 },
      { a: [{ b: 2 }, "no 2"], c: 1 },
    ],
    // Absence that is allowed for.
    ['{{input.gone ?? "none"}}', "none"],
    ['{{input.none ?? "none"}}', "none"],
    ["{{input.zero ?? 5}}", 0],
    ["{{input.gone ?? null}}", null],
    ["{{steps.skipped.result.id ?? 0}}", 0],
    ["{{input.gone?}}", null],
    ["{{input.none?}}", null],
    ["{{input.zip.deep?}}", null],
    ["({{input.gone?}})", "()"],
    ["({{input.gone ?? true}})", "(true)"],
    [
      { a: "{{input.gone?}}", b: "{{input.none?}}", c: ["{{input.gone?}}"] },
      { b: null, c: [null] },
    ],
    [{ a: { b: "{{input.gone?}}" } }, { a: {} }],
    // Spreads.
    [
      ["z", "{{...input.list}}", "{{...steps.search.result}}"],
      ["z", "a", "b", { id: 7 }, { id: 8 }],
    ],
    [["{{...input.nothing}}", "{{...input.gone?}}"], []],
    [{ deep: [["{{...input.list}}"]] }, { deep: [["a", "b"]] }],
  ])("%j", (template, expected) => {
    expect(resolveTemplate(template, scope)).toStrictEqual(expected);
  });

  test("numbers in text are as JSON writes them", () => {
    const input = { big: 1e21, small: 1e-7, third: 0.1, minus: -0 };
    expect(resolveTemplate("{{input.big}} {{input.small}} {{input.third}} {{input.minus}}", { input })).toBe(
      "1e+21 1e-7 0.1 0",
    );
  });

  test("an own key __proto__ stays a plain key, in the template and in the scope", () => {
    const template: JsonValue = JSON.parse('{"__proto__": "{{input.__proto__.a}}"}');
    const input: JsonValue = JSON.parse('{"__proto__": {"a": 5}}');
    expect(JSON.stringify(resolveTemplate(template, { input }))).toBe('{"__proto__":5}');
  });

  test("the result shares nothing", () => {
    const template = { keep: [1], took: "{{input.o}}", again: "{{input.o}}", list: ["{{...input.l}}"] };
    const input = { o: { n: 1 }, l: [{ m: 1 }] };
    const result = resolveTemplate(template, { input });
    const spoil = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      Object.values(value).forEach(spoil);
      Reflect.set(value, "n", 99);
    };
    if (!isJsonObject(result)) throw new Error("an object was resolved");
    spoil(result.took);
    spoil(result.keep);
    spoil(result.list);
    expect(result.again).toEqual({ n: 1 });
    expect([template.keep, input]).toEqual([[1], { o: { n: 1 }, l: [{ m: 1 }] }]);
  });

  test("strings are compiled once, yet read anew; many and long ones do no harm", () => {
    const read = (n: number) => resolveTemplate("{{input.n}}", { input: { n } });
    expect(read(1)).toBe(1);
    for (let n = 0; n < 500; n++) resolveTemplate(`${n} {{input}}`, { input: n });
    expect(read(2)).toBe(2);
    const long = "x".repeat(5_000);
    expect(resolveTemplate(`${long}{{input}}`, { input: 1 })).toBe(`${long}1`);
  });

  test("what is nested too deep is refused", () => {
    let deep: JsonValue = "{{input}}";
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(failure(() => resolveTemplate("{{input}}", { input: deep })).code).toBe("RESULT_TOO_LARGE");
    expect(failure(() => resolveTemplate("text {{input}}", { input: deep })).code).toBe("RESULT_TOO_LARGE");
    expect(failure(() => resolveTemplate(deep, {}))).toBeInstanceOf(DefinitionError);
  });
});

describe("resolveTemplate: paths that lead nowhere", () => {
  test.each<[name: string, template: string, scope: PlainScope, says: string[]]>([
    [
      "a missing key",
      "{{input.order.id}}",
      { input: { order: { no: "secret", at: 1 } } },
      [
        "Template {{input.order.id}} leads nowhere",
        'input.order is an object with the keys "no", "at" and has no "id"',
      ],
    ],
    ["an empty object", "to {{input.id}}", { input: {} }, ["Template {{input.id}}", "input is an object without keys"]],
    [
      "an empty list",
      "{{steps.s.result.0.id}}",
      { steps: { s: { result: [] } } },
      ["steps.s.result is an array of length 0"],
    ],
    ["through null", "{{input.a.b}}", { input: { a: null } }, ["input.a is null"]],
    ["through text", "{{input.a.0}}", { input: { a: "secret" } }, ["input.a is a string"]],
    ["an inherited name", "{{input.constructor.name}}", { input: { a: 1 } }, ['has no "constructor"']],
    ["__proto__", "{{input.__proto__}}", { input: { a: 1 } }, ['has no "__proto__"']],
    ["the length of a list", "{{input.length}}", { input: [1] }, ["is an array of length 1"]],
    ["an index from the end", "{{input.-1}}", { input: [1] }, ['has no "-1"']],
    ["an index written otherwise", "{{input.01}}", { input: [1, 2] }, ['has no "01"']],
    ["another case", "{{input.City}}", { input: { city: 1 } }, ['"city"']],
    ["another normal form", "{{input.caf\u00e9}}", { input: { "cafe\u0301": 1 } }, ["leads nowhere"]],
    [
      "a step that was skipped",
      "{{steps.s.result.id}}",
      { steps: {} },
      ["there is no steps.s.result, the step was skipped"],
    ],
    ["a step's other value", "{{steps.s.inputs}}", { steps: { s: { result: 1 } } }, ["there is no steps.s.inputs"]],
    ["a step of an inherited name", "{{steps.toString.result}}", { steps: {} }, ["there is no steps.toString.result"]],
    [
      "an inherited step",
      "{{steps.s.result}}",
      { steps: Object.create({ s: { result: 1 } }) },
      ["there is no steps.s.result"],
    ],
    ["no steps at all", "{{steps.s.result}}", {}, ["there is no steps.s.result"]],
    ["a root without a value", "{{input.a}}", {}, ["there is no input. "]],
    ["a pointer", "{{input#/a.b/c}}", { input: { "a.b": 1 } }, ["input#/a.b is a number"]],
  ])("%s", (_name, template, scope, says) => {
    const error = failure(() => resolveTemplate({ at: [template] }, scope));
    expect(error).toMatchObject({ code: "UNRESOLVED_REFERENCE", pointer: "/at/0" });
    for (const text of says) expect(error.message).toContain(text);
    expect(error.message).not.toContain("secret");
  });

  test("of many and long keys a few are shown", () => {
    const input = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}${"k".repeat(500)}`, n]));
    const { message } = failure(() => resolveTemplate("{{input.x}}", { input }));
    expect(message).toContain("and 10 more and has no");
    const few = Object.fromEntries(Object.entries(input).slice(0, 20));
    expect(failure(() => resolveTemplate("{{input.x}}", { input: few })).message).toMatch(/19k+…" and has no/);
    expect(message.length).toBeLessThan(3_000);
  });

  test.each<[value: JsonValue, says: string]>([
    ["secret", "is a string: it needs an array"],
    [null, "is null"],
    [{ a: "secret" }, 'is an object with the keys "a"'],
  ])("a spread of %j", (value, says) => {
    const error = failure(() => resolveTemplate([1, "{{...input}}"], { input: value }));
    expect(error).toMatchObject({ code: "UNRESOLVED_REFERENCE", pointer: "/1" });
    expect(error.message).toContain(says);
    expect(error.message).not.toContain("secret");
  });
});

describe("resolveTemplate: faults", () => {
  test("one error lists them all, at their places", () => {
    const template = { a: "{{}}", b: ["{{room}}", { "c/d": "{{input.a}} {{input[0]}}" }], e: "{{result}}" };
    const error = failure(() => resolveTemplate(template, { input: { a: 1 } }));
    if (!(error instanceof DefinitionError)) throw error;
    expect(error.problems.map(({ code, pointer }) => [code, pointer])).toEqual([
      ["INVALID_TEMPLATE", "/a"],
      ["INVALID_TEMPLATE", "/b/0"],
      ["INVALID_TEMPLATE", "/b/1/c~1d"],
      ["INVALID_TEMPLATE", "/e"],
    ]);
    expect(error.message).toContain("is empty");
  });

  test.each<[template: JsonValue]>([
    ["{{...input.list}}"],
    [{ a: "{{...input.list}}" }],
    [["and {{...input.list}}"]],
    [["{{...input.list}} "]],
  ])("a spread where no list can stand: %j", (template) => {
    const error = failure(() => resolveTemplate(template, { input: { list: [] } }));
    expect(error).toBeInstanceOf(DefinitionError);
    expect(error.message).toContain("spreads a list where none can stand");
  });
});

describe("compileTemplate", () => {
  test("lists what is read, in order, with pointers from the base", () => {
    const value = { a: "{{input.x}} {{steps.s.result.y?}}", b: ["{{...item}}"] };
    const { references, faults } = compileTemplate(value, roots, "/steps/0/inputs");
    expect(references.map(({ text, pointer, optional }) => [text, pointer, optional])).toEqual([
      ["{{input.x}}", "/steps/0/inputs/a", false],
      ["{{steps.s.result.y?}}", "/steps/0/inputs/a", true],
      ["{{...item}}", "/steps/0/inputs/b/0", false],
    ]);
    expect(faults).toEqual([]);
  });

  test("never throws: faults have their place, and leave the other templates be", () => {
    const { references, faults } = compileTemplate(["{{error}}", "{{input}}"], ["input"], "/output");
    expect(references).toHaveLength(1);
    expect(faults).toMatchObject([{ pointer: "/output/0" }]);
  });

  test("nesting has a limit", () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < deepestNesting; level++) deep = [deep];
    expect(compileTemplate(deep, roots).faults).toEqual([]);
    expect(compileTemplate([deep], roots).faults).toMatchObject([{ pointer: "/0".repeat(deepestNesting) }]);
  });
});

describe("resolveCompiled", () => {
  const input: JsonObject = deepFreeze({ o: { n: 1 }, l: [{ m: 1 }] });
  const resolve = (value: JsonValue) => resolveCompiled(compileTemplate(value, roots), scopeOf({ input, result: 4 }));

  test("a value without templates is given as it is", () => {
    const value = deepFreeze({ a: [1, { b: "text" }] });
    expect(resolve(value)).toBe(value);
    const mixed = { kept: value, n: "{{result}}" };
    expect(resolve(mixed)).toEqual({ kept: value, n: 4 });
    expect((resolve(mixed) as JsonObject).kept).toBe(value);
  });

  test("values of the scope are shared, what is built is frozen", () => {
    expect(resolve("{{input.o}}")).toBe(input.o);
    const built = resolve({ list: ["{{input.o}}", "{{...input.l}}"] }) as { list: JsonValue[] };
    expect(built.list[0]).toBe(input.o);
    expect([Object.isFrozen(built), Object.isFrozen(built.list)]).toEqual([true, true]);
    expect(() => built.list.push(1)).toThrow(TypeError);
  });

  test("lookUp gives what a path leads to, whatever is allowed for", () => {
    const [found, gone] = compileTemplate(["{{input.o.n}}", "{{input.x ?? 1}}"], roots).references;
    const scope = scopeOf({ input });
    expect(found && lookUp(found, scope)).toBe(1);
    expect(gone && lookUp(gone, scope)).toBeUndefined();
  });
});

describe("resolveLeniently", () => {
  test.each<[template: JsonValue, value: JsonValue, pointers: string[]]>([
    [{ a: "{{input.gone}}", b: "{{input.n}}" }, { b: 1 }, ["/out/a"]],
    [["{{input.gone}}", "{{input.n}}"], [null, 1], ["/out/0"]],
    ["n: {{input.gone}}!", "n: !", ["/out"]],
    ["{{input.gone}}", null, ["/out"]],
    [["{{...input.gone}}", "{{...input.n}}", 2], [2], ["/out/0", "/out/1"]],
    [{ a: "{{input.gone?}}", b: "{{input.gone ?? 3}}" }, { b: 3 }, []],
    [{ a: ["{{input.gone}} {{input.lost}}"] }, { a: [" "] }, ["/out/a/0", "/out/a/0"]],
  ])("%j", (template, value, pointers) => {
    const result = resolveLeniently(compileTemplate(template, roots, "/out"), scopeOf({ input: { n: 1 } }));
    expect(result.value).toStrictEqual(value);
    expect(result.missing.map(({ pointer }) => pointer)).toEqual(pointers);
    for (const { message } of result.missing) expect(message).toMatch(/^Template \{\{.* (leads nowhere|spreads)/);
  });
});

test("a string that was resolved before is resolved anew in its scope", () => {
  const text = "{{input.seen}} twice";
  expect([1, 2].map((seen) => resolveTemplate(text, { input: { seen } }))).toEqual(["1 twice", "2 twice"]);
});
