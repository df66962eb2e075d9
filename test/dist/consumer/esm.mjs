import { defineTool, defineWorkflow, runToEnd } from "toolweave";
import { postgresStore } from "toolweave/postgres";
import { sqliteStore } from "toolweave/sqlite";
import { storeConformance } from "toolweave/testing";

const greet = defineTool({
  name: "greet",
  description: "Greets by name.",
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  effect: "read",
  execute: ({ name }) => `Hello, ${name}`,
});

const hello = defineWorkflow({
  name: "hello",
  steps: [{ id: "greet", tool: "greet", inputs: { name: "{{input.name}}" } }],
});

const { status, output } = await runToEnd(hello, { input: { name: "Ada" }, tools: greet });
const subpaths = [postgresStore, sqliteStore, storeConformance].map((member) => typeof member);
console.log(JSON.stringify({ status, output, subpaths }));
