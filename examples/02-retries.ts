// A tool says what its failure means. What may pass by itself is tried again, after 1, 2 and 4 seconds or when the tool
// says so; a refusal is not. The clock is a fake one, so that nobody waits.
import { defineTool, defineWorkflow, runWorkflow, ToolError } from "toolweave";
import { fakeClock } from "toolweave/testing";

let calls = 0;
const readMeter = defineTool({
  name: "read_meter",
  effect: "read",
  execute() {
    calls += 1;
    if (calls === 1) throw new Error("The meter does not answer.");
    if (calls === 2) throw new ToolError("The meter is busy.", { retryAfterMs: 5_000 });
    return { kwh: 1273 };
  },
});

const bill = defineTool({
  name: "bill",
  effect: "read",
  execute() {
    throw new ToolError("There is no such customer.", { outcome: "refused" });
  },
});

const workflow = defineWorkflow({
  name: "read_and_bill",
  steps: [
    { id: "meter", tool: "read_meter", retries: 3 },
    { id: "bill", tool: "bill", retries: 3, inputs: { kwh: "{{steps.meter.result.kwh}}" } },
  ],
});

for await (const event of runWorkflow(workflow, { tools: [readMeter, bill], clock: fakeClock() })) {
  if (event.type === "step") {
    const { stepId, status, attempt, delayMs, error } = event;
    const more = delayMs === undefined ? "" : `, again in ${delayMs / 1000} s`;
    console.log(`${stepId} ${attempt}: ${status}${error === undefined ? "" : `, ${error.message}`}${more}`);
  }
}
