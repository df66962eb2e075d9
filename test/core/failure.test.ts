import { describe, expect, it } from "vitest";
import { ToolError, ToolweaveError } from "../../src/core/errors.js";
import { readFailure } from "../../src/core/failure.js";

const write = { effect: "write", aborted: false } as const;
const read = { effect: "read", aborted: false } as const;
const abortedWrite = { effect: "write", aborted: true } as const;
const abortedRead = { effect: "read", aborted: true } as const;

function failure(fields: Record<string, unknown>, message = "it went wrong"): Error {
  return Object.assign(new Error(message), fields);
}

function fetchFailed(cause?: unknown): TypeError {
  return new TypeError("fetch failed", cause === undefined ? undefined : { cause });
}

/** An error of another copy of the package: the brand is all that both share. */
function fromAnotherCopy(fields: Record<string, unknown>): Error {
  return Object.assign(
    Object.defineProperty(new Error("not today"), Symbol.for("toolweave.error"), { value: true }),
    fields,
  );
}

const trap = () => {
  throw new Error("trapped");
};
const hostileProxy = new Proxy(
  {},
  { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap },
);
function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

describe("an outcome that a ToolError gives", () => {
  it.each([
    [{}, write, "not_applied", "TOOL_FAILED"],
    [{ outcome: "not_applied" }, write, "not_applied", "TOOL_FAILED"],
    [{ outcome: "refused" }, write, "refused", "TOOL_REFUSED"],
    [{ outcome: "in_doubt" }, write, "in_doubt", "TOOL_IN_DOUBT"],
    [{ outcome: "not_applied" }, abortedWrite, "not_applied", "TOOL_FAILED"],
    [{ outcome: "refused" }, abortedWrite, "refused", "TOOL_REFUSED"],
    [{ outcome: "in_doubt" }, abortedWrite, "in_doubt", "TOOL_IN_DOUBT"],
    [{ outcome: "refused" }, read, "refused", "TOOL_REFUSED"],
    // A read can't be in doubt: it is simply called again.
    [{ outcome: "in_doubt" }, read, "not_applied", "TOOL_FAILED"],
    [{ outcome: "in_doubt" }, abortedRead, "not_applied", "TOOL_FAILED"],
  ] as const)("%j in a call %j is %s, %s", (options, call, outcome, code) => {
    const result = readFailure(new ToolError("declined", options), call);
    expect(result).toStrictEqual({ outcome, error: { code, message: "declined" } });
  });

  it("stands against what its cause shows", () => {
    const error = new ToolError("not booked", { outcome: "not_applied", cause: failure({ code: "ECONNRESET" }) });
    expect(readFailure(error, write)).toStrictEqual({
      outcome: "not_applied",
      error: {
        code: "TOOL_FAILED",
        message: "not booked",
        cause: { name: "Error", code: "ECONNRESET", message: "it went wrong" },
      },
    });
  });

  it("is read from another copy of the package too", () => {
    const error = fromAnotherCopy({ outcome: "refused", retryAfterMs: 250, details: { limit: 5 }, cause: "a quota" });
    expect(readFailure(error, write)).toStrictEqual({
      outcome: "refused",
      error: { code: "TOOL_REFUSED", message: "not today", details: { limit: 5 }, cause: { message: "a quota" } },
      retryAfterMs: 250,
    });
  });

  it.each([
    ["an outcome that is none", fromAnotherCopy({ outcome: "maybe" })],
    ["an error of the package that bears no outcome", new ToolweaveError("STORE_UNAVAILABLE", "gone")],
    ["the field without the brand", failure({ outcome: "refused", retryAfterMs: 5, details: { a: 1 } })],
  ])("is not made of %s", (_, error) => {
    expect(readFailure(error, write)).toMatchObject({ outcome: "not_applied", error: { code: "TOOL_FAILED" } });
    expect(readFailure(error, write).error.details).toBeUndefined();
    expect(readFailure(error, write).retryAfterMs).toBeUndefined();
    expect(readFailure(error, abortedWrite).outcome).toBe("in_doubt");
  });

  it.each([
    [0, 0],
    [1_500.5, 1_500.5],
    [1e300, 31_536_000_000],
    [Number.POSITIVE_INFINITY, 31_536_000_000],
    [-1, undefined],
    [Number.NaN, undefined],
    ["30", undefined],
  ])("asks for a delay of %s: %s", (retryAfterMs, kept) => {
    expect(readFailure(fromAnotherCopy({ outcome: "not_applied", retryAfterMs }), write).retryAfterMs).toBe(kept);
  });

  it.each([
    ["JSON", { field: "iban", seen: [1, null] }, { field: "iban", seen: [1, null] }],
    ["what JSON.stringify sees of them", { at: new Date(0), gone: undefined }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a key like any other", JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
    ["credentials cut", { header: 'Bearer abc123"x' }, { header: 'Bearer [removed]"x' }],
    ["nothing of a list", [1], undefined],
    ["nothing of what is no JSON", { amount: 1n }, undefined],
    ["nothing of what is too large", { text: "x".repeat(70_000) }, undefined],
    ["nothing of what can't be read", hostileProxy, undefined],
  ])("keeps of its details: %s", (_, details, kept) => {
    expect(readFailure(fromAnotherCopy({ outcome: "refused", details }), write).error.details).toStrictEqual(kept);
  });
});

describe("any other error of a read", () => {
  it.each([
    ["a plain one", new Error("boom")],
    ["a time-out", failure({ name: "TimeoutError" })],
    ["a cut connection", fetchFailed(failure({ code: "UND_ERR_SOCKET" }))],
  ])("is failed: %s", (_, error) => {
    expect(readFailure(error, read)).toMatchObject({ outcome: "not_applied", error: { code: "TOOL_FAILED" } });
    expect(readFailure(error, abortedRead)).toMatchObject({ outcome: "not_applied" });
  });
});

describe("any other error of a write", () => {
  it.each<[string, unknown]>([
    // By code
    ["a reset", failure({ code: "ECONNRESET", syscall: "read" })],
    ["a broken pipe", failure({ code: "EPIPE", syscall: "write" })],
    ["a time-out on a socket that stood", failure({ code: "ETIMEDOUT", syscall: "read" })],
    ["a time-out without a system call", failure({ code: "ETIMEDOUT" })],
    ["a peer that became unreachable", failure({ code: "EHOSTUNREACH", syscall: "read" })],
    ["a network that became unreachable", failure({ code: "ENETUNREACH", syscall: "write" })],
    ["fetch, the other side closed", fetchFailed(failure({ code: "UND_ERR_SOCKET" }, "other side closed"))],
    ["fetch, no headers in time", fetchFailed(failure({ code: "UND_ERR_HEADERS_TIMEOUT" }))],
    ["fetch, no body in time", new TypeError("terminated", { cause: failure({ code: "UND_ERR_BODY_TIMEOUT" }) })],
    ["a stream that ended early", failure({ code: "ERR_STREAM_PREMATURE_CLOSE" })],
    ["an HTTP/2 stream that was cancelled", failure({ code: "ERR_HTTP2_STREAM_CANCEL" })],
    ["an HTTP/2 stream error", failure({ code: "ERR_HTTP2_STREAM_ERROR" })],
    ["a response that is no HTTP", failure({ code: "HPE_INVALID_CONSTANT" })],
    ["a database connection that was lost", failure({ code: "PROTOCOL_CONNECTION_LOST" })],
    // By name
    ["an abort", new DOMException("This operation was aborted", "AbortError")],
    ["a time-out of a signal", new DOMException("The operation was aborted due to timeout", "TimeoutError")],
    ["a time-out of some library", failure({ name: "QueryTimeoutError" }, "")],
    ["a cancelled request of some library", failure({ name: "CanceledError" }, "canceled")],
    // By text alone
    ["a body that was cut, without its cause", new TypeError("terminated")],
    ["a socket that hung up, wrapped as text", new Error("Charge failed: socket hang up")],
    ["a code in the text", new Error("Charge failed: read ECONNRESET")],
    ["a time-out behind the author's own code", failure({ code: "E_BOOKING" }, "no reply: request timed out")],
    ["the author's own time-out", new Error("no reply: request timed out")],
    ["a gateway's time-out", new Error("504 Gateway Timeout")],
    ["an RPC deadline", new Error("4 DEADLINE_EXCEEDED: Deadline exceeded after 2s")],
    ["a connection that was closed", new Error("MCP error -32000: Connection closed")],
    ["an operation that was aborted", new Error("The operation was aborted.")],
    ["an abort without more", new Error("aborted")],
    ["a thrown text", "Request timed out"],
    ["a thrown object", { status: 408, reason: "request timeout" }],
    // fetch that does not say what happened
    ["fetch in Node, without a cause", fetchFailed()],
    ["fetch in Node, with a cause that says nothing", fetchFailed(new Error("redirect count exceeded"))],
    ["fetch in Chrome", new TypeError("Failed to fetch")],
    ["fetch in Firefox", new TypeError("NetworkError when attempting to fetch resource.")],
    ["fetch in Safari", new TypeError("Load failed")],
    ["a body in Chrome", new TypeError("network error")],
    ["fetch, wrapped as text", new Error("Charge failed: fetch failed")],
    // Anywhere in the chain
    ["deep in the causes", new Error("a", { cause: new Error("b", { cause: failure({ code: "ECONNRESET" }) }) })],
    ["one of several", new AggregateError([new Error("a"), failure({ code: "EPIPE" })], "all failed")],
    ["the cause of one of several", new AggregateError([new Error("a", { cause: failure({ code: "EPIPE" }) })])],
    ["a ToolError in doubt as a cause", new Error("a", { cause: new ToolError("b", { outcome: "in_doubt" }) })],
    ["a cause that is a text", new Error("a", { cause: "socket hang up" })],
    // Both are shown
    [
      "refused once, cut once",
      new AggregateError([failure({ code: "ECONNREFUSED" }), failure({ code: "ECONNRESET" })]),
    ],
    ["timed out after refusals", failure({ name: "TimeoutError", cause: failure({ code: "ECONNREFUSED" }) })],
    ["cut, and nothing sent below", failure({ code: "ECONNRESET", cause: failure({ code: "ENOTFOUND" }) })],
    [
      "an aggregate's own code that none of its parts has",
      failure({ code: "ETIMEDOUT", errors: [failure({ code: "ECONNREFUSED" })] }),
    ],
    // What can't be read to its end
    ["more errors than are read", new AggregateError(Array.from({ length: 500 }, () => new Error("a")))],
    ["a chain longer than is read", Array.from({ length: 500 }).reduce((cause) => new Error("a", { cause }), 0)],
  ])("is in doubt: %s", (_, error) => {
    expect(readFailure(error, write)).toMatchObject({ outcome: "in_doubt", error: { code: "TOOL_IN_DOUBT" } });
  });

  it.each<[string, unknown]>([
    // Nothing was sent
    ["refused", failure({ code: "ECONNREFUSED", syscall: "connect" })],
    ["refused, by fetch", fetchFailed(failure({ code: "ECONNREFUSED" }))],
    ["an unknown host", fetchFailed(failure({ code: "ENOTFOUND", syscall: "getaddrinfo" }))],
    ["a resolver that is down", fetchFailed(failure({ code: "EAI_AGAIN" }))],
    ["a resolver that is slow", fetchFailed(failure({ code: "ETIMEOUT", syscall: "queryA" }))],
    ["an unreachable host", fetchFailed(failure({ code: "EHOSTUNREACH", syscall: "connect" }))],
    ["an unreachable network", fetchFailed(failure({ code: "ENETUNREACH" }))],
    ["a connect that timed out", failure({ code: "ETIMEDOUT", syscall: "connect" })],
    ["a connect that timed out, by fetch", fetchFailed(failure({ code: "UND_ERR_CONNECT_TIMEOUT" }))],
    ["no address that answered in time", failure({ code: "ERR_SOCKET_CONNECTION_TIMEOUT" })],
    ["a socket file that is not there", failure({ code: "ENOENT", syscall: "connect" })],
    ["a certificate that is not trusted", fetchFailed(failure({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }))],
    ["a certificate that signs itself", fetchFailed(failure({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }))],
    ["a certificate of another host", fetchFailed(failure({ code: "ERR_TLS_CERT_ALTNAME_INVALID" }))],
    ["a port that fetch refuses", fetchFailed(new Error("bad port"))],
    ["refused, by its name", fetchFailed(failure({ name: "ConnectionRefused" }))],
    ["refused, by its text", new Error("fetch failed: connect ECONNREFUSED 127.0.0.1:9")],
    ["a connect that timed out, by its text", new Error("connect ETIMEDOUT 10.0.0.1:443")],
    ["a connect that fetch gave up, by its text", new Error("Connect Timeout Error (attempted: a:443, timeout: 10ms)")],
    [
      "refused at each address of a host",
      failure(
        {
          name: "AggregateError",
          code: "ECONNREFUSED",
          errors: [
            failure({ code: "ECONNREFUSED", syscall: "connect" }),
            failure({ code: "ECONNREFUSED", syscall: "connect" }),
          ],
        },
        "",
      ),
    ],
    [
      "timed out at one address, refused at the other: the aggregate bears the first code",
      fetchFailed(
        failure({
          code: "ETIMEDOUT",
          errors: [failure({ code: "ETIMEDOUT", syscall: "connect" }), failure({ code: "ECONNREFUSED" })],
        }),
      ),
    ],
    // The tool itself says that it failed
    ["a plain one", new Error("card declined")],
    ["a number for a code", failure({ code: 500 })],
    ["a code of its own", failure({ code: "E_LIMIT", name: "LimitError" })],
    ["a field that is named like a time-out", new Error("timeout_ms must be positive")],
    ["a transaction that was rolled back", new Error("Transaction aborted")],
    ["a word that means something else", new Error("the contract was terminated in May")],
    ["a refusal as a cause", new Error("a", { cause: new ToolError("b", { outcome: "refused" }) })],
    [
      "a cause that has judged its own causes",
      new Error("a", { cause: new ToolError("b", { cause: failure({ code: "ECONNRESET" }) }) }),
    ],
    ["errors that are no list", failure({ errors: "ECONNRESET" })],
    ["a list with holes", failure({ errors: new Array(3) })],
  ])("is not applied: %s", (_, error) => {
    expect(readFailure(error, write)).toMatchObject({ outcome: "not_applied", error: { code: "TOOL_FAILED" } });
  });

  it.each([
    ["a plain one", new Error("card declined")],
    ["one that shows that nothing was sent", failure({ code: "ECONNREFUSED", syscall: "connect" })],
    ["the reason of the abort", new ToolweaveError("TIMED_OUT", "out of time")],
    ["nothing at all", undefined],
  ])("is in doubt once the engine has aborted the call: %s", (_, error) => {
    expect(readFailure(error, abortedWrite)).toMatchObject({ outcome: "in_doubt", error: { code: "TOOL_IN_DOUBT" } });
  });

  it("ends on a cycle of causes", () => {
    const first = new Error("first");
    const second = new Error("second", { cause: first });
    first.cause = second;
    expect(readFailure(first, write).outcome).toBe("not_applied");
  });
});

describe("whatever is thrown", () => {
  const bare = Object.create(null);
  it.each<[string, unknown, string]>([
    ["a text", "boom", "boom"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a number", 7, "7"],
    ["a symbol", Symbol("gone"), "Symbol(gone)"],
    ["an object", { status: 400 }, '{"status":400}'],
    ["an object without a prototype", bare, "{}"],
    ["an empty error with a code", failure({ code: "E_EMPTY" }, ""), "E_EMPTY"],
    ["an empty error with a name", new RangeError(""), "RangeError"],
    ["an empty text", "", "The tool failed and said nothing."],
    ["a name that is no text", failure({ name: 4 }, ""), "The tool failed and said nothing."],
    ["lone surrogates", new Error("a\ud800b"), "a\ufffdb"],
    ["a getter that throws", Object.defineProperty({}, "message", { get: trap }), "an error that could not be read"],
    ["a proxy that throws", hostileProxy, "an error that could not be read"],
    ["a proxy that was revoked", revoked({}), "an error that could not be read"],
    ["parts that can't be read", failure({ errors: revoked([]) }), "it went wrong"],
    ["parts that throw", failure({ errors: new Proxy([1, 2], { get: trap }) }), "it went wrong"],
  ])("gives a failure: %s", (_, thrown, message) => {
    const result = readFailure(thrown, write);
    expect(result).toMatchObject({ outcome: "not_applied", error: { code: "TOOL_FAILED", message } });
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
  });

  it("keeps the foreign error as the cause, with its name and code", () => {
    const error = fetchFailed(failure({ code: "ECONNREFUSED" }, "connect ECONNREFUSED 127.0.0.1:9"));
    expect(readFailure(error, read).error).toStrictEqual({
      code: "TOOL_FAILED",
      message: "fetch failed",
      cause: {
        name: "TypeError",
        message: "fetch failed",
        cause: { name: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:9" },
      },
    });
  });

  it("shows no credential, in no text of the chain", () => {
    const inner = new Error("sent Authorization: Basic YWRhOmxvdmVsYWNl", { cause: new Error("bearer  t0k.en") });
    for (const error of [
      new Error("401 for Bearer s3cr3t-t0k3n", { cause: inner }),
      new ToolError("401 for Bearer s3cr3t-t0k3n", { cause: inner }),
    ]) {
      const text = JSON.stringify(readFailure(error, write));
      expect(text).not.toMatch(/YWRh|t0k/);
      expect(text).toContain("401 for Bearer [removed]");
    }
  });
});
