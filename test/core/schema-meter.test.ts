import { expect, it } from "vitest";
import type { JsonValue } from "../../src/core/json.js";
import type { Part } from "../../src/core/json-schema.js";
import { Meter, TooMuchWork } from "../../src/core/schema-meter.js";

/** How often the schemas can be held against something, in turn, while the value is checked. */
function applications(meter: Meter, value: JsonValue, ...parts: Exclude<Part, boolean>[]): number {
  let count = 0;
  try {
    meter.run(value, () => {
      for (;;) {
        for (const part of parts) {
          // The library reads this keyword as it holds a schema against a value.
          void part.$recursiveRef;
          count++;
        }
      }
    });
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
  }
  return count;
}

const metered = (part: Exclude<Part, boolean>, value: JsonValue) => applications(new Meter([part]), value, part);

it.each<[name: string, part: Exclude<Part, boolean>, work: number]>([
  ["any schema", {}, 8],
  ["schemas within it", { properties: { a: true, b: {} }, not: {} }, 11],
  ["names that may be missing", { required: ["a", "b"] }, 24],
  ["names that another asks for", { dependentRequired: { a: ["b", "c"], b: ["a"] } }, 32],
  ["values that are told in a fault", { enum: ["x".repeat(124)], const: "x".repeat(30) }, 18],
])("%s take work", (_name, part, work) => {
  expect(metered(part, 1)).toBe(Math.floor(401_000 / work));
});

it.each<[value: JsonValue, size: number]>([
  [null, 1],
  ["text", 1],
  [[1, [2, 3]], 5],
  [{ a: { b: null }, c: 1 }, 4],
])("more is granted for each value within the value: %j", (value, size) => {
  expect(metered({}, value)).toBe((400_000 + 1_000 * size) / 8);
});

it("the schemas of one meter share the measure", () => {
  const parts = [{}, {}];
  expect(applications(new Meter(parts), 1, ...parts)).toBe(401_000 / 8);
});

it("each check has a measure of its own, and gives what it gives", () => {
  const part: Exclude<Part, boolean> = {};
  const meter = new Meter([part]);
  const often = () => {
    for (let count = 0; count < 40_000; count++) void part.$recursiveRef;
    return "done";
  };
  expect([meter.run(1, often), meter.run(1, often)]).toEqual(["done", "done"]);
  expect([applications(meter, 1, part), applications(meter, 1, part)]).toEqual([50_125, 50_125]);
  // Outside a check there is nothing to measure.
  for (let time = 0; time < 3; time++) expect(often()).toBe("done");
});
