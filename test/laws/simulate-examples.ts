import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import closeMonth from "../../examples/demo/close_month.json" with { type: "json" };
import { startInvoicesApi } from "../../examples/demo/invoices-api.js";
import payNewestOverdue from "../../examples/demo/pay_newest_overdue.json" with { type: "json" };
import { startPaymentsPortal } from "../../examples/demo/payments-portal.js";
import { makeTools } from "../../examples/demo/tools.js";
import { defineWorkflow } from "../../src/core/define.js";
import { isWorkflow } from "../../src/core/document.js";
import type { ToolInfo } from "../../src/ports/tool-adapter.js";
import { fakeTool } from "../../src/testing/fake-tool.js";
import { approveAll } from "./person.js";
import { type Collected, collected, type Outcomes, runToEnd } from "./simulate-collect.js";
import type { Simulated } from "./simulate-sample.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Every workflow and dispatch that an example or the demo runs, with tools that do what its own tools did. */
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
      found.push(...simulatedOf(file));
    }
    await runDemo();
    found.push(...simulatedOf("demo"));
    return found;
  } finally {
    console.log = log;
    rmSync(folder, { recursive: true });
  }
}

async function runDemo(): Promise<void> {
  const [invoices, portal] = await Promise.all([startInvoicesApi(), startPaymentsPortal()]);
  try {
    const options = { tools: makeTools(invoices.url, portal.url), policy: approveAll };
    await runToEnd(defineWorkflow(payNewestOverdue), { ...options, input: { amount: 120 } });
    await runToEnd(defineWorkflow(closeMonth), options);
  } finally {
    await Promise.all([invoices.close(), portal.close()]);
  }
}

function simulatedOf(name: string): Simulated[] {
  // A run that called nothing was refused, or rejected.
  const ran = collected.splice(0).filter(({ tools }) => [...tools.values()].some(({ results }) => results.size > 0));
  return ran.map((one) => simulatedAs(name, one));
}

function simulatedAs(name: string, { workflow, input, workflows, tools }: Collected): Simulated {
  return {
    name,
    workflow,
    workflows: isWorkflow(workflows) ? [workflows] : workflows,
    input,
    tools: Array.from(tools.values(), ({ tool, ...outcomes }) =>
      fakeTool({ ...infoOf(tool), execute: (inputs) => again(outcomes, JSON.stringify(inputs)) }),
    ),
  };
}

/** What a call with these inputs came to; of inputs that were not seen, what another call did. */
function again({ results, errors }: Outcomes, key: string): unknown {
  if (!results.has(key) && errors.has(key)) throw errors.get(key);
  return results.get(key) ?? [...results.values()].at(-1) ?? null;
}

function infoOf({ name, title, description, inputSchema, version, effect, idempotent, site, preview }: ToolInfo) {
  return { name, title, description, inputSchema, version, effect, idempotent, site, preview };
}
