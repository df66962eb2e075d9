import fc from "fast-check";
import { expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { stepKeys } from "../../src/core/document.js";
import { DefinitionError } from "../../src/core/errors.js";

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
});
const keys = fc.constantFrom(...stepKeys, "__proto__", "constructor", "steps", "name");
const step = fc.dictionary(
  keys,
  fc.oneof(anything, fc.constantFrom("a", "t", "{{steps.a.result}}", "{{input.x", 1, {})),
);
const document = fc.oneof(
  anything,
  fc.record({ name: fc.constant("w"), steps: fc.array(step, { maxLength: 3 }) }),
  fc.record({
    name: fc.constant("w"),
    steps: fc.array(fc.record({ id: fc.constantFrom("a", "b"), tool: fc.constant("t"), inputs: anything })),
  }),
);

it("whatever is given is a workflow, or refused with what is wrong with it", () => {
  fc.assert(
    fc.property(document, (given) => {
      try {
        const workflow = defineWorkflow(given as never);
        expect(defineWorkflow(JSON.parse(JSON.stringify(workflow)))).toEqual(workflow);
      } catch (error) {
        if (!(error instanceof DefinitionError)) throw error;
        expect(error.problems.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 300 },
  );
});
