import type { SimulateOptions, SimulationReport } from "../../src/testing/index.js";
import { simulate } from "../../src/testing/index.js";
import { type Mode, modes } from "./drive-sample.js";
import { approveAll } from "./person.js";
import { post, put, type Sample, sample } from "./sample.js";
import { samples } from "./samples.js";
import { fakeTools } from "./simulate-world.js";

/** Every sample that the laws know, and small ones in which every schedule of two faults can be tried. */
export const simulated: readonly Sample[] = [
  ...samples,
  sample("edited", { steps: [put("pay", { give: 1 })] }),
  sample("posted", { steps: [post("tell", {}, { retries: 1 })] }),
];

/** Simulates a sample; a person of mode `ask` may also change what it writes. */
export function simulateSample(
  { workflow, workflows, input }: Sample,
  mode: Mode,
  options: Pick<SimulateOptions, "limit" | "seed" | "maxFaults">,
): Promise<SimulationReport> {
  return simulate(workflow, {
    tools: fakeTools,
    workflows,
    input,
    answers: { pay: [{ give: 2 }] },
    ...(mode === "approve" ? { policy: approveAll } : {}),
    ...options,
  });
}

/** What breaks in the samples of these names, if anything. */
export async function firstProblem(names: readonly string[], limit: number): Promise<string | undefined> {
  for (const name of names) {
    for (const mode of modes) {
      const sample = simulated.find((one) => one.name === name);
      if (sample === undefined) throw new Error(`There is no sample ${name}.`);
      try {
        await simulateSample(sample, mode, { limit });
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    }
  }
  return undefined;
}
