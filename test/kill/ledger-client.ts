import { Agent, type IncomingMessage, request } from "node:http";
import type { JsonObject } from "../../src/core/json.js";

/** How a held call, which is never answered, comes to its effect: never, at once, or when the caller is gone. */
export type Hold = "unapplied" | "applied" | "late";

export interface LedgerCall {
  readonly tool: string;
  /** Says which call it is: the ledger's only way to tell two payments of one amount apart. */
  readonly memo: string;
  readonly inputs: JsonObject;
  /** How long it takes, before its effect and after it. */
  readonly paceMs: number;
  readonly hold?: Hold;
}

/** An effect, in the order in which they were applied. */
export interface LedgerEntry {
  readonly tool: string;
  readonly memo: string;
  readonly inputs: JsonObject;
  readonly result: JsonObject;
}

export type LedgerAnswer =
  | { readonly result: JsonObject }
  | { readonly refused: string }
  | { readonly unavailable: string };

const agent = new Agent({ keepAlive: true });

export class Ledger {
  constructor(readonly port: number) {}

  /** @param onHeld called when the ledger holds the call; it must not return. */
  async call(
    sent: LedgerCall,
    { signal, onHeld }: { signal: AbortSignal; onHeld: () => never },
  ): Promise<LedgerAnswer> {
    const response = await this.post("/call", sent, signal);
    if (response.headers["x-held"] !== undefined) onHeld();
    return JSON.parse(await textOf(response));
  }

  /** The effects whose memo begins so. */
  async entries(prefix: string): Promise<LedgerEntry[]> {
    return JSON.parse(await textOf(await this.post("/entries", { prefix })));
  }

  /** Resolves when no call is on its way any more: only then is what the ledger says the whole truth. */
  async settle(): Promise<void> {
    await textOf(await this.post("/settle", {}));
  }

  private post(path: string, body: unknown, signal?: AbortSignal): Promise<IncomingMessage> {
    const { port } = this;
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port, path, method: "POST", agent, ...(signal && { signal }) },
        resolve,
      );
      asked.on("error", reject);
      asked.end(JSON.stringify(body));
    });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}
