import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { type CallToolRequest, CallToolRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { listen, readJson } from "./model-server.js";

/** What a handler of calls is told beside the request. */
export type Extra = Parameters<Parameters<Server["setRequestHandler"]>[1]>[1];

/** A server of the SDK over streamable HTTP, with one session. */
export async function sdkServer(
  handle: (request: CallToolRequest, extra: Extra) => Promise<CallToolResult>,
): Promise<string> {
  const server = new Server({ name: "host", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, handle);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  onTestFinished(() => server.close());
  return listen((request, response) => void transport.handleRequest(request, response));
}

/** A server of the SDK that has one tool, answers each request by itself, and remembers the calls that it let through. */
export async function strictServer(): Promise<{ url: string; called: readonly string[] }> {
  const called: string[] = [];
  const url = await listen(async (request, response) => {
    const server = new McpServer({ name: "strict", version: "1" });
    server.registerTool("get_weather", { inputSchema: { city: z.string() } }, ({ city }) => {
      called.push(city);
      return { content: [{ type: "text", text: `4 degrees in ${city}` }] };
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on("close", () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  return { url, called };
}

/** A host that speaks JSON-RPC itself: what `answer` gives is sent as it is. */
export function bareHost(answer: (request: unknown) => Promise<object | undefined>): Promise<string> {
  return listen(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = rpcMessage.parse(await readJson(request));
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method !== "initialize") return reply(response, await answer(message));
    const capabilities = { tools: {} };
    const result = { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "bare", version: "1" } };
    reply(response, { jsonrpc: "2.0", id: message.id, result });
  });
}

const rpcMessage = z.looseObject({ id: z.union([z.string(), z.number()]).optional(), method: z.string() });

function reply(response: ServerResponse, message: object | undefined): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
}

/** A client of the SDK, connected until the test ends. */
export async function sdkClient(url: string, capabilities = {}): Promise<Client> {
  const client = new Client({ name: "model", version: "1" }, { capabilities });
  onTestFinished(() => client.close());
  const connecting = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(connecting);
  return client;
}
