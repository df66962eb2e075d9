import { describe, test } from "vitest";
import {
  type StoreConformanceOptions,
  type StoreUnderTest,
  storeConformance,
} from "../../src/testing/store-conformance.js";

export function conform(
  makeStore: () => StoreUnderTest | Promise<StoreUnderTest>,
  options?: StoreConformanceOptions,
): void {
  describe("conforms to RunStore", () => {
    for (const { name, skipped, run } of storeConformance(makeStore, options)) test.skipIf(skipped)(name, run);
  });
}
