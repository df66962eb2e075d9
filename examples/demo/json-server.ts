import { createServer, type IncomingMessage } from "node:http";

export interface Request {
  /** Method and path: `GET /invoices`. */
  route: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface Server {
  url: string;
  close(): Promise<void>;
}

/** A server on loopback, at a port that is free, which speaks JSON. */
export function startJsonServer(answer: (request: Request) => Reply): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { status, body, headers } = answer({
      route: `${request.method} ${pathname}`,
      query: searchParams,
      headers: request.headers,
      body: text === "" ? {} : JSON.parse(text),
    });
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}
