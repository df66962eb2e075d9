import { expect, it } from "vitest";
import { nearest } from "../../src/core/nearest.js";

it.each<[string, string[], string | undefined]>([
  ["retrys", ["id", "retries", "when"], "retries"],
  ["retires", ["retries"], "retries"],
  ["stpes", ["name", "steps"], "steps"],
  ["rnu", ["run"], "run"],
  ["abdc", ["abd", "abcd"], "abd"],
  ["x".repeat(64), [`${"x".repeat(63)}y`], `${"x".repeat(63)}y`],
  ["tol", ["tool", "toll"], "tool"],
  ["id", ["is", "it"], "is"],
  ["same", ["same"], undefined],
  ["colour", ["colored", "color"], "color"],
  ["wholly", ["other"], undefined],
  ["x".repeat(65), ["x".repeat(64)], undefined],
  ["", ["a"], undefined],
  ["a", [], undefined],
])("%s among %j is %s", (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected);
});
