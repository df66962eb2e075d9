// A unit test that tries what nobody thinks of: simulate runs a workflow under every schedule of faults, up to a bound,
// and gives back the shortest one that breaks something.
import assert from "node:assert/strict";
import { defineWorkflow } from "toolweave";
import { fakeState, fakeTool, SimulationError, simulate } from "toolweave/testing";

const payInvoice = defineWorkflow({
  name: "pay_invoice",
  steps: [
    { id: "find", tool: "find_invoice" },
    { id: "pay", tool: "pay", inputs: { invoice: "{{steps.find.result.number}}" } },
  ],
});

const books = fakeState<{ payments: { invoice: string; key: string }[] }>({ payments: [] });

const find = fakeTool({ name: "find_invoice", effect: "read", execute: () => ({ number: "INV-7" }) });

/** The API behind it takes an idempotency key, or is said to. */
const pay = (honoursKeys: boolean) =>
  fakeTool({
    name: "pay",
    idempotent: true,
    execute({ invoice }, { idempotencyKey: key }) {
      const { payments } = books.value;
      if (!honoursKeys || payments.every((payment) => payment.key !== key))
        payments.push({ invoice: String(invoice), key });
      return { invoice };
    },
  });

const faults = { faults: { takeover: 0 }, policy: () => "approve" as const };

try {
  await simulate(payInvoice, { tools: [find, pay(false)], ...faults });
} catch (error) {
  assert.ok(error instanceof SimulationError);
  console.log(error.message);
}

const report = await simulate(payInvoice, {
  tools: [find, pay(true)],
  ...faults,
  limit: 300,
  check: () => assert.ok(books.value.payments.length <= 1),
});
console.log(`\nwith an API that looks at the key: ${report.schedules} schedules, and none pays twice`);
