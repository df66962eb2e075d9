// A workflow is called like a tool, by name: once, or for each of a list. What it did is undone with its caller.
import { defineTool, defineWorkflow, runWorkflow } from "toolweave";

const tools = [
  defineTool({ name: "list_guests", effect: "read", execute: () => ["Ada", "Grace", "Edsger"] }),
  defineTool({ name: "find_seat", effect: "read", execute: ({ guest }) => ({ row: String(guest).length }) }),
  defineTool({ name: "reserve", effect: "write", execute: ({ row, guest }) => `row ${row} for ${guest}` }),
];

const seatGuest = defineWorkflow({
  name: "seat_guest",
  input_schema: { type: "object", properties: { guest: { type: "string" } }, required: ["guest"] },
  steps: [
    { id: "find", tool: "find_seat", inputs: { guest: "{{input.guest}}" } },
    { id: "reserve", tool: "reserve", inputs: { row: "{{steps.find.result.row}}", guest: "{{input.guest}}" } },
  ],
});

const seatEverybody = defineWorkflow({
  name: "seat_everybody",
  steps: [
    { id: "guests", tool: "list_guests" },
    { id: "host", workflow: "seat_guest", inputs: { guest: "the host" } },
    {
      id: "each",
      for_each: { items: "{{steps.guests.result}}", workflow: "seat_guest", inputs: { guest: "{{item}}" } },
    },
  ],
  output: ["{{steps.host.result}}", "{{...steps.each.result}}"],
});

const options = { tools, workflows: seatGuest, policy: () => "approve" as const };

for await (const event of runWorkflow(seatEverybody, options)) {
  if (event.type === "step" && event.status === "completed") console.log(event.path);
  if (event.type === "result") console.log(JSON.stringify(event.output));
}
