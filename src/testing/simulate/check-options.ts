import { stepSites } from "../../core/call-sites.js";
import { planOf } from "../../core/define.js";
import type { Workflow } from "../../core/document.js";
import { ToolweaveError } from "../../core/errors.js";
import { calledBy } from "../../driver/take-run.js";
import type { SimulateOptions } from "../simulate.js";

const names: ReadonlySet<string> = new Set<keyof SimulateOptions>([
  "input",
  "tools",
  "workflows",
  "policy",
  "answers",
  "check",
  "faults",
  "maxFaults",
  "limit",
  "seed",
  "replay",
]);

/** What is misspelt or no number would leave faults out, and so prove nothing. */
export function checkOptions(
  workflow: Workflow,
  workflows: readonly Workflow[],
  options: SimulateOptions,
  kinds: readonly string[],
): void {
  const { limit = 1, maxFaults = 0, seed = 0, faults = {}, answers = {}, replay = [] } = options;
  for (const name of Object.keys(options)) if (!names.has(name)) throw invalid(`there is no option ${name}`);
  whole("limit", limit, 1);
  whole("maxFaults", maxFaults, 0);
  whole("seed", seed, 0);
  for (const [kind, count] of Object.entries(faults)) {
    if (!kinds.includes(kind)) throw invalid(`there is no fault ${kind}; there are ${kinds.join(", ")}`);
    whole(`faults.${kind}`, count, 0);
  }
  const sites = calledBy(workflow, workflows).flatMap((each) => [...stepSites(planOf(each).steps)]);
  const ids = new Set(sites.map(({ step }) => step.id));
  for (const id of Object.keys(answers)) if (!ids.has(id)) throw invalid(`answers names ${id}, which is no step`);
  if (!Array.isArray(replay)) throw invalid("replay has to be a schedule, as a violation gives it");
}

function whole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw invalid(`${name} has to be a whole number, not below ${least}`);
}

export function invalid(why: string): ToolweaveError {
  return new ToolweaveError("INVALID_OPTIONS", `simulate: ${why}.`);
}
