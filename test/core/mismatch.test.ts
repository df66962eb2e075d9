import { expect, it } from "vitest";
import { inputMismatch } from "../../src/core/mismatch.js";

it("an input that does not fit is told by its first faults, and by all of them as data", () => {
  const issues = Array.from({ length: 7 }, (_, index) => ({
    pointer: index === 0 ? "" : `/${index}`,
    message: `Fault ${index}.`,
  }));
  const error = inputMismatch("Workflow w", issues);
  expect(error.message).toBe(
    "Workflow w: the input does not fit its schema: /: Fault 0.; /1: Fault 1.; /2: Fault 2.; /3: Fault 3.; /4: Fault 4.; and 2 more",
  );
  expect(error).toMatchObject({ code: "INVALID_INPUT", details: { issues } });
  expect(inputMismatch("Tool t", issues.slice(1, 2)).message).toBe(
    "Tool t: the input does not fit its schema: /1: Fault 1.",
  );
});
