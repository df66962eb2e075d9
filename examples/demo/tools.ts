import { defineTool, type Tool, type ToolCallContext, ToolError } from "toolweave";
import { z } from "zod";

/** The tools that a host makes of its two systems. Addresses and secrets stay with it: a workflow never sees them. */
export function makeTools(invoicesUrl: string, portalUrl: string): Tool[] {
  const invoices = { site: "Invoices API" };
  const portal = { site: "Payments portal" };
  return [
    defineTool({
      ...invoices,
      name: "list_invoices",
      description: "Lists invoices, the newest first.",
      effect: "read",
      inputSchema: z.strictObject({ status: z.enum(["overdue", "due", "disputed"]) }),
      execute: ({ status }, context) => request(`${invoicesUrl}/invoices?status=${status}`, { method: "GET" }, context),
    }),
    defineTool({
      ...invoices,
      name: "close_month",
      title: "Close a month",
      effect: "write",
      inputSchema: z.strictObject({ month: z.string().regex(/^\d{4}-\d{2}$/) }),
      execute: (inputs, context) => request(`${invoicesUrl}/months/close`, post(inputs, context), context),
    }),
    defineTool({
      ...portal,
      name: "record_payment",
      effect: "write",
      // The portal makes one payment for one key, so a call of which nobody knows how it went can be made again.
      idempotent: true,
      inputSchema: z.strictObject({ invoice: z.string(), amount: z.number().positive() }),
      preview: ({ invoice }) => ({
        page: "Payments portal, new payment",
        action: `Pay invoice ${invoice}`,
        labels: { invoice: "Invoice number", amount: "Amount in euros" },
      }),
      execute: (inputs, context) => request(`${portalUrl}/payments`, post(inputs, context), context),
    }),
    defineTool({
      ...portal,
      name: "void_payment",
      title: "Void a payment",
      effect: "write",
      idempotent: true,
      inputSchema: z.strictObject({ payment: z.string() }),
      execute: (inputs, context) => request(`${portalUrl}/payments/void`, post(inputs, context), context),
    }),
  ];
}

function post(inputs: object, { idempotencyKey }: ToolCallContext): RequestInit {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  return { method: "POST", headers, body: JSON.stringify(inputs) };
}

/**
 * Sends a request, and says what a failure means. A connection that is cut needs no words: the engine reads what `fetch`
 * throws, and holds a write to be in doubt then.
 */
async function request(url: string, init: RequestInit, { signal }: ToolCallContext): Promise<unknown> {
  const response = await fetch(url, { ...init, signal });
  if (response.ok) return response.json();
  const { status } = response;
  const message = `${status}: ${await errorOf(response)}`;
  // It says that it did nothing, and when to come again.
  if (status === 429 || status === 503) {
    throw new ToolError(message, { outcome: "not_applied", retryAfterMs: secondsToWait(response) * 1000 });
  }
  // It understood, and said no: asking again is useless.
  if (status < 500) throw new ToolError(message, { outcome: "refused" });
  // It broke on the way, nobody knows how far it came.
  throw new ToolError(message, { outcome: "in_doubt" });
}

async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return z.object({ error: z.string() }).parse(JSON.parse(text)).error;
  } catch {
    return text.slice(0, 200);
  }
}

function secondsToWait(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return Number.isFinite(seconds) ? seconds : 0;
}
