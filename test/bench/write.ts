import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Measured } from "./measure.js";
import { lineOf, machine, markdownTable } from "./report.js";

const readme = fileURLToPath(new URL("../../README.md", import.meta.url));
const section = /(<!-- benchmarks -->\n)[\s\S]*(<!-- end of benchmarks -->)/;

/** Puts what was measured into the README, between its marks. */
export function writeReadme(all: readonly Measured[]): void {
  const text = readFileSync(readme, "utf8");
  if (!section.test(text)) throw new Error("README.md has no section between the marks of benchmarks.");
  const date = new Date().toISOString().slice(0, 10);
  const chart = "![How many times less each costs in Toolweave](docs/benchmarks.svg)";
  const told = `\`npm run bench -- --write --chart\` on ${date}: ${machine()}.`;
  const body = `${chart}\n\n${markdownTable(all.map(lineOf))}\n\n${told}\n`;
  writeFileSync(
    readme,
    text.replace(section, (_, start: string, end: string) => `${start}\n${body}\n${end}`),
  );
}
