import { type Server, startJsonServer } from "./json-server.js";

interface Payment {
  id: string;
  invoice: string;
  amount: number;
  state: "booked" | "sent_to_bank" | "void";
}

const sentAtOnceFrom = 1000;

/**
 * The bank's portal, which knows payments. It is busy at first; it makes the same payment once, however often it is sent
 * with one `idempotency-key`; and it sends large payments to the bank at once, which nobody can take back.
 */
export function startPaymentsPortal(): Promise<Server> {
  const payments = new Map<string, Payment>();
  const byKey = new Map<string, Payment>();
  let isBusy = true;

  return startJsonServer(({ route, headers, body }) => {
    if (route === "POST /payments") {
      if (isBusy) {
        isBusy = false;
        return { status: 503, body: { error: "The portal is busy." }, headers: { "retry-after": "1" } };
      }
      const key = String(headers["idempotency-key"]);
      const known = byKey.get(key);
      if (known !== undefined) return { status: 200, body: known };
      const { invoice, amount } = body;
      if (typeof invoice !== "string" || typeof amount !== "number" || amount <= 0) {
        return { status: 422, body: { error: "A payment needs an invoice, and an amount above 0." } };
      }
      const state = amount >= sentAtOnceFrom ? "sent_to_bank" : "booked";
      const payment: Payment = { id: `PAY-${payments.size + 1}`, invoice, amount, state };
      payments.set(payment.id, payment);
      byKey.set(key, payment);
      return { status: 201, body: payment };
    }
    if (route === "POST /payments/void") {
      const payment = payments.get(String(body.payment));
      if (payment === undefined) return { status: 404, body: { error: `There is no payment ${body.payment}.` } };
      if (payment.state === "sent_to_bank") {
        return {
          status: 409,
          body: { error: `Payment ${payment.id} is at the bank already. Ask for the money back.` },
        };
      }
      payment.state = "void";
      return { status: 200, body: payment };
    }
    return { status: 404, body: { error: `There is no ${route}.` } };
  });
}
