// A test of a workflow needs no server and no time: scripted tools say what happens, and the fake clock does not wait.
import assert from "node:assert/strict";
import { defineWorkflow, runToEnd, ToolError } from "toolweave";
import { fakeClock, scriptedTool } from "toolweave/testing";

const workflow = defineWorkflow({
  name: "move_money",
  steps: [
    {
      id: "take",
      tool: "take",
      inputs: { amount: 50 },
      compensate: { tool: "give_back", inputs: { receipt: "{{steps.take.result.receipt}}" } },
    },
    { id: "wait", sleep_ms: 86_400_000 },
    { id: "give", tool: "give", inputs: { amount: 50 }, retries: 2 },
  ],
});

function tools(give: Parameters<typeof scriptedTool>[0]["script"]) {
  return {
    take: scriptedTool({ name: "take", script: [{ receipt: "R-1" }] }),
    giveBack: scriptedTool({ name: "give_back", script: [null] }),
    give: scriptedTool({ name: "give", script: give }),
  };
}

async function run({ take, giveBack, give }: ReturnType<typeof tools>) {
  const clock = fakeClock();
  const result = await runToEnd(workflow, { tools: [take, giveBack, give], clock, policy: () => "approve" });
  return { result, waits: clock.waits };
}

{
  const scripted = tools([new Error("The line is busy."), "given"]);
  const { result, waits } = await run(scripted);
  assert.equal(result.status, "completed");
  assert.deepEqual(waits, [86_400_000, 1_000]);
  assert.equal(scripted.give.calls[0]?.idempotencyKey, scripted.give.calls[1]?.idempotencyKey);
  console.log("what fails once is tried again, with the same key");
}

{
  const scripted = tools([new ToolError("The account is closed.", { outcome: "refused" })]);
  const { result } = await run(scripted);
  assert.equal(result.error?.code, "TOOL_REFUSED");
  assert.deepEqual(scripted.giveBack.calls[0]?.inputs, { receipt: "R-1" });
  assert.deepEqual(
    result.writes.map(({ stepId, state }) => `${stepId} ${state}`),
    ["take undone", "give failed"],
  );
  console.log("what is refused is not, and the money goes back");
}
