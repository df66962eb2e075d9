import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../src/core/freeze.js";

describe("deepFreeze", () => {
  test("freezes the value itself, and all that is in it", () => {
    const value = { list: [{ n: 1 }], none: null };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.list, value.list[0]].every((part) => Object.isFrozen(part))).toBe(true);
  });

  test("leaves functions alone, what is to be kept as it is, and what is frozen already", () => {
    const kept = { "~standard": {} };
    const inner = { n: 1 };
    const value = { run: () => 1, kept, done: Object.freeze({ inner }) };
    deepFreeze(value, (part) => part === kept);
    expect([value.run, kept, inner].some((part) => Object.isFrozen(part))).toBe(false);
    expect(Object.isFrozen(value)).toBe(true);
  });
});
