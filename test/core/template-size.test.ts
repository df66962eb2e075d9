import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../src/core/freeze.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { sizeOf } from "../../src/core/json-size.js";
import {
  type CompiledTemplate,
  compileTemplate,
  resolveCompiled,
  resolveLeniently,
  resolveTemplate,
} from "../../src/core/template.js";

/** A frozen object with one property, and how often its keys were listed. */
function counted() {
  let looks = 0;
  const ownKeys = (target: JsonObject) => {
    looks++;
    return Reflect.ownKeys(target);
  };
  const object = new Proxy<JsonObject>(Object.freeze({ value: "x".repeat(1_000) }), { ownKeys });
  return { object, looks: () => looks };
}

/** Builds a state of itself, turn by turn, until that is refused; gives the turns that were built. */
function turnsOf(template: CompiledTemplate, first: JsonValue): number {
  let state = first;
  for (let turn = 0; turn < 2_000; turn++) {
    try {
      state = resolveCompiled(template, { input: state, step: () => undefined });
    } catch (error) {
      expect(error).toMatchObject({ code: "RESULT_TOO_LARGE" });
      return turn;
    }
  }
  throw new Error("It never ends.");
}

const compile = (template: JsonValue) => compileTemplate(deepFreeze(template), ["input"]);

describe("a value that is built of itself, turn by turn, has an end", () => {
  it.each<[string, JsonValue, JsonValue, number]>([
    ["in objects", { a: "{{input}}", b: "{{input}}" }, "x".repeat(1_000), 16],
    ["in lists", ["{{input}}", "{{input}}"], "x".repeat(1_000), 16],
    ["by spreading", ["{{...input}}", "{{...input}}"], ["x".repeat(100_000)], 9],
    ["in text", "{{input}}{{input}}", "x".repeat(1_000), 16],
    ["in text, as JSON", "{{input}}-{{input}}", ["x".repeat(1_000)], 16],
    ["beside text of the template", `${"y".repeat(20_000_000)}{{input}}`, "", 3],
    ["in depth", JSON.parse(`${'{"a":'.repeat(150)}"{{input}}"${"}".repeat(150)}`), null, 6],
    ["in depth, of lists", ["{{input}}"], 1, 1_000],
  ])("%s", (_, template, first, turns) => {
    const many = turnsOf(compile(template), first);
    expect(many).toBe(turns);
  });

  it("and no turn looks at what an earlier one did", () => {
    const { object, looks } = counted();
    expect(turnsOf(compile({ a: "{{input}}", b: "{{input}}" }), object)).toBeGreaterThan(10);
    // Once to be measured, and once to see that it is frozen.
    expect(looks()).toBe(2);
  });
});

it("what is built may be as deep as a thousand levels, and no deeper", () => {
  const deep = (levels: number): JsonValue => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const build = (input: JsonValue) => resolveCompiled(compile(["{{input}}"]), { input, step: () => undefined });
  expect(build(deep(999))).toEqual(deep(1_000));
  expect(() => build(deep(1_000))).toThrow(expect.objectContaining({ code: "RESULT_TOO_LARGE" }));
});

it("a value that is given whole is not looked at", () => {
  const { object, looks } = counted();
  expect(resolveCompiled(compile("{{input}}"), { input: object, step: () => undefined })).toBe(object);
  expect(looks()).toBe(0);
});

it("what is too large is refused at its template", () => {
  const input = Array.from({ length: 70 }, () => "x".repeat(1_000_000));
  const scope = { input: deepFreeze(input), step: () => undefined };
  const template = compile({ some: "{{input.0}}", all: { list: "{{input}}" }, none: "{{input.70?}}" });
  expect(() => resolveCompiled(template, scope)).toThrow(
    expect.objectContaining({
      code: "RESULT_TOO_LARGE",
      pointer: "/all/list",
      message: expect.stringContaining("{{input}}"),
    }),
  );
  const { value, missing } = resolveLeniently(template, scope);
  expect(value).toEqual({ some: input[0], all: {} });
  expect(missing).toMatchObject([{ code: "RESULT_TOO_LARGE", pointer: "/all/list" }]);
});

describe("a scope of someone's own is read with bounded work", () => {
  it("where it is nested too deep", () => {
    const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
    for (const template of ["{{input}}", "a {{input}}", ["{{...input}}"]]) {
      expect(() => resolveTemplate(template, { input: deep })).toThrow(
        expect.objectContaining({ code: "RESULT_TOO_LARGE" }),
      );
    }
  });

  it("where the same part stands in it again and again", () => {
    const shared = Array.from({ length: 60 }).reduce<JsonValue>((part) => [part, part], "x".repeat(1_000_000));
    for (const template of ["{{input}}", "a {{input}}", { a: "{{input}}" }]) {
      expect(() => resolveTemplate(template, { input: shared })).toThrow(
        expect.objectContaining({ code: "RESULT_TOO_LARGE" }),
      );
    }
  });
});

describe("the size of a value", () => {
  it.each<[JsonValue, number]>([
    [null, 0],
    [-1.5, 0],
    ["text", 0],
    [[], 1],
    [{}, 1],
    [[1, "a", null], 1],
    [{ a: 1, bc: [true, {}] }, 3],
  ])("%j is that of its text", (value, depth) => {
    const { length } = JSON.stringify(value);
    expect(sizeOf(value, length)).toEqual({ length, depth });
    expect(sizeOf(value, length - 1)).toBeUndefined();
    expect(sizeOf(deepFreeze(value), 1_000)).toEqual(sizeOf(value, 1_000));
  });

  it("is looked up anew while the value can change", () => {
    const value = [1];
    expect(sizeOf(value, 100)?.length).toBe(3);
    value.push(2);
    expect(sizeOf(value, 100)?.length).toBe(5);
  });

  it("has no end for what contains itself", () => {
    const value: JsonValue[] = [];
    value.push(value, value);
    expect(sizeOf(value, 1_000)).toBeUndefined();
  });
});
