import { calledWorkflows } from "../core/call-sites.js";
import { embeddedWorkflows, planOf } from "../core/define.js";
import type { Workflow } from "../core/document.js";
import type { WorkflowPlan } from "../core/plan.js";
import type { DocumentSnapshot } from "../core/record.js";
import { snapshotOf } from "./fingerprint.js";
import { isSameList } from "./same-list.js";

/** A workflow with every workflow that it can call: the same for each of its runs. */
export interface Bundle {
  /** The workflow itself comes first. */
  readonly workflows: readonly Workflow[];
  /** As a journal keeps them. */
  readonly documents: readonly DocumentSnapshot[];
  readonly plans: ReadonlyMap<string, WorkflowPlan>;
}

const bundles = new WeakMap<Workflow, { readonly given: readonly Workflow[]; readonly bundle: Bundle }>();

/** Made once for a workflow and what it is given beside. */
export function bundleOf(workflow: Workflow, given: readonly Workflow[]): Bundle {
  const known = bundles.get(workflow);
  if (known !== undefined && isSameList(known.given, given)) return known.bundle;
  const workflows = calledBy(workflow, given);
  const documents = Object.freeze(workflows.map(snapshotOf));
  const bundle = { workflows, documents, plans: new Map(workflows.map((one) => [one.name, planOf(one)])) };
  bundles.set(workflow, { given: [...given], bundle });
  return bundle;
}

/** A workflow, and every workflow that it can call, through others too. */
function calledBy(workflow: Workflow, given: readonly Workflow[]): Workflow[] {
  const byName = new Map(given.map((one) => [one.name, one]));
  const found = new Map<string, Workflow>([[workflow.name, workflow]]);
  for (const one of found.values()) {
    for (const embedded of embeddedWorkflows(one)) byName.set(embedded.name, embedded);
    for (const name of calledWorkflows(planOf(one))) {
      const called = byName.get(name);
      if (called !== undefined && !found.has(name)) found.set(name, called);
    }
  }
  return [...found.values()];
}
