/** One of several processes that simulate in turn: every sample and example, then random documents, until its share is done. */
import fc from "fast-check";
import { modes } from "./drive-sample.js";
import { part, sampleOf } from "./random-sample.js";
import { simulatedExamples } from "./simulate-examples.js";
import { type Simulated, simulatedOf, simulatedSamples, simulateOne } from "./simulate-sample.js";

/** Sent to the parent; a problem is the last that is sent. */
export type Told = { readonly schedules: number } | { readonly problem: string };

// What no simulation looks at costs it time.
Error.stackTraceLimit = 0;

const [index = 0, processes = 1, schedules = 0] = process.argv.slice(2).map(Number);

const known = [...simulatedSamples, ...(await simulatedExamples())];

/** The documents of one process: as many as are asked for. */
function* documents(): Generator<{ one: Simulated; number: number }> {
  for (let number = index; ; number += processes) {
    const one = known[number];
    if (one !== undefined) {
      yield { one, number };
      continue;
    }
    const depth = number % 4 === 0 ? 2 : 1;
    const [parts = []] = fc.sample(fc.array(part(depth), { minLength: 1, maxLength: 3 }), { seed: number, numRuns: 1 });
    yield { one: simulatedOf(sampleOf(parts)), number };
  }
}

async function share(): Promise<void> {
  let done = 0;
  for (const { one, number } of documents()) {
    for (const mode of modes) {
      if (done >= schedules) return;
      try {
        const report = await simulateOne(one, mode, { limit: 1_000, seed: number });
        done += report.schedules;
        process.send?.({ schedules: report.schedules } satisfies Told);
      } catch (error) {
        const document = JSON.stringify([one.workflow, ...one.workflows]);
        const problem = `document ${number} (${one.name}), writes: ${mode}\n${String(error)}\n${document}`;
        process.send?.({ problem } satisfies Told);
        return;
      }
    }
  }
}

await share();
process.disconnect?.();
