import { appendCases } from "./store-conformance/append.js";
import { type Capability, type CaseDefinition, type Subject, trialOf } from "./store-conformance/case.js";
import { dataCases } from "./store-conformance/data.js";
import { deleteCases } from "./store-conformance/delete.js";
import { leaseCases } from "./store-conformance/lease.js";
import { listCases } from "./store-conformance/list.js";
import { raceCases } from "./store-conformance/race.js";
import { readCases } from "./store-conformance/read.js";
import { watchCases } from "./store-conformance/watch.js";

/** What a case is run against. */
export interface StoreUnderTest extends Subject {
  /** Called once after the case, whether it failed or not. */
  dispose?(): void | Promise<void>;
}

export interface StoreConformanceOptions {
  /**
   * What the store does not offer: `"lease"`, `"watch"`, or, where `makeStore` gives none, `"reopen"`. Their cases are
   * listed as skipped. What is not named here is expected to be there. @default []
   */
  readonly without?: readonly Capability[];
}

export interface StoreConformanceCase {
  readonly name: string;
  /** Why there is nothing to run. */
  readonly skipped?: string;
  /** Rejects, with an error that says what was expected, when the store does not conform. */
  run(): Promise<void>;
}

const definitions: readonly CaseDefinition[] = [
  ...appendCases,
  ...raceCases,
  ...readCases,
  ...dataCases,
  ...listCases,
  ...deleteCases,
  ...leaseCases,
  ...watchCases,
];

/**
 * The cases that every `RunStore` passes, for any test framework to run, in any order and also at the same time. Each
 * makes a store of its own.
 */
export function storeConformance(
  makeStore: () => StoreUnderTest | Promise<StoreUnderTest>,
  options: StoreConformanceOptions = {},
): readonly StoreConformanceCase[] {
  const { without = [] } = options;
  return definitions.map(({ name, needs, check }) => ({
    name,
    ...(needs && without.includes(needs) && { skipped: `the store is without ${needs}` }),
    async run() {
      const subject = await makeStore();
      try {
        await check(trialOf(subject));
      } finally {
        await subject.dispose?.();
      }
    },
  }));
}
