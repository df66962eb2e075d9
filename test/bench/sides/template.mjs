import { microseconds } from "./timing.mjs";

const scope = {
  input: { amount: 120, customer: { name: "Ada" } },
  steps: { find: { result: [{ number: "INV-7", due: "2030-01-31", amount: 120 }] } },
};
const wanted = "Invoice INV-7 of Ada, due 2030-01-31: 120";
const times = 10_000;

/** Nanoseconds for one of many; `resolve` gives `value` each time. */
async function nanoseconds(value, resolve) {
  if (resolve() !== value) throw new Error(`${JSON.stringify(value)} is expected, not ${JSON.stringify(resolve())}.`);
  let last;
  const cost = await microseconds(times, () => {
    for (let index = 0; index < times; index++) last = resolve();
  });
  if (last !== value) throw new Error("Each time gives the same.");
  return cost * 1_000;
}

export async function toolweaveValue() {
  const { resolveTemplate } = await import("../dist/index.js");
  return nanoseconds("INV-7", () => resolveTemplate("{{steps.find.result.0.number}}", scope));
}

export async function lodash() {
  const { default: get } = await import("lodash/get.js");
  return nanoseconds("INV-7", () => get(scope, "steps.find.result.0.number"));
}

export async function toolweaveText() {
  const { resolveTemplate } = await import("../dist/index.js");
  const text =
    "Invoice {{steps.find.result.0.number}} of {{input.customer.name}}, due {{steps.find.result.0.due}}: {{input.amount}}";
  return nanoseconds(wanted, () => resolveTemplate(text, scope));
}

export async function mustache() {
  const { default: Mustache } = await import("mustache");
  const text =
    "Invoice {{&steps.find.result.0.number}} of {{&input.customer.name}}, due {{&steps.find.result.0.due}}: {{&input.amount}}";
  Mustache.parse(text);
  return nanoseconds(wanted, () => Mustache.render(text, scope));
}
