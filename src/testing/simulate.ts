import { isWorkflow, type Workflow } from "../core/document.js";
import type { JournalRecord } from "../core/record.js";
import type { RunResult } from "../core/result.js";
import { Section } from "../driver/section.js";
import type { Tool } from "../ports/tool-adapter.js";
import { isFakeTool } from "./fake-tool.js";
import type { Unmet } from "./simulate/course.js";
import { type Broken, explore, Trial } from "./simulate/explore.js";
import { menusOf } from "./simulate/menus.js";
import { checkOptions, invalid, type SimulateOptions } from "./simulate/options.js";
import type { Faults, Schedule } from "./simulate/schedule.js";
import { Cast, type Setup } from "./simulate/setup.js";
import { shrink } from "./simulate/shrink.js";
import { storyOf } from "./simulate/story.js";

export type { SimulateOptions } from "./simulate/options.js";

/** What was tried, and held. */
export interface SimulationReport {
  /** How many schedules were tried. */
  readonly schedules: number;
  /** Whether those were all that there are within `faults` and `maxFaults`. */
  readonly exhaustive: boolean;
  /** Every schedule with so many turns or fewer was tried. Absent where one was replayed. */
  readonly completeTo?: number;
  /**
   * How the run stood where nothing happened to it. One that does not come to its writes by itself proves little about
   * them. Absent where one was replayed.
   */
  readonly plainly?: RunResult["status"];
  readonly seed: number;
}

/** A schedule that breaks what must hold: the shortest that was found. */
export interface Violation {
  readonly problem: string;
  /** Shows it again, as `replay`. */
  readonly schedule: Schedule;
  /** What happened, one line a step. */
  readonly story: readonly string[];
  readonly journal: readonly JournalRecord[];
  /** Of a run that came to its end. */
  readonly result?: RunResult;
}

/** Thrown by `simulate`; the message tells the whole story. Its `cause` is what `check` threw, where it did. */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  // No fields: the message tells it, and test runners print the fields of an error.
  readonly #violation: Violation;
  readonly #report: SimulationReport;

  /** @param cause what `check` threw, where it did */
  constructor(violation: Violation, report: SimulationReport, cause?: unknown) {
    const { problem, story, schedule } = violation;
    const steps = story.map((line, index) => `  ${index + 1}. ${line}`).join("\n");
    const replay = `Show it again with replay:\n${JSON.stringify(schedule)}`;
    // An error that has a cause that is undefined is told with it.
    super(`${problem}\n\nWhat happened:\n${steps}\n\n${replay}`, cause === undefined ? {} : { cause });
    this.#violation = violation;
    this.#report = report;
  }

  get violation(): Violation {
    return this.#violation;
  }

  /** What was tried up to then. */
  get report(): SimulationReport {
    return this.#report;
  }
}

const oneOfEach: Faults = {
  crash: 1,
  leave: 1,
  takeover: 1,
  outage: 1,
  cancel: 1,
  fail: 1,
  doubt: 1,
  slow: 1,
  answer: 1,
  order: 1,
};

/** Fake states begin anew with every schedule, so simulations take turns. */
const turn = new Section();

/**
 * Proves a workflow: runs it, by the engine that runs it in earnest, under every schedule of faults, and checks after each
 * that nothing was made twice, that every write is told of and undone as it should be, that only what was approved ran,
 * that a run whose process died ends as one that nothing happened to, and what `check` asks for.
 *
 * The store has no leases, so that any process may take the run over from any other. Nothing takes real time, and the
 * same call tries the same schedules. A run that is not at its end after 5,000 calls, answers and waits is taken to be
 * endless, which is a violation.
 *
 * @returns what was tried, when all of it held
 * @throws SimulationError for the shortest schedule found that breaks something. ToolweaveError `INVALID_OPTIONS`, also
 *   for a `replay` that names what never comes, and for `answers` that do not fit; what `runWorkflow` throws before a run
 *   begins.
 */
export function simulate<Input>(
  workflow: Workflow<Input>,
  options: SimulateOptions<NoInfer<Input>>,
): Promise<SimulationReport> {
  return turn.hold(() => simulateAlone(workflow, options));
}

async function simulateAlone<Input>(
  workflow: Workflow<Input>,
  options: SimulateOptions<Input>,
): Promise<SimulationReport> {
  const { limit = 2_000, seed = 1, replay } = options;
  const setup = setupOf(workflow, options);
  const trial = new Trial(setup);
  if (replay !== undefined) {
    const tried = await trial.play(replay);
    const [unmet] = tried.played.course.unmet;
    if (unmet !== undefined) throw invalid(whyUnmet(unmet));
    const report = { schedules: 1, exhaustive: false, seed };
    const broken = tried.broken && (await trial.confirm(replay, tried));
    if (broken !== undefined) throw errorOf(broken, report);
    return report;
  }
  const { isExhaustive, completeTo, plainly, broken } = await explore(trial, setup, { limit, seed });
  const report = { schedules: trial.count, exhaustive: isExhaustive, completeTo, seed, ...(plainly && { plainly }) };
  if (broken !== undefined) throw errorOf(await shrink(trial, broken), report);
  return report;
}

function setupOf<Input>(workflow: Workflow<Input>, options: SimulateOptions<Input>): Setup {
  const { input, tools, policy, answers = {}, check, maxFaults = 2, workflows = [] } = options;
  const real = tools.find((tool: Tool) => !isFakeTool(tool));
  if (real !== undefined) throw invalid(`tool ${real.name} has to be made by fakeTool`);
  const faults = { ...oneOfEach, ...options.faults };
  const others = isWorkflow(workflows) ? [workflows] : workflows;
  checkOptions(workflow, others, options, Object.keys(oneOfEach));
  return {
    workflow,
    workflows: [workflow, ...others.filter(({ name }) => name !== workflow.name)],
    input,
    cast: new Cast(tools),
    policy,
    answers,
    menus: menusOf(faults),
    faults,
    maxFaults,
    check,
  };
}

function whyUnmet({ at, take, menu }: Unmet): string {
  if (menu === undefined) return `replay names ${take} at ${at}, and the run never comes there`;
  const takes = menu.map((option) => JSON.stringify(option.take)).join(", ");
  return `replay names ${take} at ${at}; what can be taken there is ${takes}`;
}

function errorOf({ problem, schedule, played }: Broken, report: SimulationReport): SimulationError {
  const { witness, result } = played;
  const { journal, cause } = witness;
  const violation = { problem, schedule, story: storyOf(played), journal, ...(result && { result }) };
  return new SimulationError(violation, report, cause);
}
