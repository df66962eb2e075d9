import { expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.js";
import { compileJsonSchema } from "../../src/core/json-validator.js";
import { conjuncts, type PathRule, pathRules, propertyRule } from "../../src/core/schema-walk.js";

const text = { type: "string" };
const closed = { properties: { a: text }, additionalProperties: false, required: ["a"] };

it.each<[string, JsonObject, string[], PathRule]>([
  ["a required property", closed, ["a"], "required"],
  ["one that can't be", closed, ["b"], "refused"],
  ["one that may be", { properties: { a: text } }, ["a"], "optional"],
  ["one that nothing is said of", {}, ["a"], "optional"],
  ["one that any of several asks for", { allOf: [{}, { required: ["a"] }] }, ["a"], "required"],
  ["one behind a reference", { $defs: { closed }, $ref: "#/$defs/closed" }, ["b"], "refused"],
  ["one within an optional one", { properties: { o: closed } }, ["o", "a"], "optional"],
  ["one within a required one", { properties: { o: closed }, required: ["o"] }, ["o", "a"], "required"],
  ["one by a pattern", { patternProperties: { "^x": false } }, ["xy"], "refused"],
  ["one by no pattern", { patternProperties: { "^x": false } }, ["y"], "optional"],
  ["one by a pattern of code points", { patternProperties: { "^.$": false } }, ["😀"], "refused"],
  ["what may be a list", { type: ["array", "object"] }, ["0"], "unknown"],
  ["what has elements", { items: false }, ["0"], "unknown"],
  ["what has first elements", { prefixItems: [false] }, ["0"], "unknown"],
  ["what may be a list by one of several", { allOf: [{}, { items: text }] }, ["0"], "unknown"],
  ["what has branches", { anyOf: [closed] }, ["a"], "unknown"],
  ["what has branches by one of several", { allOf: [{}, { oneOf: [closed] }] }, ["a"], "unknown"],
  ["what is refused in spite of branches", { anyOf: [{}], properties: { a: false } }, ["a"], "refused"],
])("of %s", (_, schema, path, rule) => {
  const rules = pathRules(compileJsonSchema(schema));
  expect(rules(path)).toBe(rule);
  expect(rules(path)).toBe(rule);
});

it("what is asked of a property is told in the order of the schema", () => {
  const validator = compileJsonSchema({
    allOf: [{ properties: { a: text } }, { patternProperties: { a: { minLength: 1 } } }],
  });
  const schemas = conjuncts(validator, [validator.root, true]);
  expect(propertyRule(schemas, "a").parts).toEqual(expect.arrayContaining([text, { minLength: 1 }]));
  expect(propertyRule(schemas, "a").isRefused).toBe(false);
});
