import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isWorkflow } from "../../src/core/document.js";
import type { ToolInfo } from "../../src/ports/tool-adapter.js";
import { fakeTool } from "../../src/testing/fake-tool.js";
import { type Collected, collected } from "./simulate-collect.js";
import type { Simulated } from "./simulate-sample.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Every workflow that a numbered example runs, with tools that return what its own tools returned. */
export async function simulatedExamples(): Promise<Simulated[]> {
  const folder = mkdtempSync(`${root}test/laws/.snippets-`);
  const { log } = console;
  console.log = () => undefined;
  try {
    const found: Simulated[] = [];
    for (const file of readdirSync(`${root}examples`).filter((name) => /^\d\d-.+\.ts$/.test(name))) {
      const text = readFileSync(`${root}examples/${file}`, "utf8");
      writeFileSync(`${folder}/${file}`, text.replace(/ from "toolweave";/g, ' from "../simulate-collect.js";'));
      await import(`${folder}/${file}`);
      // A run that called nothing was refused, or rejected.
      const ran = collected
        .splice(0)
        .filter(({ tools }) => [...tools.values()].some(({ results }) => results.size > 0));
      for (const one of ran) found.push(simulatedOf(file, one));
    }
    return found;
  } finally {
    console.log = log;
    rmSync(folder, { recursive: true });
  }
}

function simulatedOf(name: string, { workflow, options, tools }: Collected): Simulated {
  const { workflows = [], input } = options;
  return {
    name,
    workflow,
    workflows: isWorkflow(workflows) ? [workflows] : workflows,
    input,
    tools: Array.from(tools.values(), ({ tool, results }) =>
      fakeTool({
        ...infoOf(tool),
        execute: (inputs) => results.get(JSON.stringify(inputs)) ?? [...results.values()].at(-1) ?? null,
      }),
    ),
  };
}

function infoOf({ name, title, description, inputSchema, version, effect, idempotent, site, preview }: ToolInfo) {
  return { name, title, description, inputSchema, version, effect, idempotent, site, preview };
}
