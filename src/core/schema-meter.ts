import type { Schema as LooseSchema } from "@cfworker/json-schema";
import type { JsonValue } from "./json.js";
import { subschemas } from "./json-schema.js";

/** What one check may take; and more for each value within the value that is checked. */
const maxWork = 400_000;
const workPerValue = 1_000;
/** To hold one schema against one value, whatever the two are. */
const workPerApplication = 8;

export class TooMuchWork extends Error {}

/**
 * Counts the work of a check, and ends it when it grows beyond all measure: with each level of a value, references can
 * double the schemas that are held against it. A schema in use is changed by nothing but the meter that it belongs to.
 */
export class Meter {
  private left = Number.POSITIVE_INFINITY;
  /** The value that is being checked, until more is granted for its size. */
  private value: JsonValue | undefined;

  constructor(parts: Iterable<LooseSchema>) {
    for (const part of parts) {
      const work = workOf(part);
      // The library reads this keyword, which no schema here has, each time it holds the schema against a value.
      Object.defineProperty(part, "$recursiveRef", { get: () => this.spend(work) });
    }
  }

  /** @throws TooMuchWork */
  run<T>(value: JsonValue, check: () => T): T {
    this.left = maxWork;
    this.value = value;
    try {
      return check();
    } finally {
      this.left = Number.POSITIVE_INFINITY;
      this.value = undefined;
    }
  }

  private spend(work: number): undefined {
    this.left -= work;
    if (this.left < 0 && this.value !== undefined) {
      this.left += workPerValue * sizeOf(this.value);
      this.value = undefined;
    }
    if (this.left < 0) throw new TooMuchWork();
  }
}

/** What holding a schema against a value takes, the schemas within it left aside. */
function workOf(part: LooseSchema): number {
  let work = workPerApplication;
  for (const _ of subschemas(part)) work++;
  const { required, dependentRequired, enum: values, const: only } = part;
  // Each name that is missing is a fault of its own; the values are told in the fault.
  for (const names of [required, ...Object.values(dependentRequired ?? {})]) work += 8 * (names?.length ?? 0);
  for (const told of [values, only]) if (told !== undefined) work += JSON.stringify(told).length / 16;
  return work;
}

/** The number of values within a value, itself included. */
function sizeOf(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 1;
  let size = 1;
  for (const child of Object.values<JsonValue>(value)) size += sizeOf(child);
  return size;
}
