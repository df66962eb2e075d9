import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, readPage, root } from "./markdown.js";

const decisions = readdirSync(`${root}docs/decisions`).map((file) => `docs/decisions/${file}`);
const links = [...pages(), ...decisions, "CONTRIBUTING.md"].flatMap((page) =>
  [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, target = "", anchor]) => ({
    page,
    file: target === "" ? page : join(dirname(page), target),
    anchor,
  })),
);

describe("a link of the docs", () => {
  it.each(links)("from $page to $file leads somewhere", ({ file, anchor }) => {
    expect(existsSync(root + file)).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(file)).toContain(anchor);
  });
});

/** The anchors that GitHub makes of headings. */
function anchorsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
