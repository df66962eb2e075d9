import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolweaveError } from "../../src/core/errors.js";
import { defaultJsonLimits, type JsonValue } from "../../src/core/json.js";
import { bareSchema, compileSchema, isStandardSchema, type Schema, type Validation } from "../../src/core/schema.js";

const limits = defaultJsonLimits;

function validate(schema: Schema, value: JsonValue): Validation {
  const result = compileSchema(schema).validate(value, limits);
  if (result instanceof Promise) throw new Error("It is late.");
  return result;
}

function issues(schema: Schema, value: JsonValue): string[] {
  const result = validate(schema, value);
  return "issues" in result ? result.issues.map(({ pointer }) => pointer) : [];
}

function refusal(schema: unknown): ToolweaveError | undefined {
  try {
    compileSchema(schema as Schema);
    return undefined;
  } catch (error) {
    if (error instanceof ToolweaveError) return error;
    throw error;
  }
}

/** A Standard Schema of someone's own. */
const standard = (check: (value: unknown) => unknown, more: object = {}): Schema =>
  ({ "~standard": { version: 1, vendor: "own", validate: check, ...more } }) as Schema;

describe("a JSON Schema", () => {
  it("only checks: the value is given as it is, and no default is filled in", () => {
    const value = { b: [1] };
    const result = validate({ properties: { a: { default: 1 }, b: { type: "array" } } }, value);
    expect(result).toEqual({ value: { b: [1] } });
    expect("value" in result && result.value).toBe(value);
  });

  it.each<[string, Schema, JsonValue, string[]]>([
    ["what fits", { type: "object", required: ["a"] }, { a: 1 }, []],
    [
      "every fault",
      { properties: { a: { type: "string" }, b: { maximum: 2 } }, required: ["c"] },
      { a: 1, b: 3 },
      ["", "/a", "/b"],
    ],
    [
      "a place with every kind of character",
      { additionalProperties: { type: "null" } },
      { "a/b~c %#é": 1 },
      ["/a~1b~0c %#é"],
    ],
    ["an element", { items: { type: "number" } }, [1, "2"], ["/1"]],
    ["what nothing allows", { additionalProperties: false }, { a: 1 }, ["/a"]],
    [
      "alternatives, without their faults",
      { properties: { a: { anyOf: [{ type: "string" }, { type: "number", minimum: 5 }] } } },
      { a: 1 },
      ["/a"],
    ],
    [
      "what stands behind alternatives",
      { properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] }, b: { type: "string" } } },
      { a: 1, b: 1 },
      ["/a", "/b"],
    ],
    ["nothing below a bound of nothing", { minLength: 0 }, "", []],
    ["what another property asks for", { dependentRequired: { a: ["b"] } }, { a: 1 }, [""]],
    ["what is no multiple", { items: { multipleOf: 2 } }, [4, 3], ["/1"]],
    ["nothing, by false", false, 1, [""]],
    ["anything, by true", true, 1, []],
    ["an integer", { type: "integer" }, 1.5, [""]],
    ["a date that is none", { format: "date" }, "2031-02-30", [""]],
    ["a format that is only a note", { format: "phone" }, "x", []],
    ["a format that is code to someone", { format: "regex" }, "(", []],
    ["a format by an inherited name", { format: "hasOwnProperty" }, "x", []],
    ["a reference", { $defs: { n: { type: "number" } }, properties: { a: { $ref: "#/$defs/n" } } }, { a: "1" }, ["/a"]],
    [
      "a reference to itself",
      { properties: { next: { $ref: "#" }, n: { type: "number" } } },
      { next: { next: { n: "1" } } },
      ["/next/next/n"],
    ],
    ["unique items", { uniqueItems: true }, [1, 2, 1], [""]],
    ["more items than are compared", { uniqueItems: true }, Array.from({ length: 2_001 }, (_, index) => index), [""]],
    ["nothing in as many items as are compared", { uniqueItems: true }, Array.from({ length: 2_000 }, (_, i) => i), []],
    ["a required property that all objects inherit", { required: ["toString"] }, {}, [""]],
    [
      "an own __proto__",
      { properties: JSON.parse('{"__proto__":{"type":"string"}}'), additionalProperties: false },
      JSON.parse('{"__proto__":1}'),
      ["/__proto__"],
    ],
    [
      "an own __proto__ that nothing allows",
      { additionalProperties: false },
      JSON.parse('{"__proto__":{},"constructor":1}'),
      ["/__proto__", "/constructor"],
    ],
    ["what is only inherited", { properties: { constructor: { type: "string" } } }, {}, []],
    ["a key that is no text", { additionalProperties: { type: "string" } }, { "\uD800": 1 }, [""]],
  ])("finds %s", (_, schema, value, expected) => {
    expect(issues(schema, value)).toEqual(expected);
  });

  it("says what is wrong without the value", () => {
    const schema = {
      properties: { n: { minimum: 5 }, s: { maxLength: 1 }, e: { enum: ["x".repeat(400)] }, no: false },
    } as const;
    const result = validate(schema, { n: -4711.5e-7, s: "secret", e: "secret", no: "secret" });
    const messages = "issues" in result ? result.issues.map(({ message }) => message) : [];
    expect(messages.slice(0, 2)).toEqual(["The value is less than 5.", "String is too long (6 > 1)."]);
    expect(messages[2]).toMatch(/^The value does not match any of \["x+…$/);
    expect(messages[3]).toBe("Nothing may stand here.");
    expect(messages.join(" ")).not.toMatch(/secret|4711/);
  });

  it.each([4711, -4711, 4711.5, 4711e30, 4711e-30, -4711e-30])("says what is wrong with %d without it", (value) => {
    expect(validate({ maximum: -1e40 }, value)).toEqual({
      issues: [{ pointer: "", message: "The value is greater than -1e+40." }],
    });
  });

  it("says so where it can't tell what is wrong", () => {
    expect(validate({ additionalProperties: { type: "string" } }, { "\uD800": 1 })).toEqual({
      issues: [{ pointer: "", message: "The value can't be checked against the schema." }],
    });
  });

  it("tells a hundred faults at most", () => {
    const list = Array.from({ length: 500 }, () => "x");
    expect(issues({ items: { type: "number" } }, list)).toHaveLength(100);
  });

  it("is read anew as long as it can change, and kept once it is frozen", () => {
    const schema: { type: "string" | "number" } = { type: "string" };
    expect(issues(schema, 1)).toEqual([""]);
    schema.type = "number";
    expect(issues(schema, 1)).toEqual([]);
    const validator = compileSchema(schema);
    const frozen = Object.freeze({ type: "string" });
    expect(compileSchema(frozen).json).toEqual({ type: "string" });
    expect(compileSchema(frozen).json).toBe(compileSchema(frozen).json);
    expect(compileSchema(validator.json ?? {}).json).toBe(validator.json);
    expect(Object.isFrozen(validator.json)).toBe(true);
    expect(validator.jsonInput).toBe(validator.json);
  });

  it.each<[string, unknown, string, string]>([
    ["no schema", 5, "", "must be an object or a boolean"],
    ["null", null, "", "must be an object or a boolean"],
    ["no JSON", { enum: [1n] }, "/enum/0", "is not JSON"],
    ["a type that is none", { type: "strng" }, "/type", "must be a type"],
    ["an empty list of types", { type: [] }, "/type", "must be a type"],
    ["a list with a type that is none", { type: ["string", "strng"] }, "/type", "must be a type"],
    ["required with a name that is no text", { required: ["a", 1] }, "/required", "a list of property names"],
    ["a title that is no text", { title: 1 }, "/title", "must be text"],
    ["a pattern that is no text", { pattern: 1 }, "/pattern", "must be text"],
    ["unique items that are a number", { uniqueItems: 1 }, "/uniqueItems", "must be true or false"],
    [
      "required on the property itself",
      { properties: { a: { required: true } } },
      "/properties/a/required",
      "a list of property names",
    ],
    ["properties that are text", { properties: "a".repeat(9) }, "/properties", "must be an object of schemas"],
    ["properties that are a list", { properties: [] }, "/properties", "must be an object of schemas"],
    ["a property that is null", { properties: { a: null } }, "/properties", "must be an object of schemas"],
    ["a property that is no schema", { properties: { a: "string" } }, "/properties", "must be an object of schemas"],
    ["one such property", { properties: { a: true, b: "string" } }, "/properties", "must be an object of schemas"],
    ["items that are text", { items: "string" }, "/items", "must be a schema"],
    ["alternatives that are no list", { anyOf: {} }, "/anyOf", "must be a list of schemas"],
    ["one that is no schema", { anyOf: [true, 1] }, "/anyOf", "must be a list of schemas"],
    ["an alternative that is none", { allOf: [{ not: 1 }] }, "/allOf/0/not", "must be a schema"],
    ["dependencies that are none", { dependencies: { a: 1 } }, "/dependencies", "must be an object of schemas"],
    ["dependentRequired that is none", { dependentRequired: { a: "b" } }, "/dependentRequired", "lists by name"],
    ["one that is none", { dependentRequired: { a: ["b"], c: "d" } }, "/dependentRequired", "lists by name"],
    ["a bound that is true", { exclusiveMinimum: true }, "/exclusiveMinimum", "must be a number"],
    ["a divisor that is text", { multipleOf: "2" }, "/multipleOf", "a number above 0"],
    ["a divisor of nothing", { multipleOf: 0 }, "/multipleOf", "a number above 0"],
    ["a length below none", { minLength: -1 }, "/minLength", "of at least 0"],
    ["a reference that leads nowhere", { items: { $ref: "#/$defs/no" } }, "/items/$ref", "leads nowhere"],
    ["a reference that is empty", { $ref: "" }, "/$ref", "leads nowhere"],
    ["a reference to elsewhere", { $ref: "https://example.com/schema.json" }, "/$ref", "leads nowhere"],
    ["a reference to what is no schema", { extra: [], $ref: "#/extra" }, "/$ref", "leads nowhere"],
    ["a recursive reference, of an older draft", { $recursiveRef: "#" }, "/$recursiveRef", "is not supported"],
    ["a dynamic reference", { $dynamicRef: "#a" }, "/$dynamicRef", "is not supported"],
    ["an address that is none", { $id: "http://[" }, "", "can't be read"],
    ["a pattern that is none", { pattern: "[" }, "/pattern", "is no regular expression"],
    [
      "a pattern without bound",
      { properties: { a: { pattern: "(a+)+$" } } },
      "/properties/a/pattern",
      "grow without bound",
    ],
    [
      "one hidden behind a reference",
      { secret: { pattern: "(a+)+$" }, $ref: "#/secret" },
      "/$ref/pattern",
      "grow without bound",
    ],
    ["one for keys", { patternProperties: { "(a+)+$": true } }, "/patternProperties/(a+)+$", "grow without bound"],
    [
      "one for keys that is not linear",
      { patternProperties: { "[a-z]+": true } },
      "/patternProperties/[a-z]+",
      "more than linear",
    ],
  ])("is refused for %s", (_, schema, pointer, message) => {
    const error = refusal(schema);
    expect(error).toMatchObject({ code: "INVALID_SCHEMA", pointer });
    expect(error?.message).toContain(message);
  });

  it("of an older draft is read as far as it means the same", () => {
    const schema = {
      definitions: { n: { type: "number" } },
      items: [{ $ref: "#/definitions/n" }],
      additionalItems: false,
      dependencies: { a: ["b"] },
    } as const;
    expect(issues(schema, [1])).toEqual([]);
    expect(issues(schema, ["1", 2])).toEqual(["/0", "/1"]);
    expect(issues(schema, { a: 1 })).toEqual([""]);
  });

  it("bounds the work of a pattern by the length of the text", () => {
    const schema = { pattern: "[a-z]+$", allOf: [{ minLength: 1 }] } as const;
    expect(issues(schema, "12abc")).toEqual([]);
    expect(issues(schema, "abc12")).toEqual([""]);
    expect(issues(schema, "a".repeat(3_000))).toEqual([]);
    expect(issues(schema, "a".repeat(4_000))).toEqual([""]);
    expect(issues(schema, 12)).toEqual([]);
    expect(issues({ pattern: "^[a-z]+$" }, "a".repeat(100_000))).toEqual([]);
    expect(issues({ patternProperties: { "^x-": { type: "number" } } }, { "x-a": "1", b: "1" })).toEqual(["/x-a"]);
  });
});

describe("a Standard Schema", () => {
  it("gives its output, normalized and frozen", () => {
    const schema = z.object({ on: z.string().transform((text) => new Date(text)), n: z.number().default(2) });
    const result = validate(schema, { on: "2031-05-06T00:00:00Z" });
    expect(result).toEqual({ value: { on: "2031-05-06T00:00:00.000Z", n: 2 } });
    expect("value" in result && Object.isFrozen(result.value)).toBe(true);
  });

  it("says where a value does not fit", () => {
    expect(
      issues(z.object({ "a/b": z.array(z.object({ n: z.number() })) }), { "a/b": [{ n: 1 }, { n: "2" }] }),
    ).toEqual(["/a~1b/1/n"]);
    expect(
      issues(
        standard(() => ({ issues: [{ message: "no" }, { message: "no", path: [{ key: "k" }, 0] }] })),
        1,
      ),
    ).toEqual(["", "/k/0"]);
  });

  it("may be slow", async () => {
    const late = standard(async (value) => ({ value }));
    await expect(compileSchema(late).validate(1, limits)).resolves.toEqual({ value: 1 });
    const never = standard(async () => Promise.reject(new Error("offline")));
    await expect(compileSchema(never).validate(1, limits)).resolves.toEqual({
      issues: [{ pointer: "", message: "The schema failed: offline" }],
    });
  });

  it("that throws, or gives no JSON or too much, has an issue", () => {
    const throwing = standard(() => {
      throw new Error("broken");
    });
    expect(validate(throwing, 1)).toEqual({ issues: [{ pointer: "", message: "The schema failed: broken" }] });
    expect(
      issues(
        standard(() => ({ value: { n: 10n } })),
        1,
      ),
    ).toEqual(["/n"]);
    expect(
      issues(
        standard(() => undefined),
        1,
      ),
    ).toEqual([""]);
    const large = compileSchema(standard(() => ({ value: "x".repeat(100) }))).validate(1, {
      maxBytes: 10,
      maxDepth: 1,
    });
    expect(large).toMatchObject({ issues: [{ pointer: "" }] });
  });

  it("gets a copy that it may change", () => {
    const value = Object.freeze({ list: Object.freeze([1]) });
    const greedy = standard((given) => {
      (given as { list: number[] }).list.push(2);
      return { value: given };
    });
    expect(validate(greedy, value)).toEqual({ value: { list: [1, 2] } });
    expect(value).toEqual({ list: [1] });
  });

  it("says in JSON Schema what it takes and what it gives, where it can", () => {
    const validator = compileSchema(z.object({ n: z.number().default(1) }));
    expect(validator).toMatchObject({ isCode: true, json: { required: ["n"], additionalProperties: false } });
    expect(validator.jsonInput).not.toHaveProperty("required");
    expect(validator.validateJson({})).toHaveLength(1);
    expect(validator.validateJson({ n: 1 })).toEqual([]);
    expect(compileSchema(z.object({ n: z.string().transform(Number) })).json).toBeUndefined();
    const plain = compileSchema(standard((value) => ({ value })));
    expect([plain.json, plain.jsonInput, plain.validateJson(1)]).toEqual([undefined, undefined, []]);
    const targets: unknown[] = [];
    const convert = (options: unknown) => ({ targets: targets.push(options) });
    compileSchema(standard((value) => ({ value }), { jsonSchema: { input: convert, output: convert } }));
    expect(targets).toEqual([{ target: "draft-2020-12" }, { target: "draft-2020-12" }]);
    const unfit = standard((value) => ({ value }), {
      jsonSchema: { input: () => ({}), output: () => ({ type: "no" }) },
    });
    expect(compileSchema(unfit)).toMatchObject({ jsonInput: {} });
    expect(compileSchema(unfit).json).toBeUndefined();
  });

  it("is compiled once", () => {
    const schema = z.string();
    expect(compileSchema(schema)).toBe(compileSchema(schema));
  });

  it("is known by what it can do", () => {
    const callable = Object.assign(() => 1, {
      "~standard": { version: 1, vendor: "own", validate: () => ({ value: 1 }) },
    });
    const guarded = Object.defineProperty({}, "~standard", { get: () => expect.fail("not to be asked") });
    expect(isStandardSchema(guarded)).toBe(false);
    expect([z.string(), callable].map(isStandardSchema)).toEqual([true, true]);
    expect(
      [null, 5, {}, { "~standard": {} }, JSON.parse('{"~standard":{"validate":"yes"}}')].map(isStandardSchema),
    ).toEqual([false, false, false, false, false]);
  });
});

it("a bare schema is without what is for people only", () => {
  const schema = {
    title: "Order",
    description: "An order.",
    $comment: "note",
    type: "object",
    properties: { title: { type: "string", description: "Its title." }, "~": true },
    patternProperties: { "^x": { examples: [1], items: [{ title: "t" }, true] } },
    items: { title: "t" },
    anyOf: [{ title: "t", required: ["title"] }],
    dependencies: { title: ["a"], a: { title: "t" } },
    enum: [{ title: "kept" }],
    default: { description: "kept" },
  };
  expect(bareSchema(schema)).toEqual({
    type: "object",
    properties: { title: { type: "string" }, "~": true },
    patternProperties: { "^x": { items: [{}, true] } },
    items: {},
    anyOf: [{ required: ["title"] }],
    dependencies: { title: ["a"], a: {} },
    enum: [{ title: "kept" }],
    default: { description: "kept" },
  });
  expect(Object.isFrozen(bareSchema(schema))).toBe(true);
  expect(bareSchema(true)).toBe(true);
  const proto = JSON.parse('{"properties":{"__proto__":{"title":"t","type":"null"}}}');
  expect(JSON.stringify(bareSchema(proto))).toBe('{"properties":{"__proto__":{"type":"null"}}}');
});
