import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../src/core/freeze.js";
import { type JsonValue, setOwn } from "../../src/core/json.js";
import { parseText, pathText } from "../../src/core/parse-template.js";
import { walk } from "../../src/core/path.js";
import {
  compileTemplate,
  resolveCompiled,
  resolveLeniently,
  resolveTemplate,
  type TemplateScope,
} from "../../src/core/template.js";

/** Text in which braces, backslashes and what means something in a template are common. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("{", "}", "{{", "}}", "\\", "?", '"', "#", ".", "$&", "{{input.a}}", "..."),
      fc.string({ unit: "binary" }),
    ),
  )
  .map((pieces) => pieces.join(""));

const json: fc.Arbitrary<JsonValue> = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));

/** Text as an author writes it who wants to have it back: a backslash before `{{`, and those before that doubled. */
function escaped(plain: string): string {
  return plain.replace(/(\\*)\{\{/g, (_braces, backslashes: string) => `${backslashes}${backslashes}\\{{`);
}

function scopeOf(input: JsonValue): TemplateScope {
  return { input: deepFreeze(input), step: () => undefined };
}

describe("text", () => {
  test("without {{ is itself", () => {
    fc.assert(
      fc.property(text, (given) => {
        const plain = given.replace(/\{+/g, "{");
        expect(resolveTemplate(plain, {})).toBe(plain);
      }),
    );
  });

  test("escaped is itself, whatever it holds", () => {
    fc.assert(
      fc.property(text, (plain) => {
        expect(resolveTemplate(escaped(plain), {})).toBe(plain);
      }),
    );
  });

  test("escaped around a template is itself around its value", () => {
    // One more brace before a template would make three.
    const before = text.map((given) => given.replace(/\{+$/, ""));
    fc.assert(
      fc.property(before, text, text, (left, right, value) => {
        const template = `${escaped(left).replace(/\\+$/, "$&$&")}{{input.v}}${escaped(right)}`;
        expect(resolveTemplate(template, { input: { v: value } })).toBe(left + value + right);
      }),
    );
  });

  test("of any kind is parsed, never thrown at", () => {
    fc.assert(
      fc.property(text, (given) => {
        const { faults, parts } = parseText(given, ["input"], "");
        expect(faults.every((fault) => fault.startsWith("Template {{"))).toBe(true);
        expect(parts).not.toContain("");
      }),
    );
  });
});

describe("values", () => {
  test("are put in as they are, once", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(resolveTemplate("{{input}}", { input: value })).toStrictEqual(value);
        expect(resolveTemplate({ a: ["{{input}}"] }, { input: value })).toStrictEqual({ a: [value] });
      }),
    );
  });

  test("in text are their JSON, text itself, null nothing", () => {
    fc.assert(
      fc.property(json, (value) => {
        const expected = typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
        expect(resolveTemplate("<{{input}}>", { input: value })).toBe(`<${expected}>`);
      }),
    );
  });

  test("at any path are reached, as pathText writes it", () => {
    const key = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "a b", "0", "größe"));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 3 }), json, (path, value) => {
        const input = path.reduceRight<JsonValue>((inner, name) => {
          const object: Record<string, JsonValue> = {};
          setOwn(object, name, inner);
          return object;
        }, value);
        const template = `{{${pathText({ root: "input" }, path)}}}`;
        expect(resolveTemplate(template, { input })).toStrictEqual(value);
      }),
    );
  });

  test("from a frozen scope are shared, and what is built is frozen", () => {
    const isDeeplyFrozen = (part: unknown): boolean =>
      typeof part !== "object" || part === null || (Object.isFrozen(part) && Object.values(part).every(isDeeplyFrozen));
    const template = deepFreeze({ taken: "{{input}}", kept: [{ a: 1 }], list: ["{{input}}", { n: "n {{input}}" }] });
    const compiled = compileTemplate(template, ["input"]);
    fc.assert(
      fc.property(json, (value) => {
        const built = resolveCompiled(compiled, scopeOf(value));
        expect(isDeeplyFrozen(built)).toBe(true);
        expect(walk(built, ["taken"]).value).toBe(value);
        expect(walk(built, ["kept"]).value).toBe(template.kept);
      }),
    );
  });
});

test("resolving leniently is resolving, where every path leads somewhere", () => {
  fc.assert(
    fc.property(json, (value) => {
      const compiled = compileTemplate({ a: "{{input}}", b: ["x {{input}}", "{{input.zz?}}"] }, ["input"]);
      const scope = scopeOf(value);
      expect(resolveLeniently(compiled, scope)).toStrictEqual({ value: resolveCompiled(compiled, scope), missing: [] });
    }),
  );
});
