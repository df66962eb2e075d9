import { type Check, checkAgainst } from "../core/check.js";
import type { Workflow } from "../core/document.js";
import { DefinitionError } from "../core/errors.js";
import type { Tools } from "../ports/tool-adapter.js";
import { type Settings, workflowList } from "./options.js";
import { isSameList } from "./same-list.js";
import { listTools, type ToolList } from "./tool-list.js";

/**
 * Checks what a workflow needs to be published: the tools and workflows that it calls, and what it gives them. Lists the
 * tools anew.
 *
 * @returns `problems`: none means fine to save; `warnings`; and whether it `writes`.
 * @throws ToolweaveError `DUPLICATE_TOOL`, `INVALID_OPTIONS`, `INVALID_SCHEMA` for tools that can't be listed
 */
export async function checkWorkflow(
  workflow: Workflow,
  options: { tools: Tools; workflows?: Workflow | readonly Workflow[] },
): Promise<Check> {
  return checkAgainst(workflow, await listTools(options.tools), byName(workflowList(options.workflows ?? [])));
}

interface Passed {
  readonly tools: ToolList;
  readonly workflows: readonly Workflow[];
}

const passed = new WeakMap<Workflow, Passed>();

/** Checks a workflow before its first step: once per list of tools and workflows. */
export async function checkBeforeRun(workflow: Workflow, { tools, workflows }: Settings): Promise<ToolList> {
  const list = await listTools(tools);
  const known = passed.get(workflow);
  if (known?.tools === list && isSameList(known.workflows, workflows)) return list;
  const { problems } = checkAgainst(workflow, list, byName(workflows));
  if (problems.length > 0) {
    const faults = problems.map(({ pointer, message }) => `${pointer}: ${message}`).join("\n");
    throw new DefinitionError(`Workflow ${workflow.name} can't run with these tools:\n${faults}`, problems);
  }
  passed.set(workflow, { tools: list, workflows: [...workflows] });
  return list;
}

function byName(workflows: readonly Workflow[]): Map<string, Workflow> {
  return new Map(workflows.map((workflow) => [workflow.name, workflow]));
}
