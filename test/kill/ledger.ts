// A payments service on loopback, in a process of its own: it outlives whoever calls it, and says what really happened.
// It tells its parent its port, and ends with it.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerCall, LedgerEntry } from "./ledger-client.js";

const entries: LedgerEntry[] = [];
const tries = new Map<string, number>();
let inFlight = 0;

const server = createServer((request, response) => {
  // Whoever dies in the midst of asking has not asked.
  serve(request, response).catch(() => response.destroy());
});

// A connection that lies idle is the caller's to close: one that is closed just as it is used again looks like a lost call.
server.keepAliveTimeout = 0;

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await textOf(request));
  if (request.url === "/call") return call(body, response);
  if (request.url === "/settle") {
    while (inFlight > 0) await sleep(2);
    return answer(response, {});
  }
  const asked = entries.filter(({ memo }) => memo.startsWith(body.prefix));
  answer(response, asked);
}

async function call(request: LedgerCall, response: ServerResponse): Promise<void> {
  if (request.hold !== undefined) return hold(request, response);
  // What was sent comes to its effect, also when the caller no longer listens.
  inFlight += 1;
  await sleep(request.paceMs);
  const said = effectOf(request);
  await sleep(request.paceMs);
  inFlight -= 1;
  answer(response, said);
}

/** Takes the call and never answers. The caller learns that it is held from the head of the response. */
function hold(request: LedgerCall, response: ServerResponse): void {
  if (request.hold === "applied") effectOf(request);
  if (request.hold === "late") {
    inFlight += 1;
    response.on("close", () => {
      effectOf(request);
      inFlight -= 1;
    });
  }
  response.writeHead(200, { "x-held": "yes" }).flushHeaders();
}

function effectOf({ tool, memo, inputs }: LedgerCall): object {
  if (tool === "find") return { result: { due: inputs.to ?? null } };
  const nth = (tries.get(memo) ?? 0) + 1;
  tries.set(memo, nth);
  if (inputs.refuse === true) return { refused: "The account is closed." };
  if (inputs.flaky === true && nth === 1) return { unavailable: "The counter is closed for a moment." };
  const isIdempotent = tool === "pay_once" || tool === "void_once";
  const known = isIdempotent ? entries.find((entry) => entry.memo === memo) : undefined;
  if (known !== undefined) return { result: known.result };
  const result = { id: `${tool}-${entries.length + 1}` };
  entries.push({ tool, memo, inputs, result });
  return { result };
}

function answer(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
process.on("disconnect", () => process.exit());
