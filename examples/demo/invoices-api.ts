import { type Server, startJsonServer } from "./json-server.js";

interface Invoice {
  number: string;
  supplier: string;
  amount: number;
  status: "overdue" | "due" | "disputed";
  issued: string;
}

/** The bookkeeper's system: it knows the invoices, newest first, and closes no month in which one is disputed. */
export function startInvoicesApi(): Promise<Server> {
  const invoices: Invoice[] = [
    { number: "INV-1042", supplier: "Northwind Paper", amount: 120, status: "overdue", issued: "2030-01-28" },
    { number: "INV-1040", supplier: "Brightwell Cleaning", amount: 90, status: "due", issued: "2030-01-25" },
    { number: "INV-1039", supplier: "Payroll bureau", amount: 5400, status: "due", issued: "2030-01-25" },
    { number: "INV-1037", supplier: "Fernsprech", amount: 45, status: "due", issued: "2030-01-20" },
    { number: "INV-1033", supplier: "Cellar Wines", amount: 310, status: "disputed", issued: "2030-01-12" },
    { number: "INV-1021", supplier: "Northwind Paper", amount: 80, status: "overdue", issued: "2030-01-03" },
  ];

  return startJsonServer(({ route, query }) => {
    if (route === "GET /invoices") {
      const status = query.get("status");
      return { status: 200, body: invoices.filter((invoice) => status === null || invoice.status === status) };
    }
    if (route === "POST /months/close") {
      const disputed = invoices.find((invoice) => invoice.status === "disputed");
      if (disputed === undefined) return { status: 200, body: { closed: true } };
      return {
        status: 409,
        body: { error: `Invoice ${disputed.number} is disputed. Settle it before the month is closed.` },
      };
    }
    return { status: 404, body: { error: `There is no ${route}.` } };
  });
}
