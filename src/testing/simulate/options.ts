import { stepSites } from "../../core/call-sites.js";
import { planOf } from "../../core/define.js";
import type { Workflow } from "../../core/document.js";
import { ToolweaveError } from "../../core/errors.js";
import type { JsonValue } from "../../core/json.js";
import type { RunResult } from "../../core/result.js";
import { bundleOf } from "../../driver/bundle.js";
import type { Policy } from "../../ports/policy.js";
import type { FakeTool } from "../fake-tool.js";
import type { Faults, Schedule } from "./schedule.js";
import type { SimulatedWorld } from "./setup.js";

export interface SimulateOptions<Input = unknown> {
  /** @default {} */
  input?: Input;
  /** Everything that the workflow calls, each made by `fakeTool`. */
  tools: readonly FakeTool[];
  /** The workflows that may be called by name. */
  workflows?: Workflow | readonly Workflow[];
  /** Asked before every write. @default a person is asked about every write */
  policy?: Policy;
  /**
   * By step id: of an `ask`, the values that a person may give, the plain one first; of a write, the fields that a
   * person may change, `{ amount: 1 }`. @default no edits; of an `ask`, a simple value that fits
   */
  answers?: Readonly<Record<string, readonly JsonValue[]>>;
  /** Throws where a run ended as it never may. Asked of every schedule; the fake states are as the run left them. */
  check?(world: SimulatedWorld, result: RunResult): unknown;
  /** How often each may happen in one schedule; 0 leaves it out. @default 1 of each */
  faults?: Partial<Faults>;
  /** How many may happen in one schedule together; `order` does not count. @default 2 */
  maxFaults?: number;
  /** How many schedules are tried at most. @default 2,000 */
  limit?: number;
  /** Of what is drawn where there are more schedules than the limit. @default 1 */
  seed?: number;
  /** Plays this one schedule, as a violation gave it. */
  replay?: Schedule;
}

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
  const sites = bundleOf(workflow, workflows).workflows.flatMap((each) => [...stepSites(planOf(each).steps)]);
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
