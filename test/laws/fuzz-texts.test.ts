import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { parseFragment, parsePointer, pointerTo } from "../../src/core/path.js";
import { resolveReference } from "../../src/core/reference.js";
import { resolveTemplate } from "../../src/core/template.js";
import { extremes, oddJson, oddText, settle, tries, unchanged } from "./hostile.js";

/** Law: whatever text is read as a template, a path or a reference, it is read, or refused with an error of ours. */

const piece = fc.oneof(
  oddText,
  fc.constantFrom(
    "{{",
    "}}",
    "input",
    "steps.a.result",
    ".",
    "?",
    "??",
    "...",
    '"a"',
    "1",
    " ",
    "#/a",
    "\\",
    "item",
    "{{input.a}}",
  ),
);
const templateText = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
const template: fc.Arbitrary<JsonValue> = fc.oneof(
  templateText,
  fc.array(templateText),
  fc.dictionary(oddText, templateText),
);

describe("a template", { timeout: 20_000 }, () => {
  it("is resolved or refused, and changes nothing that it reads", () => {
    fc.assert(
      fc.property(template, oddJson, (given, value) => {
        const scope = { input: value, steps: { a: { result: value } }, item: value };
        const outcome = unchanged(value, () => unchanged(given, () => settle(() => resolveTemplate(given, scope))));
        // What is given can be written as JSON again.
        expect(JSON.stringify(outcome)).toBeTypeOf("string");
      }),
      tries(300),
    );
  });

  it("shares nothing with what it reads", () => {
    fc.assert(
      fc.property(oddJson, (value) => {
        const taken = resolveTemplate({ all: "{{input}}" }, { input: [value] });
        expect(Reflect.get(Object(taken), "all")).not.toBe(value);
        unchanged(value, () => Object.assign(Object(Reflect.get(Object(taken), "all")), { 0: "other" }));
      }),
      tries(100),
    );
  });

  it.each(extremes)("reads %s", (_, make) => {
    const value = make();
    for (const given of ["{{input}}", "text {{input}}", "{{input.k99999.zz?}}", "{{input#/a/a/a?}}"]) {
      settle(() => resolveTemplate(given, { input: value }));
    }
    settle(() => resolveTemplate({ a: ["{{...input}}"] }, { input: value }));
    settle(() => resolveTemplate(value, { input: 1 }));
  });

  it.each([
    ["opened again and again", "{{".repeat(50_000)],
    ["all backslashes", "\\".repeat(200_000)],
    ["backslashes before a template", `${"\\".repeat(100_000)}{{input}}`],
    ["a long path", `{{input${".a".repeat(50_000)}}}`],
    ["blanks that never end", `{{input${" ".repeat(100_000)}`],
    ["a long default", `{{input ?? "${"\\\\".repeat(100_000)}}}`],
    ["a long pointer", `{{input#${"/~0".repeat(50_000)}?}}`],
    ["many templates", "{{input}}".repeat(20_000)],
    ["many that are malformed", "{{{".repeat(30_000)],
  ])("of any length is read: %s", (_, text) => {
    settle(() => resolveTemplate(text, { input: 1 }));
  });
});

describe("a pointer", () => {
  it("is read or refused, and one that is written is read back", () => {
    fc.assert(
      fc.property(fc.array(oddText, { maxLength: 5 }), (segments) => {
        expect(parsePointer(pointerTo(segments))).toEqual(segments);
        for (const text of [segments.join("/"), segments.join(""), `/${segments.join("~")}`]) {
          expect(
            [parsePointer(text), parseFragment(text)].every((each) => each === undefined || Array.isArray(each)),
          ).toBe(true);
        }
      }),
      tries(300),
    );
  });
});

describe("a reference", { timeout: 20_000 }, () => {
  const scopeOf = (value: JsonValue) => ({
    arguments: value,
    call: value,
    tool_name: "t",
    tool_call_id: "c",
    ctx: { value, ...(typeof value === "object" && value !== null ? (value as JsonObject) : {}) },
  });
  const text = fc
    .tuple(fc.constantFrom("arguments", "call", "ctx", "tool_name", "value", ""), fc.array(oddText, { maxLength: 4 }))
    .map(([root, path]) => [root, ...path].join("."));

  it("selects a copy or nothing, whatever it says", () => {
    fc.assert(
      fc.property(fc.oneof(text, oddJson), oddJson, (reference, value) => {
        const scope = scopeOf(value);
        const selected = unchanged(value, () => settle(() => resolveReference(reference, scope)));
        expect(JSON.stringify(selected)).toBeTypeOf("string");
      }),
      tries(300),
    );
  });

  it.each(extremes)("reads %s", (_, make) => {
    const value = make();
    settle(() => resolveReference(value, scopeOf(1)));
    for (const reference of ["arguments", "ctx.value", "arguments.k9", `arguments${".a".repeat(50_000)}`]) {
      settle(() => resolveReference(reference, scopeOf(value)));
    }
  });
});
