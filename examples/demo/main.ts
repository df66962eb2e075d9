// Two systems, two workflows, one person. `npm run demo` runs it; without a terminal a policy answers for the person.
import { createInterface } from "node:readline";
import {
  type Answer,
  defineWorkflow,
  formatQuestion,
  type Policy,
  type Question,
  type RunOptions,
  runWorkflow,
  type Workflow,
} from "toolweave";
import closeMonthDocument from "./close_month.json" with { type: "json" };
import { startInvoicesApi } from "./invoices-api.js";
import payNewestOverdueDocument from "./pay_newest_overdue.json" with { type: "json" };
import { startPaymentsPortal } from "./payments-portal.js";
import { paint, print, showPolicy, showResult, showStep } from "./show.js";
import { makeTools } from "./tools.js";

const hasPerson = process.stdin.isTTY === true && process.stdout.isTTY === true;
const askedFromEuros = 100;

/** A person decides about payments of 100 euros and more; the policy about all else, and about all when nobody is there. */
const policy: Policy = ({ path, tool, fields, purpose }) => {
  const isLarge = tool === "record_payment" && Number(fields.amount) >= askedFromEuros;
  if (hasPerson && isLarge && purpose === "step") return "ask";
  showPolicy(path, `${tool} ${JSON.stringify(fields)}`);
  return "approve";
};

async function askPerson(question: Question): Promise<Answer | undefined> {
  print();
  print(paint("bold", formatQuestion(question)));
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: "Approve? [y/n] " });
  terminal.prompt();
  try {
    for await (const line of terminal) {
      if (/^y(es)?$/i.test(line.trim())) return { decision: "approve", by: "you" };
      if (/^n(o)?$/i.test(line.trim())) return { decision: "reject", by: "you" };
      terminal.prompt();
    }
    // The person closed the terminal: the question stays open, and the run waits.
    return undefined;
  } finally {
    terminal.close();
    print();
  }
}

async function show<Input>(workflow: Workflow<Input>, options: RunOptions<Input>): Promise<void> {
  print(`${paint("bold", workflow.name)}: ${workflow.description}`);
  print();
  for await (const event of runWorkflow(workflow, options)) {
    if (event.type === "step") showStep(event);
    if (event.type === "result") showResult(event);
    if (event.type === "question") {
      const answer = await askPerson(event);
      if (answer !== undefined) await event.answer(answer);
    }
  }
}

if (!hasPerson) print("There is no terminal to ask at: a policy approves every write in a person's place.\n");

const [invoices, portal] = await Promise.all([startInvoicesApi(), startPaymentsPortal()]);
try {
  const options = { tools: makeTools(invoices.url, portal.url), policy };
  await show(defineWorkflow(payNewestOverdueDocument), { ...options, input: { amount: 120 } });
  await show(defineWorkflow(closeMonthDocument), options);
} finally {
  await Promise.all([invoices.close(), portal.close()]);
}
