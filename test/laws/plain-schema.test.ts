import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Part } from "../../src/core/json-schema.js";
import { compileJsonSchema } from "../../src/core/json-validator.js";
import { plainFits } from "../../src/core/plain-schema.js";

const names = fc.constantFrom("a", "b", "c", "d", "__proto__", "constructor", "toString");
const notes = fc.record({ title: fc.string(), description: fc.string() }, { requiredKeys: [] });

const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null") }),
    fc
      .tuple(
        fc.record(
          {
            type: fc.constant("object"),
            properties: fc.dictionary(names, tie("schema")),
            required: fc.uniqueArray(names),
            additionalProperties: fc.boolean(),
          },
          { requiredKeys: ["type"] },
        ),
        notes,
      )
      .map(([body, extra]) => ({ ...body, ...extra })),
    fc.record({ type: fc.constant("array"), items: tie("schema") }, { requiredKeys: ["type"] }),
  ),
}));

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, 2.5, 1e300, "", "x"),
    fc.dictionary(names, tie("value")),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).value;

describe("the quick check of plain schemas", () => {
  it("says of every value what the whole validator says", () => {
    let quick = 0;
    const law = fc.property(schema, value, (given, instance) => {
      const json = JSON.parse(JSON.stringify(instance));
      const fits = plainFits(JSON.parse(JSON.stringify(given)));
      if (fits === undefined) return;
      quick++;
      expect(fits(json)).toBe(new Validator(given, "2020-12").validate(json).valid);
      expect(compileJsonSchema(given).check(json).length === 0).toBe(fits(json));
    });
    fc.assert(law, { numRuns: 2_000 });
    expect(quick).toBeGreaterThan(500);
  });

  it.each<Part>([
    { type: "object", minProperties: 1 },
    { type: ["string", "null"] },
    { type: "string", pattern: "^a" },
    { type: "object", properties: { a: { enum: [1] } } },
    { type: "object", properties: { a: true } },
    { type: "object", additionalProperties: { type: "string" } },
    { type: "object", required: ["toString"] },
    { type: "object", $ref: "#" },
    { type: "array", items: { type: "number", minimum: 1 } },
    { type: "string", properties: {} },
    {},
  ])("leaves %j to the whole validator", (given) => {
    expect(plainFits(given)).toBeUndefined();
  });
});
