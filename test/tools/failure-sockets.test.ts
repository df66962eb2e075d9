import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFailure } from "../../src/core/failure.js";

/** Sends one request whose body is the write, and gives the whole response as text. */
type Client = (url: string, signal?: AbortSignal) => Promise<string>;

const fetchClient: Client = async (url, signal) => {
  const response = await fetch(url, { method: "POST", body: "pay 120", signal });
  return response.text();
};

const httpClient: Client = (url, signal) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", signal, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end("pay 120");
  });

const clients: [string, Client][] = [
  ["fetch", fetchClient],
  ["node:http", httpClient],
];

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

/** What the server does once the request has arrived, by its path. */
const replies: Record<string, (socket: Socket) => void> = {
  "/ok": (socket) => socket.end(`${head}content-length: 4\r\nconnection: close\r\n\r\npaid`),
  "/destroy": (socket) => socket.destroy(),
  "/reset": (socket) => socket.resetAndDestroy(),
  "/end": (socket) => socket.end(),
  "/cut-body": (socket) => socket.write(`${head}content-length: 400\r\n\r\npa`, () => socket.destroy()),
  "/cut-chunks": (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n2\r\npa\r\n`),
  "/garbage": (socket) => socket.end("220 mail.example ready\r\n\r\n"),
  "/stall": () => {},
  "/stall-in-body": (socket) => socket.write(`${head}content-length: 400\r\n\r\npa`),
};

let server: net.Server;
let origin: string;
let arrived: string[] = [];
let onArrival = () => {};
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
      if (!received.includes("pay 120")) return;
      const path = received.split(" ")[1] ?? "";
      received = "";
      arrived.push(path);
      replies[path]?.(socket);
      onArrival();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function closedPort(): Promise<number> {
  const closing = net.createServer().listen(0, "127.0.0.1");
  await once(closing, "listening");
  const { port } = closing.address() as AddressInfo;
  closing.close();
  await once(closing, "close");
  return port;
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`expected a failure, got ${String(outcome.value)}`);
  return outcome.error;
}

function outcomes(error: unknown, aborted = false) {
  return {
    write: readFailure(error, { effect: "write", aborted }).outcome,
    read: readFailure(error, { effect: "read", aborted }).outcome,
  };
}

describe.each(clients)("a request of %s", (_, send) => {
  it("that is answered is no failure", async () => {
    expect(await send(`${origin}/ok`)).toBe("paid");
  });

  it.each(["/destroy", "/reset", "/end", "/cut-body", "/cut-chunks", "/garbage"])(
    "that arrived and got no whole answer (%s) is in doubt",
    async (path) => {
      arrived = [];
      const error = await thrownBy(send(origin + path));
      expect(outcomes(error)).toEqual({ write: "in_doubt", read: "not_applied" });
      expect(arrived).toEqual([path]);
    },
  );

  it.each(["/stall", "/stall-in-body"])("that the tool itself gives up (%s) is in doubt", async (path) => {
    const error = await thrownBy(send(origin + path, AbortSignal.timeout(40)));
    expect(outcomes(error)).toEqual({ write: "in_doubt", read: "not_applied" });
  });

  it.each([undefined, new Error("the run was cancelled")])(
    "that the engine aborts is in doubt, whatever the reason says",
    async (reason) => {
      const engine = new AbortController();
      onArrival = () => engine.abort(reason);
      const error = await thrownBy(send(`${origin}/stall`, engine.signal));
      onArrival = () => {};
      expect(outcomes(error, engine.signal.aborted)).toEqual({ write: "in_doubt", read: "not_applied" });
    },
  );

  it.each(["127.0.0.1", "localhost"])("to a closed port of %s was not sent", async (host) => {
    const error = await thrownBy(send(`http://${host}:${await closedPort()}/`));
    expect(outcomes(error)).toEqual({ write: "not_applied", read: "not_applied" });
    expect(JSON.stringify(readFailure(error, { effect: "write", aborted: false }))).toContain("ECONNREFUSED");
  });

  it("to an unknown host was not sent", async () => {
    const error = await thrownBy(send("http://no-such-host.invalid/"));
    expect(outcomes(error)).toEqual({ write: "not_applied", read: "not_applied" });
  });

  it("to a closed port, wrapped by the tool, was not sent", async () => {
    const cause = await thrownBy(send(`http://127.0.0.1:${await closedPort()}/`));
    expect(outcomes(new Error("The payment failed.", { cause })).write).toBe("not_applied");
    expect(outcomes(new Error(`The payment failed: ${String(cause)}`, { cause })).write).toBe("not_applied");
  });
});

it("node:http, whose socket the tool destroys when it has been idle too long, is in doubt", async () => {
  const work = new Promise((resolve, reject) => {
    const request = http.request(`${origin}/stall`, { method: "POST", agent: false, timeout: 40 }, resolve);
    request.on("timeout", () => request.destroy());
    request.on("error", reject);
    request.end("pay 120");
  });
  expect(outcomes(await thrownBy(work)).write).toBe("in_doubt");
});

it("an HTTP/2 request whose stream the server resets is in doubt", async () => {
  const h2 = http2.createServer();
  h2.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  });
  h2.listen(0, "127.0.0.1");
  await once(h2, "listening");
  const client = http2.connect(`http://127.0.0.1:${(h2.address() as AddressInfo).port}`);
  const work = new Promise((resolve, reject) => {
    const request = client.request({ ":method": "POST" });
    request.on("response", resolve);
    request.on("error", reject);
    request.end("pay 120");
  });
  const error = await thrownBy(work);
  client.destroy();
  h2.close();
  expect(outcomes(error).write).toBe("in_doubt");
});
