import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { modes } from "./drive-sample.js";
import { plantedFaults } from "./planted/faults.js";
import { Plot, places } from "./planted/plant.js";
import { part, sampleOf } from "./random-sample.js";
import { simulatedExamples } from "./simulate-examples.js";
import { simulatedOf, simulatedSamples, simulateOne } from "./simulate-sample.js";

/** `npm run test:laws` tries them all, each far longer. */
const limit = 10;

test.each(modes)("random workflows hold under schedules of faults, writes: %s", { timeout: 120_000 }, async (mode) => {
  const parts = fc.array(part(1), { minLength: 1, maxLength: 3 });
  for (const [seed, drawn] of fc.sample(parts, { seed: 1, numRuns: 6 }).entries()) {
    const report = await simulateOne(simulatedOf(sampleOf(drawn)), mode, { limit, seed });
    expect(report.schedules).toBeGreaterThan(1);
  }
});

test("every sample holds under schedules of faults", { timeout: 120_000 }, async () => {
  for (const [seed, one] of simulatedSamples.entries()) await simulateOne(one, "ask", { limit, seed });
});

test("every workflow of the examples holds under schedules of faults", { timeout: 120_000 }, async () => {
  const examples = await simulatedExamples();
  expect(examples.length).toBeGreaterThan(8);
  for (const [seed, one] of examples.entries()) await simulateOne(one, "approve", { limit, seed });
});

describe("planted faults", () => {
  const plot = new Plot();
  afterAll(() => plot.remove());

  test.each(plantedFaults)("$name: stands in the source once", (fault) => {
    expect(places(fault)).toBe(1);
  });

  test.each(plantedFaults.filter((_, index) => index % 13 === 0))("$name: is caught", { timeout: 120_000 }, (fault) => {
    expect(plot.caught(fault, 400)).not.toBe("");
  });
});
