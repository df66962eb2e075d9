// Every write is asked about, unless a policy decides. The person sees what will be sent, may change it, and what runs is
// what they approved.
import { defineTool, defineWorkflow, formatQuestion, runWorkflow } from "toolweave";
import { fakeClock } from "toolweave/testing";
import { z } from "zod";

const orderFlowers = defineTool({
  name: "order_flowers",
  title: "Order flowers",
  site: "Flower shop",
  inputSchema: z.strictObject({ to: z.string(), stems: z.int().positive(), card: z.string() }),
  effect: "write",
  preview: ({ to }) => ({ page: `Delivery to ${to}`, labels: { stems: "Number of roses" } }),
  execute: ({ stems }) => ({ order: "F-88", stems }),
});

const congratulate = defineWorkflow({
  name: "congratulate",
  input_schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  steps: [
    {
      id: "order",
      tool: "order_flowers",
      inputs: { to: "{{input.name}}", stems: 500, card: "Dear {{input.name}},\nhappy birthday!" },
    },
  ],
});

const options = { tools: orderFlowers, input: { name: "Ada" }, runId: "birthday-2030", clock: fakeClock() };

for await (const event of runWorkflow(congratulate, options)) {
  if (event.type === "question" && event.kind === "approval") {
    console.log(formatQuestion(event));
    await event.answer({ decision: "approve", fields: { stems: 50 }, by: "grace", note: "Five hundred was a slip." });
  }
  if (event.type === "result") {
    const [write] = event.writes;
    console.log(`${event.status}: ${JSON.stringify(event.output)}`);
    console.log(`sent ${JSON.stringify(write?.fields)}, decided by ${write?.decidedBy}`);
  }
}
