/**
 * `npm run test:laws`: simulates documents of every kind under at least as many schedules as asked for (one million
 * without an argument), then plants one fault after another in a copy of the engine, and shows that each is caught.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { plantedFaults } from "./planted/faults.js";
import { Plot } from "./planted/plant.js";
import type { Told } from "./simulate-share.js";

const [wanted = 1_000_000] = process.argv.slice(2).map(Number);

interface Tally {
  schedules: number;
  simulations: number;
  readonly problems: string[];
}

function simulateAll(): Promise<Tally> {
  const tally: Tally = { schedules: 0, simulations: 0, problems: [] };
  const tell = (problem: string) => {
    tally.problems.push(problem);
    console.log(problem);
  };
  const processes = availableParallelism();
  const shares = Array.from({ length: processes }, (_, index) => {
    const file = fileURLToPath(new URL("simulate-share.ts", import.meta.url));
    const child = fork(file, [index, processes, Math.ceil(wanted / processes)].map(String), {
      // What a schedule leaves behind is young: with room for many of them it is seldom looked through.
      execArgv: ["--import", "tsx", "--max-semi-space-size=32"],
    });
    child.on("message", (told: Told) => {
      if ("problem" in told) {
        tell(told.problem);
        return;
      }
      tally.schedules += told.schedules;
      if (++tally.simulations % 10 === 0) console.log(`${tally.schedules} schedules so far`);
    });
    return new Promise<void>((resolve) => {
      child.on("exit", (code, signal) => {
        if (code !== 0) tell(`Process ${index} ended with ${signal ?? code}.`);
        resolve();
      });
    });
  });
  return Promise.all(shares).then(() => tally);
}

function plantAll(): string[] {
  const plot = new Plot();
  const missed: string[] = [];
  for (const fault of plantedFaults) {
    const problem = plot.caught(fault, 1_000);
    if (problem === "") missed.push(fault.name);
    console.log(`${problem === "" ? "MISSED" : "caught"}: ${fault.name}: ${problem.split("\n")[0]}`);
  }
  plot.remove();
  return missed;
}

const from = performance.now();
const { schedules, simulations, problems } = await simulateAll();
const seconds = (performance.now() - from) / 1_000;
const missed = plantAll();
console.log(`schedules: ${schedules}, in ${simulations} simulations, ${(schedules / seconds).toFixed(0)} a second`);
console.log(`violations: ${problems.length}`);
console.log(`planted faults caught: ${plantedFaults.length - missed.length} of ${plantedFaults.length}`);
process.exitCode = problems.length + missed.length === 0 ? 0 : 1;
