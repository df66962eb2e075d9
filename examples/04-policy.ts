// A policy is asked before every write, undos included: it approves, rejects, or has a person asked.
import { defineTool, defineWorkflow, type Policy, runToEnd } from "toolweave";

const sendMail = defineTool({
  name: "send_mail",
  effect: "write",
  site: "Mail",
  execute: ({ to }) => `sent to ${to}`,
});

const policy: Policy = ({ tool, fields }) => {
  if (tool !== "send_mail") return "ask";
  const to = String(fields.to);
  if (to.endsWith("@example.test")) return "approve";
  if (to === "everybody@example.org") return { decision: "reject", reason: "nobody writes to everybody" };
  return { decision: "ask", reason: "this mail leaves the house", expiresAfterMs: 60 * 60 * 1000 };
};

const mail = defineWorkflow({
  name: "mail",
  input_schema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  steps: [{ id: "send", tool: "send_mail", inputs: { to: "{{input.to}}", text: "The doors open at nine." } }],
});

for (const to of ["team@example.test", "everybody@example.org", "guest@example.com"]) {
  const { status, error, questions, writes } = await runToEnd(mail, { tools: sendMail, policy, input: { to } });
  console.log(`${to}: ${status}`);
  for (const { state, decidedBy } of writes) console.log(`  ${state}, decided by ${decidedBy}`);
  if (error !== undefined) console.log(`  ${error.message}`);
  for (const question of questions ?? []) {
    if (question.kind === "approval") console.log(`  waits for a person: ${question.reason}`);
  }
}
