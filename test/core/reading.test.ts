import { expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { DefinitionError } from "../../src/core/errors.js";

function faults(steps: readonly StepDocument[]): string[] {
  try {
    defineWorkflow({ name: "w", steps });
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.problems.map(({ code, pointer, message }) => `${pointer} ${code}: ${message}`);
  }
}

const step = (id: string, x: string): StepDocument => ({ id, tool: "t", inputs: { x } });

it.each<[name: string, steps: StepDocument[], fault: string]>([
  [
    "inputs that are text",
    [{ id: "a", tool: "t", inputs: "see {{input.x}}" }],
    '/steps/0/inputs INVALID_TEMPLATE: "inputs" must be an object, or a string that is one template.',
  ],
  [
    "a read of its own step",
    [step("a", "{{steps.a.result}}")],
    "/steps/0/inputs/x UNREADABLE_STEP: Template {{steps.a.result}} reads its own step: read steps that stand before it.",
  ],
  [
    "a read of a later step",
    [step("a", "{{steps.b.result}}"), step("b", "")],
    "/steps/0/inputs/x UNREADABLE_STEP: Template {{steps.b.result}} reads a step that is not done by then: read steps that stand before it.",
  ],
  [
    "a read of a step that is not there",
    [step("pay", ""), step("b", "{{steps.nothing.result}}")],
    "/steps/1/inputs/x UNKNOWN_STEP: Template {{steps.nothing.result}} reads a step that is not there.",
  ],
  [
    "a read of a step that is nearly there",
    [step("pay", ""), step("b", "{{steps.psy.result}}")],
    '/steps/1/inputs/x UNKNOWN_STEP: Template {{steps.psy.result}} reads a step that is not there. Did you mean "pay"?',
  ],
  [
    "a read of the inputs of a step that sends none",
    [{ id: "a", sleep_ms: 1 }, step("b", "{{steps.a.inputs}}")],
    "/steps/1/inputs/x UNREADABLE_STEP: Template {{steps.a.inputs}} reads the inputs of a step that sends none: read its result.",
  ],
])("%s is a fault", (_name, steps, fault) => {
  expect(faults(steps)).toEqual([fault]);
});

it("the nearest name is told while the faults are not many", () => {
  const many = Array.from({ length: 101 }, (_, index) => step(`s${index}`, "{{steps.psy.result}}"));
  const hinted = faults([step("pay", ""), ...many]).filter((fault) => fault.endsWith('Did you mean "pay"?'));
  expect(hinted).toHaveLength(100);
});
