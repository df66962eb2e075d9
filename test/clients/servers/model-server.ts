import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { z } from "zod";

/** Why a request is refused, in the words of the provider; `place` is where in its body. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly place: readonly PropertyKey[] = [],
  ) {
    super(message);
  }
}

export interface Reply {
  readonly type: "application/json" | "text/event-stream" | "application/x-ndjson";
  readonly text: string;
}

/** One provider's API on the wire: what it takes, how it refuses, how it answers. */
export interface Wire<Body, Turn> {
  /** A request that does not fit is refused as `misshapen` says. */
  readonly shape: z.ZodType<Body>;
  misshapen(issue: z.core.$ZodIssue): Refusal;
  /** The rules that no shape can tell; `told` are the model's turns so far. Throws a Refusal. */
  check(body: Body, told: readonly Turn[]): void;
  /** The body of a 400. */
  refusalBody(refusal: Refusal): object;
  reply(turn: Turn, body: Body, path: string): Reply;
}

export interface ModelServer<Body> {
  /** Without a slash at its end. */
  readonly url: string;
  /** The requests that were accepted. */
  readonly accepted: readonly Body[];
}

/** A provider on loopback, until the test ends. Its model says one turn for each request that is accepted. */
export async function modelServer<Body, Turn>(
  wire: Wire<Body, Turn>,
  turns: readonly Turn[],
): Promise<ModelServer<Body>> {
  const accepted: Body[] = [];
  const answer = async (request: IncomingMessage) => {
    const body = accept(wire, await readJson(request), turns.slice(0, accepted.length));
    const turn = turns[accepted.length];
    accepted.push(body);
    if (turn === undefined) throw new Error("The model has no further turn.");
    return wire.reply(turn, body, request.url ?? "");
  };
  const url = await listen((request, response) => {
    answer(request).then(
      ({ type, text }) => response.writeHead(200, { "content-type": type }).end(text),
      (error: unknown) => {
        const isRefusal = error instanceof Refusal;
        const body = isRefusal ? wire.refusalBody(error) : { error: String(error) };
        response.writeHead(isRefusal ? 400 : 500, { "content-type": "application/json" }).end(JSON.stringify(body));
      },
    );
  });
  return { url, accepted };
}

function accept<Body, Turn>(wire: Wire<Body, Turn>, body: unknown, told: readonly Turn[]): Body {
  const parsed = wire.shape.safeParse(body);
  const issue = parsed.error?.issues[0];
  if (issue !== undefined) throw wire.misshapen(innermost(issue));
  if (parsed.data === undefined) throw new Error("A request has no shape.");
  wire.check(parsed.data, told);
  return parsed.data;
}

/** Of a place where several shapes will do, what is wrong by the one that came furthest. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const within = issue.errors.flat().map((inner) => innermost({ ...inner, path: [...issue.path, ...inner.path] }));
  return within.reduce((one, other) => (other.path.length > one.path.length ? other : one), issue);
}

/** An HTTP server on loopback, until the test ends. Gives its URL, without a slash at its end. */
export async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return `http://127.0.0.1:${address.port}`;
}

export async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

export function json(body: object): Reply {
  return { type: "application/json", text: JSON.stringify(body) };
}

/** Server-sent events, each with its `type` as its name where it has one. */
export function events(bodies: readonly (object | string)[]): Reply {
  const text = bodies.map((body) => {
    const name = typeof body === "object" && "type" in body ? `event: ${body.type}\n` : "";
    return `${name}data: ${typeof body === "string" ? body : JSON.stringify(body)}\n\n`;
  });
  return { type: "text/event-stream", text: text.join("") };
}

/** A text in two pieces, as a stream brings it. */
export function pieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}

/** `messages[1].tool_calls[0].id` */
export function bracketed(place: readonly PropertyKey[]): string {
  return place
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
}

/** The places in a list of what `holds` says. */
export function placesOf<Item>(list: readonly Item[], holds: (item: Item) => boolean): readonly number[] {
  return list.flatMap((item, index) => (holds(item) ? [index] : []));
}

/** Whether a text is the JSON of an object. */
export function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
