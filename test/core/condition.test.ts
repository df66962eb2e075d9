import { describe, expect, test } from "vitest";
import { compileCondition, evaluateCondition } from "../../src/core/condition.js";
import { ToolweaveError } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import type { Root, TemplateScope } from "../../src/core/template.js";

const roots: readonly Root[] = ["input", "steps", "result"];

const scope: TemplateScope = {
  input: {
    yes: true,
    no: false,
    zero: 0,
    one: 1,
    none: null,
    empty: "",
    text: "false",
    list: [],
    object: {},
    early: "2024-03-01",
    late: "2024-11-20",
    order: { lines: [1, { a: 1, b: null }], id: 4 },
    same: { id: 4, lines: [1, { b: null, a: 1 }] },
    tree: JSON.parse('{"__proto__": 1}'),
  },
  step: (id) => (id === "done" ? { result: "ok" } : undefined),
  result: 0.5,
};

const evaluate = (condition: JsonValue) => {
  const compiled = compileCondition(condition, roots);
  expect(compiled.faults).toEqual([]);
  return evaluateCondition(compiled, scope);
};

describe("a template holds unless it is false, null, 0 or empty", () => {
  test.each([
    ["{{input.yes}}", true],
    ["{{input.no}}", false],
    ["{{input.zero}}", false],
    ["{{input.none}}", false],
    ["{{input.empty}}", false],
    ["{{input.text}}", true],
    ["{{input.list}}", true],
    ["{{input.object}}", true],
    ["{{ result }}", true],
    ["{{steps.done.result}}", true],
    ["{{steps.skipped.result?}}", false],
    ["{{input.gone ?? true}}", true],
    ["{{input.gone ?? 0}}", false],
  ])("%s: %s", (condition, holds) => {
    expect(evaluate(condition)).toBe(holds);
  });
});

describe("equals", () => {
  test.each<[left: JsonValue, right: JsonValue, holds: boolean]>([
    ["{{input.one}}", 1, true],
    ["{{input.one}}", "1", false],
    ["{{input.zero}}", false, false],
    ["{{input.none}}", null, true],
    [null, "{{input.object}}", false],
    ["{{input.text}}", "false", true],
    ["id {{input.one}}", "id 1", true],
    ["{{input.order}}", "{{input.same}}", true],
    ["{{input.order}}", { id: 4 }, false],
    [{ id: "{{input.one}}" }, { id: 1 }, true],
    [{ id: 1 }, { no: 1 }, false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{}, [], false],
    ["{{input.tree}}", JSON.parse('{"__proto__": 1}'), true],
    ["{{input.tree}}", { a: 1 }, false],
  ])("%j and %j: %s", (left, right, holds) => {
    expect(evaluate({ equals: [left, right] })).toBe(holds);
  });
});

describe("greater_than and less_than", () => {
  test.each<[left: JsonValue, right: JsonValue, greater: boolean, less: boolean]>([
    ["{{input.one}}", 0, true, false],
    ["{{input.zero}}", 0.5, false, true],
    [1, "{{input.one}}", false, false],
    ["{{input.late}}", "{{input.early}}", true, false],
    ["10", "9", false, true],
    ["B", "a", false, true],
    ["", "", false, false],
    // Of other pairs neither holds.
    ["{{input.one}}", "0", false, false],
    ["10", 9, false, false],
    ["{{input.none}}", 1, false, false],
    ["{{input.yes}}", "{{input.no}}", false, false],
    [[2], [1], false, false],
  ])("%j and %j", (left, right, greater, less) => {
    expect([evaluate({ greater_than: [left, right] }), evaluate({ less_than: [left, right] })]).toEqual([
      greater,
      less,
    ]);
  });
});

describe("exists", () => {
  test.each([
    ["{{input.one}}", true],
    ["{{input.none}}", true],
    ["{{input.gone}}", false],
    ["{{input.gone?}}", false],
    ["{{input.gone ?? 1}}", false],
    ["{{input.one.deep}}", false],
    ["{{input.toString}}", false],
    ["{{steps.done.result}}", true],
    ["{{steps.skipped.result}}", false],
  ])("%s: %s", (template, holds) => {
    expect(evaluate({ exists: template })).toBe(holds);
  });

  test("its reference counts as allowing for absence; others say themselves", () => {
    const { references } = compileCondition(
      { all: [{ exists: "{{input.a}}" }, "{{input.b}}", { equals: ["{{input.c?}}", 1] }] },
      roots,
      "/steps/2/when",
    );
    expect(references.map(({ text, optional, pointer }) => [text, optional, pointer])).toEqual([
      ["{{input.a}}", true, "/steps/2/when/all/0/exists"],
      ["{{input.b}}", false, "/steps/2/when/all/1"],
      ["{{input.c?}}", true, "/steps/2/when/all/2/equals/0"],
    ]);
  });
});

describe("not, all, any", () => {
  const yes = "{{input.yes}}";
  const no = "{{input.no}}";

  test.each<[condition: JsonValue, holds: boolean]>([
    [{ not: no }, true],
    [{ not: { not: no } }, false],
    [{ all: [] }, true],
    [{ all: [yes, { equals: [1, 1] }] }, true],
    [{ all: [yes, no] }, false],
    [{ any: [] }, false],
    [{ any: [no, yes] }, true],
    [{ any: [no, { all: [yes, { not: yes }] }] }, false],
  ])("%j: %s", (condition, holds) => {
    expect(evaluate(condition)).toBe(holds);
  });

  test("what comes after the decision is not asked", () => {
    const broken = "{{input.gone}}";
    expect(evaluate({ any: [yes, broken] })).toBe(true);
    expect(evaluate({ all: [{ exists: broken }, broken] })).toBe(false);
    expect(() => evaluate({ any: [no, broken] })).toThrow(ToolweaveError);
  });
});

describe("a path that leads nowhere", () => {
  test.each<[condition: JsonValue, pointer: string]>([
    ["{{input.gone}}", "/when"],
    [{ not: "{{steps.skipped.result}}" }, "/when/not"],
    [{ equals: [1, { a: "{{input.gone}}" }] }, "/when/equals/1/a"],
  ])("%j", (condition, pointer) => {
    const compiled = compileCondition(condition, roots, "/when");
    expect(() => evaluateCondition(compiled, scope)).toThrow(
      expect.objectContaining({ code: "UNRESOLVED_REFERENCE", pointer }),
    );
  });
});

describe("faults", () => {
  const pair = "array of the two values";
  test.each<[condition: JsonValue, pointer: string, says: string]>([
    [true, "", "a template, or an object with exactly one of equals, greater_than, less_than, exists, not, all, any"],
    [null, "", "exactly one of"],
    [["{{input.a}}"], "", "exactly one of"],
    [{}, "", "exactly one of"],
    [{ equal: [1, 1] }, "", "exactly one of"],
    [{ toString: [1, 1] }, "", "exactly one of"],
    [{ not: "{{input}}", all: [] }, "", "exactly one of"],
    ["", "", "one template, with nothing around it"],
    ["true", "", "one template, with nothing around it"],
    ["{{input.a}} ", "", "one template, with nothing around it"],
    ["\\{{input.a}}", "", "one template, with nothing around it"],
    ['{{input.a == "b"}}', "", 'unexpected "\\""'],
    ["{{room}}", "", "unknown root"],
    ["{{...input.a}}", "", "spreads a list where none can stand"],
    [{ exists: "input.a" }, "/exists", "one template"],
    [{ exists: ["{{input.a}}"] }, "/exists", "one template"],
    [{ exists: "{{}}" }, "/exists", "is empty"],
    [{ equals: 1 }, "/equals", pair],
    [{ equals: [1] }, "/equals", pair],
    [{ less_than: [1, 2, 3] }, "/less_than", pair],
    [{ greater_than: [] }, "/greater_than", pair],
    [{ equals: [1, "{{room}}"] }, "/equals/1", "unknown root"],
    [{ all: "{{input.a}}" }, "/all", "array of conditions"],
    [{ any: ["{{input.a}}", 5] }, "/any/1", "exactly one of"],
    [{ not: { not: 0 } }, "/not/not", "exactly one of"],
  ])("%j", (condition, pointer, says) => {
    const { faults } = compileCondition(condition, roots, "/until");
    expect(faults).toHaveLength(1);
    expect(faults[0]?.pointer).toBe(`/until${pointer}`);
    expect(faults[0]?.message).toContain(says);
  });

  test("all are found, and what has one holds for nothing", () => {
    const condition = compileCondition({ any: [0, { not: "{{}}" }, { equals: ["{{a}}", "{{b}}"] }] }, roots);
    expect(condition.faults.map(({ pointer }) => pointer)).toEqual([
      "/any/0",
      "/any/1/not",
      "/any/2/equals/0",
      "/any/2/equals/1",
    ]);
    expect(evaluateCondition(compileCondition(0, roots), scope)).toBe(false);
  });

  test("nesting has a limit", () => {
    let condition: JsonValue = "{{input.yes}}";
    for (let level = 0; level < 20_000; level++) condition = { not: condition };
    expect(compileCondition(condition, roots).faults).toMatchObject([
      { message: expect.stringContaining("nested deeper") },
    ]);
  });
});
