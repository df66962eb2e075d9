import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, Workflow, WorkflowDocument } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";

/** A workflow over the tools of the `World`, for the laws of the engine. */
export interface Sample {
  readonly name: string;
  readonly workflow: Workflow;
  /** What it calls. */
  readonly workflows: readonly Workflow[];
  readonly input: JsonObject;
  /** A failure or a deadline races what runs beside it, so what was done by then is a matter of timing. */
  readonly races: boolean;
}

type Step = StepDocument;

interface Parts {
  readonly steps: readonly Step[];
  readonly children?: Readonly<Record<string, readonly Step[] | Omit<WorkflowDocument, "name">>>;
  readonly input?: JsonObject;
  readonly races?: boolean;
  readonly timeout_ms?: number;
}

export function sample(name: string, { steps, children = {}, input = {}, races = false, timeout_ms }: Parts): Sample {
  const workflow = defineWorkflow({ name, steps, ...(timeout_ms === undefined ? {} : { timeout_ms }) });
  const workflows = Object.entries(children).map(([child, body]) =>
    defineWorkflow({ name: child, ...("steps" in body ? body : { steps: body }) }),
  );
  return { name, workflow, workflows, input, races };
}

export const look = (id: string, inputs: JsonObject = {}, more: Partial<Step> = {}): Step => ({
  id,
  tool: "look",
  inputs,
  ...more,
});

/** A write that `erase` undoes. */
export const put = (id: string, inputs: JsonObject = {}, more: Partial<Step> = {}): Step => ({
  id,
  tool: "put",
  inputs,
  compensate: { tool: "erase", inputs: { of: `{{steps.${id}.result.id}}` } },
  ...more,
});

/** An idempotent write that `revoke` undoes, idempotent too. */
export const post = (id: string, inputs: JsonObject = {}, more: Partial<Step> = {}): Step => ({
  id,
  tool: "post",
  inputs,
  compensate: { tool: "revoke", inputs: { of: `{{steps.${id}.result.id}}` } },
  ...more,
});

export const undoBy = (id: string, b: string, more: JsonObject = {}): Partial<Step> => ({
  compensate: { tool: "erase", inputs: { of: `{{steps.${id}.result.id}}`, b }, ...more },
});

export const calls = (...given: readonly (readonly [string, JsonObject])[]) =>
  given.map(([name, input], index) => ({ type: "tool_use", id: `c${index}`, name, input }));
