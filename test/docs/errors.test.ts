import { describe, expect, it } from "vitest";
import { errorCodes } from "../../src/core/errors.js";
import { readPage } from "./markdown.js";

const entries = readPage("docs/errors.md")
  .split(/^### /m)
  .slice(1)
  .map((entry) => ({ code: entry.slice(0, entry.indexOf("\n")).trim(), text: entry }));

describe("docs/errors.md", () => {
  it("has one entry for every code, in the order of the list, and none besides", () => {
    expect(entries.map(({ code }) => code)).toEqual([...errorCodes]);
  });

  it.each(entries)("$code says when it comes, and its remedy", ({ text }) => {
    expect(text).toMatch(/^\S+\n\n\S[\s\S]*\n\n\*\*Remedy:\*\* \S/);
  });
});
