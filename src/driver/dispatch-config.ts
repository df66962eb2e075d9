import { defineWorkflow, planOf } from "../core/define.js";
import { type DispatchConfig, isName, type Workflow } from "../core/document.js";
import { DefinitionError } from "../core/errors.js";
import type { DispatchPlan, HandlerPlan, WorkflowPlan } from "../core/plan.js";
import { bundleOf } from "./bundle.js";
import { checkBeforeRun } from "./check-workflow.js";
import type { Settings } from "./options.js";
import type { ToolList } from "./tool-list.js";

/** A dispatch that was checked: all that it needs is there. */
export interface Dispatch {
  readonly plan: DispatchPlan;
  readonly tools: ToolList;
  /** Every workflow that a handler is or calls. */
  readonly workflows: readonly Workflow[];
  readonly plans: ReadonlyMap<string, WorkflowPlan>;
  /** What runs for a call; a tool that is called directly is a workflow of one step. */
  handlerWorkflow(handler: HandlerPlan): Workflow;
}

/**
 * Checks a configuration, as a step of a workflow is checked that has it.
 *
 * @throws DefinitionError whose pointers lead into the configuration
 */
export async function configureDispatch(config: DispatchConfig, settings: Settings): Promise<Dispatch> {
  try {
    const { workflow, plan, direct } = configured(config);
    const tools = await checkBeforeRun(workflow, settings);
    const workflows = bundleOf(workflow, settings.workflows).workflows.slice(1);
    const byName = new Map(workflows.map((each) => [each.name, each]));
    return {
      plan,
      tools,
      workflows,
      plans: new Map(workflows.map((each) => [each.name, planOf(each)])),
      handlerWorkflow(handler) {
        const flow = handler.kind === "flow" ? byName.get(handler.workflow) : undefined;
        return flow ?? directWorkflow(direct, handler);
      },
    };
  } catch (error) {
    throw error instanceof DefinitionError ? withinConfig(error) : error;
  }
}

/** The step that the configuration would be, in a workflow whose name nobody else gives one. */
const stepId = "dispatch";
const workflowName = "__tool_dispatch__";
const place = "/steps/0/tool_dispatch";

interface Configured {
  readonly workflow: Workflow;
  readonly plan: DispatchPlan;
  /** Workflows of one step, by the tool that they call. */
  readonly direct: Map<string, Workflow>;
}

const known = new WeakMap<DispatchConfig, Configured>();

/** Made once for each configuration, and anew where it was changed since. */
function configured(config: DispatchConfig): Configured {
  const before = known.get(config);
  if (before !== undefined && isSame(config, before.workflow.steps[0]?.tool_dispatch)) return before;
  const fresh = configure(config);
  known.set(config, fresh);
  return fresh;
}

function isSame(given: unknown, kept: unknown): boolean {
  if (given === kept) return true;
  if (typeof given !== "object" || typeof kept !== "object" || given === null || kept === null) return false;
  const keys = Object.keys(given);
  if (keys.length !== Object.keys(kept).length) return false;
  return keys.every((key) => Object.hasOwn(kept, key) && isSame(Reflect.get(given, key), Reflect.get(kept, key)));
}

function configure(config: DispatchConfig): Configured {
  const workflow = defineWorkflow({ name: workflowName, steps: [{ id: stepId, tool_dispatch: config }] });
  const action = planOf(workflow).steps[0]?.action;
  if (action?.kind !== "tool_dispatch") throw new TypeError("A dispatch's step is none.");
  return { workflow, plan: action, direct: new Map() };
}

function directWorkflow(made: Map<string, Workflow>, handler: HandlerPlan): Workflow {
  const tool = handler.kind === "tool" ? handler.tool : handler.workflow;
  let workflow = made.get(tool);
  if (workflow === undefined) {
    const name = isName(tool) ? tool : "tool";
    workflow = defineWorkflow({ name, steps: [{ id: name, tool, inputs: "{{input}}" }] });
    made.set(tool, workflow);
  }
  return workflow;
}

function withinConfig({ problems }: DefinitionError): DefinitionError {
  const moved = problems.map((problem) => ({
    ...problem,
    pointer: problem.pointer.startsWith(place) ? problem.pointer.slice(place.length) : problem.pointer,
  }));
  const faults = moved.map(({ pointer, message }) => `${pointer || "/"}: ${message}`).join("\n");
  return new DefinitionError(`The configuration of the dispatch can't be used:\n${faults}`, moved);
}
