import { describe, test } from "vitest";
import {
  type StoreConformanceOptions,
  type StoreUnderTest,
  storeConformance,
} from "../../src/testing/store-conformance.js";

/** Runs the published cases, or those alone whose names match. */
export function conform(
  makeStore: () => StoreUnderTest | Promise<StoreUnderTest>,
  options?: StoreConformanceOptions & { only?: RegExp },
): void {
  describe("conforms to RunStore", () => {
    for (const { name, skipped, run } of storeConformance(makeStore, options)) {
      if (options?.only?.test(name) ?? true) test.skipIf(skipped)(name, run, 60_000);
    }
  });
}
