import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import type { Part } from "../../src/core/json-schema.js";
import { plainFits } from "../../src/core/plain-schema.js";

describe("the quick check decides", () => {
  const person: Part = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name"],
    additionalProperties: false,
  };

  it.each<[name: string, part: Part, fitting: JsonValue[], others: JsonValue[]]>([
    ["text", { type: "string" }, ["", "a"], [1, null, true, [], {}]],
    ["numbers", { type: "number" }, [0, 1.5], ["1", null]],
    ["integers", { type: "integer" }, [0, -1, 1e20], [1.5, "1"]],
    ["booleans", { type: "boolean" }, [true, false], [0, "true", null]],
    ["null", { type: "null" }, [null], [0, "", {}]],
    ["any list", { type: "array" }, [[], [1, "a"]], [{}, "a", null]],
    ["a list of one type", { type: "array", items: { type: "string" } }, [[], ["a", "b"]], [["a", 1], "a", {}]],
    ["any object", { type: "object" }, [{}, { a: 1 }], [[], null, "a"]],
    [
      "a closed object",
      person,
      [{ name: "a" }, { name: "a", age: 1 }],
      [{}, { age: 1 }, { name: 1 }, { name: "a", x: 1 }],
    ],
    ["an open object", { ...person, additionalProperties: true }, [{ name: "a", x: 1 }], [{ x: 1 }, []]],
    ["an object that says neither", { type: "object", properties: person.properties }, [{ x: 1 }], [{ age: "1" }]],
    ["what is required and unknown", { type: "object", required: ["x"] }, [{ x: null }], [{ name: "a" }]],
    [
      "lists in objects",
      { type: "object", properties: { a: { type: "array", items: person } } },
      [{ a: [{ name: "a" }] }],
      [{ a: [{}] }],
    ],
    [
      "what has notes",
      { type: "string", title: "T", description: "D", default: "d", examples: ["e"], $schema: "s" },
      ["a"],
      [1],
    ],
    ["what the library has written in", { type: "string", __absolute_uri__: "https://x" }, ["a"], [1]],
  ])("of %s", (_name, part, fitting, others) => {
    const fits = plainFits(part);
    const decide = (values: JsonValue[]) => values.map((value) => fits?.(value));
    expect(decide(fitting)).toEqual(fitting.map(() => true));
    expect(decide(others)).toEqual(others.map(() => false));
  });
});

describe("the quick check leaves to the validator", () => {
  it.each<[name: string, part: Part | undefined]>([
    ["no schema", undefined],
    ["anything", true],
    ["a schema without a type", {}],
    ["a schema of several types", { type: ["string", "null"] }],
    ["a type that is none", JSON.parse('{"type":"text"}')],
    ["a further keyword", { type: "string", minLength: 1 }],
    ["a keyword of another type", { type: "string", properties: {} }],
    ["items of an object", { type: "object", items: { type: "string" } }],
    ["a keyword that only ends as the library's do", { type: "string", x__: 1 }],
    ["a schema of what is unknown", { type: "object", additionalProperties: { type: "string" } }],
    ["a property that is not plain", { type: "object", properties: { a: { type: "string", minLength: 1 } } }],
    ["a property that is anything", { type: "object", properties: { a: true } }],
    ["items that are not plain", { type: "array", items: { minimum: 1 } }],
    ["a property that all objects inherit", { type: "object", properties: { toString: { type: "string" } } }],
    ["a required one", { type: "object", required: ["a", "constructor"] }],
  ])("%s", (_name, part) => {
    expect(plainFits(part)).toBeUndefined();
  });
});
