import { describe, expect, test } from "vitest";
import { clip, parseText, pathText, type Root } from "../../src/core/parse-template.js";

const roots: readonly Root[] = ["input", "steps", "item"];
const parse = (text: string) => parseText(text, roots, "/at");
const only = (text: string) => {
  const { parts, faults } = parse(text);
  expect(faults).toEqual([]);
  expect(parts).toHaveLength(1);
  return parts[0];
};

describe("what a template says", () => {
  test.each<[text: string, expected: object]>([
    ["{{input}}", { root: "input", segments: [] }],
    ["{{item.0.sku}}", { root: "item", segments: ["0", "sku"] }],
    ["{{ \t\n input.city \r\n }}", { root: "input", segments: ["city"] }],
    ["{{steps.look-up_2.result}}", { root: "steps", stepId: "look-up_2", field: "result", segments: [] }],
    ["{{steps.pay.inputs.to.iban}}", { root: "steps", stepId: "pay", field: "inputs", segments: ["to", "iban"] }],
    ["{{steps.result.result.result}}", { stepId: "result", field: "result", segments: ["result"] }],
    ["{{steps.a.result#/x.y/0}}", { stepId: "a", segments: ["x.y", "0"] }],
    ["{{input.rows.0#/a~1b/%7D%7D}}", { segments: ["rows", "0", "a/b", "}}"] }],
    ["{{input#}}", { segments: [] }],
    ["{{input#/}}", { segments: [""] }],
    ["{{input.first name}}", { segments: ["first name"] }],
    ["{{input.größe.$ref.a:b.'c'.-1}}", { segments: ["größe", "$ref", "a:b", "'c'", "-1"] }],
    ["{{input.a}}", { optional: false, spread: false }],
    ["{{input.a?}}", { segments: ["a"], optional: true }],
    ["{{input.a? }}", { optional: true }],
    ["{{input#/a.b?}}", { segments: ["a.b"], optional: true }],
    ["{{...input.tags}}", { segments: ["tags"], spread: true, optional: false }],
    ["{{ ...input.tags? }}", { segments: ["tags"], spread: true, optional: true }],
  ])("%s", (text, expected) => {
    expect(only(text)).toMatchObject({ ...expected, text, pointer: "/at" });
    expect(only(text)).not.toHaveProperty("fallback", expect.anything());
  });

  test.each([
    ['{{input.a ?? "none"}}', "none"],
    ["{{input.a??0}}", 0],
    ["{{input.a ?? -0}}", 0],
    ["{{input.a ?? -1.5e3 }}", -1500],
    ["{{input.a ?? true}}", true],
    ["{{input.a ??\nfalse}}", false],
    ["{{input.a ?? null}}", null],
    ['{{input.a ?? ""}}', ""],
    ['{{input.a ?? "}} \\"{{ \\\\"}}', '}} "{{ \\'],
    ['{{input#/a ?? "\\u00e9?"}}', "é?"],
  ])("%s", (text, fallback) => {
    expect(only(text)).toMatchObject({ optional: true, fallback, segments: ["a"] });
    expect(only(text)).toHaveProperty("fallback", fallback);
  });
});

describe("text around templates", () => {
  const shape = (text: string) => {
    const { parts, faults } = parse(text);
    expect(faults).toEqual([]);
    return parts.map((part) => (typeof part === "string" ? part : [pathText(part, part.segments)]));
  };

  test.each([
    ["", []],
    ["plain", ["plain"]],
    ["single {braces} }} $5 {input.a}", ["single {braces} }} $5 {input.a}"]],
    ["a{{input.b}}c", ["a", ["input.b"], "c"]],
    ["{{input.a}}{{input.b}}", [["input.a"], ["input.b"]]],
    ['{"id": {{input.id}}}', ['{"id": ', ["input.id"], "}"]],
    ["\\{{input.a}}", ["{{input.a}}"]],
    ["\\\\{{input.a}}", ["\\", ["input.a"]]],
    ["\\\\\\{{input.a}}", ["\\{{input.a}}"]],
    ["\\\\\\\\{{input.a}}", ["\\\\", ["input.a"]]],
    ["{{input.a}}\\{{b}}", [["input.a"], "{{b}}"]],
    ["{{input.a}}\\\\{{input.b}}", [["input.a"], "\\", ["input.b"]]],
    ["\\{{{{input.a}}", ["{{", ["input.a"]]],
    ["\\{{{x", ["{{{x"]],
    ["C:\\temp\\{x} \\n \\", ["C:\\temp\\{x} \\n \\"]],
  ])("%j", (text, expected) => {
    expect(shape(text)).toEqual(expected);
  });
});

describe("malformed templates", () => {
  test.each([
    ["{{}}", "is empty"],
    ["{{ \t }}", "is empty"],
    ["{{{input.a}}}", "three braces"],
    ["{{", "never closed"],
    ["{{input.a", "never closed"],
    ["{{input.a }", 'unexpected "}"'],
    ["{{input.a?", "never closed"],
    ['{{input.a ?? "x}}"', "never closed"],
    ["{{input..a}}", "empty segment"],
    ["{{input.}}", "empty segment"],
    ["{{.input}}", "empty segment"],
    ["{{..input}}", "empty segment"],
    ["{{....input}}", "empty segment"],
    ["{{input. a}}", "blank before or after"],
    ["{{input .a}}", "blank before or after"],
    ["{{... input.a}}", "blank before or after"],
    ["{{input.a\u00a0}}", "blank before or after"],
    ["{{input[1]}}", 'unexpected "["'],
    ["{{input.a]}}", 'unexpected "]"'],
    ['{{input."a"}}', 'unexpected "\\""'],
    ["{{input.a\\b}}", 'unexpected "\\\\"'],
    ["{{input.a | upper}}", 'unexpected "|"'],
    ["{{input.a\u0000}}", 'unexpected "\\u0000"'],
    ["{{input.a {{input.b}}", 'unexpected "{"'],
    ["{{input.a?.b}}", 'unexpected "."'],
    ["{{input.a ?}}", 'unexpected "?"'],
    ["{{input.a #/b}}", 'unexpected "#"'],
    ["{{input#/a b}}", 'unexpected "b"'],
    ["{{input#/a🦊[}}", 'unexpected "["'],
    ["{{input.a ?? 1 2}}", 'unexpected "2"'],
    ["{{input#a}}", "malformed pointer"],
    ["{{input#/a~}}", "malformed pointer"],
    ["{{input#/%}}", "malformed pointer"],
    ["{{input.a ??}}", "no JSON scalar"],
    ["{{input.a ?? none}}", "no JSON scalar"],
    ["{{input.a ?? 'none'}}", "no JSON scalar"],
    ["{{input.a ?? [1]}}", "no JSON scalar"],
    ["{{input.a ?? {}}}", "no JSON scalar"],
    ["{{input.a ?? 1e999}}", "no JSON scalar"],
    ['{{input.a ?? "\\x"}}', "no JSON scalar"],
    ['{{input.a ?? "open}}', "no JSON scalar"],
    ["{{...input.a ?? null}}", "a scalar can't stand in"],
    ["{{room}}", "unknown root: expected one of input, steps.<id>.result, steps.<id>.inputs, item."],
    ["{{Input.a}}", "unknown root"],
    ["{{error.code}}", "unknown root"],
    ["{{constructor}}", "unknown root"],
    ["{{steps}}", "names no value of a step"],
    ["{{steps.a}}", "names no value of a step"],
    ["{{steps.a.output}}", "names no value of a step"],
    ["{{steps#/a/result}}", "names no value of a step"],
  ])("%j", (text, reason) => {
    const { faults } = parse(text);
    expect(faults[0]).toContain(reason);
    expect(faults[0]).toContain(`Template ${text.slice(0, 4)}`.trimEnd());
  });

  test("each is found, and those that are well-formed beside them", () => {
    const { parts, faults } = parse("{{}} and {{input.a}} and {{room}} and {{steps.a}}");
    expect(faults).toHaveLength(3);
    expect(parts.filter((part) => typeof part !== "string")).toMatchObject([{ segments: ["a"] }]);
  });

  test("an error that is none of theirs is not taken for one", () => {
    const broken = new Proxy([], {
      get() {
        throw new RangeError("broken");
      },
    });
    expect(() => parseText("{{input}}", broken, "")).toThrow(RangeError);
  });

  test("a long one is shown in part", () => {
    expect(parse(`{{${"a".repeat(1000)}}}`).faults[0]?.length).toBeLessThan(250);
  });
});

describe("pathText", () => {
  test.each([
    [["a", "0"], "input.a.0"],
    [[], "input"],
    [["a.b", "0"], "input#/a.b/0"],
    [[""], "input#/"],
    [["a "], "input#/a%20"],
    [[" a", '50%{"x"}'], "input#/%20a/50%25%7B%22x%22%7D"],
  ])("%j", (segments, expected) => {
    expect(pathText({ root: "input" }, segments)).toBe(expected);
  });

  test("a step's value", () => {
    expect(pathText({ root: "steps", stepId: "pay", field: "inputs" }, ["a"])).toBe("steps.pay.inputs.a");
  });
});

describe("faults", () => {
  test("show their own template, and of a long one the beginning", () => {
    const path = "a..".repeat(50);
    const { faults } = parseText(`before {{}} and {{input.${path}}} behind`, ["input"], "");
    expect(faults).toHaveLength(2);
    expect(faults[0]).toMatch(/^Template \{\{\}\} is empty/);
    expect(faults[1]).toMatch(/^Template \{\{input\.[a.]{92}… has an empty segment/);
  });

  test.each([
    [100, "x".repeat(100)],
    [101, `${"x".repeat(100)}…`],
  ])("a text of %d characters is clipped beyond 100", (length, clipped) => {
    expect(clip("x".repeat(length))).toBe(clipped);
  });
});
