import type { JsonValue } from "../../src/core/json.js";
import type { FakeTool, SimulateOptions, SimulationReport } from "../../src/testing/index.js";
import { simulate } from "../../src/testing/index.js";
import { type Mode, modes } from "./drive-sample.js";
import { approveAll } from "./person.js";
import { post, put, type Sample, sample } from "./sample.js";
import { samples } from "./samples.js";
import { fakeTools } from "./simulate-world.js";

/** A workflow, and the tools that it is simulated with. */
export interface Simulated extends Pick<Sample, "name" | "workflow" | "workflows"> {
  readonly input: unknown;
  readonly tools: readonly FakeTool[];
  readonly answers?: Readonly<Record<string, readonly JsonValue[]>>;
}

export function simulatedOf(given: Sample): Simulated {
  return { ...given, tools: fakeTools };
}

/** Every sample that the laws know, and small ones in which every schedule of two faults can be tried. */
export const simulatedSamples: readonly Simulated[] = [
  ...samples.map(simulatedOf),
  { ...simulatedOf(sample("edited", { steps: [put("pay", { give: 1 })] })), answers: { pay: [{ give: 2 }] } },
  simulatedOf(sample("posted", { steps: [post("tell", {}, { retries: 1 })] })),
];

export function simulateOne(
  { workflow, workflows, input, tools, answers }: Simulated,
  mode: Mode,
  options: Pick<SimulateOptions, "limit" | "seed" | "maxFaults">,
): Promise<SimulationReport> {
  const policy = mode === "approve" ? { policy: approveAll } : {};
  return simulate(workflow, { tools, workflows, input, answers, ...policy, ...options });
}

/** What breaks in the samples of these names, if anything. */
export async function firstProblem(names: readonly string[], limit: number): Promise<string | undefined> {
  for (const name of names) {
    for (const mode of modes) {
      const one = simulatedSamples.find((known) => known.name === name);
      if (one === undefined) throw new Error(`There is no sample ${name}.`);
      try {
        await simulateOne(one, mode, { limit });
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    }
  }
  return undefined;
}
