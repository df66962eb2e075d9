import { pointerTo } from "./path.js";
import type { CompensationPlan, HandlerPlan, StepPlan, WorkflowPlan } from "./plan.js";
import type { CompiledTemplate } from "./template.js";

/** One place of a document that names a tool or a workflow. */
export interface CallSite {
  readonly kind: "tool" | "workflow";
  readonly name: string;
  /** A JSON Pointer to the name. */
  readonly pointer: string;
  /** Absent where the inputs are mapped from a model's call. */
  readonly inputs?: CompiledTemplate;
  readonly inputsPointer: string;
  /** Properties that the runtime lays beside the inputs. */
  readonly laid: readonly string[];
}

/** A step and where it stands; those within a `parallel` follow it. */
export interface StepSite {
  readonly step: StepPlan;
  readonly pointer: string;
  /** Whether it, or the `parallel` around it, has a `when`. */
  readonly maySkip: boolean;
}

export function stepSites(steps: readonly StepPlan[]): StepSite[] {
  const sites: StepSite[] = [];
  addSites(sites, steps, "/steps", false);
  return sites;
}

function addSites(sites: StepSite[], steps: readonly StepPlan[], pointer: string, maySkip: boolean): void {
  steps.forEach((step, index) => {
    const site = { step, pointer: `${pointer}/${index}`, maySkip: maySkip || step.when !== undefined };
    sites.push(site);
    if (step.action.kind === "parallel") addSites(sites, step.action.steps, `${site.pointer}/parallel`, site.maySkip);
  });
}

const called = new WeakMap<WorkflowPlan, ReadonlySet<string>>();

/** The names of the workflows that a workflow's own steps call; found once, since every run asks. */
export function calledWorkflows(plan: WorkflowPlan): ReadonlySet<string> {
  let names = called.get(plan);
  if (names === undefined) {
    const calls = stepSites(plan.steps).flatMap(({ step }) => ownCalls(step));
    names = new Set(calls.filter(({ kind }) => kind === "workflow").map(({ name }) => name));
    called.set(plan, names);
  }
  return names;
}

/** What a step calls itself, then what stands in for it or undoes it. */
export function callSites({ step, pointer }: StepSite): CallSite[] {
  const sites = ownCalls(step, pointer);
  if (step.compensate !== undefined) sites.push(undoSite(step.compensate, `${pointer}/compensate`));
  if (step.fallback !== undefined) {
    const place = `${pointer}/fallback`;
    sites.push(site("tool", step.fallback.tool, place, step.fallback.inputs));
    if (step.fallback.compensate !== undefined) sites.push(undoSite(step.fallback.compensate, `${place}/compensate`));
  }
  return sites;
}

/** What a step calls itself; the steps of a `parallel` stand for themselves. */
export function ownCalls({ action }: StepPlan, pointer = ""): CallSite[] {
  switch (action.kind) {
    case "tool":
      return [site("tool", action.tool, pointer, action.inputs)];
    case "workflow":
      return [site("workflow", action.workflow, pointer, action.inputs)];
    case "for_each":
      return [site("workflow", action.workflow, `${pointer}/for_each`, action.inputs)];
    case "repeat":
      return [site("workflow", action.workflow, `${pointer}/repeat`, action.inputs, ["state", "iteration"])];
    case "tool_dispatch":
      return [...action.handlers].map(([name, handler]) =>
        handlerSite(handler, pointer + pointerTo(["tool_dispatch", "tools", name])),
      );
    default:
      return [];
  }
}

function handlerSite(handler: HandlerPlan, pointer: string): CallSite {
  const [kind, name, key] =
    handler.kind === "tool"
      ? (["tool", handler.tool, "tool"] as const)
      : (["workflow", handler.workflow, "flow"] as const);
  return { kind, name, pointer: `${pointer}/${key}`, inputsPointer: `${pointer}/input`, laid: [] };
}

function undoSite({ tool, inputs }: CompensationPlan, pointer: string): CallSite {
  return site("tool", tool, pointer, inputs);
}

function site(
  kind: CallSite["kind"],
  name: string,
  pointer: string,
  inputs: CompiledTemplate,
  laid: readonly string[] = [],
): CallSite {
  return { kind, name, pointer: `${pointer}/${kind}`, inputs, inputsPointer: `${pointer}/inputs`, laid };
}
