// When a step fails for good, the steps before it are undone, newest first. One that can't be undone is reported, and
// the others still are.
import { defineTool, defineWorkflow, runToEnd, ToolError } from "toolweave";

const log: string[] = [];
const write = (name: string, answer: (inputs: Record<string, unknown>) => unknown) =>
  defineTool({
    name,
    effect: "write",
    execute(inputs) {
      log.push(`${name} ${JSON.stringify(inputs)}`);
      return answer(inputs);
    },
  });

const tools = [
  write("book_flight", () => ({ ticket: "T-1" })),
  write("cancel_flight", () => null),
  write("book_room", () => ({ room: 12 })),
  write("cancel_room", () => {
    throw new ToolError("The hotel takes no cancellation that late.", { outcome: "refused" });
  }),
  write("rent_car", () => {
    throw new ToolError("There is no car left.", { outcome: "refused" });
  }),
];

const travel = defineWorkflow({
  name: "travel",
  steps: [
    {
      id: "flight",
      tool: "book_flight",
      compensate: { tool: "cancel_flight", inputs: { ticket: "{{steps.flight.result.ticket}}" } },
    },
    {
      id: "room",
      tool: "book_room",
      compensate: { tool: "cancel_room", inputs: { room: "{{steps.room.result.room}}" } },
    },
    { id: "car", tool: "rent_car" },
  ],
});

const { status, error, undoErrors, writes } = await runToEnd(travel, { tools, policy: () => "approve" });
for (const line of log) console.log(line);
console.log(`${status}: ${error?.message}`);
for (const { stepId, message } of undoErrors ?? []) console.log(`not undone, ${stepId}: ${message}`);
for (const { stepId, state } of writes) console.log(`${stepId}: ${state}`);
