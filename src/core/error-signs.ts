import type { FailureOutcome } from "./errors.js";
import { errorText, isToolweaveError } from "./errors.js";
import { attempt, property } from "./foreign.js";

/** What one error says of its request. `"unclear"`: in doubt, unless another one shows that nothing was sent. */
type Sign = "in_doubt" | "not_sent" | "unclear";

const maxErrors = 100;

/**
 * Whether a write may have been made, by the error it ended with, its `cause`s and an aggregate's `errors`: one that
 * shows a cut connection, a time-out or an abort leaves doubt, whatever the others show.
 */
export function leavesDoubt(thrown: unknown): boolean {
  const errors: unknown[] = [thrown];
  const seen = new Set<unknown>();
  const signs = new Set<Sign | undefined>();
  for (const [index, error] of errors.entries()) {
    // What the rest would show is not known.
    if (index === maxErrors) return true;
    if (seen.has(error)) continue;
    seen.add(error);
    const declared = declaredOutcome(error);
    if (declared === "in_doubt") return true;
    // An outcome that was given further down has already judged its own causes.
    if (declared !== undefined) continue;
    const parts = partsOf(error);
    signs.add(signOf(error, parts));
    errors.push(...parts);
    const cause = property(error, "cause");
    if (cause !== undefined) errors.push(cause);
  }
  return signs.has("in_doubt") || (signs.has("unclear") && !signs.has("not_sent"));
}

/** The outcome that a `ToolError` gives, also one of another copy of the package. */
export function declaredOutcome(thrown: unknown): FailureOutcome | undefined {
  if (!attempt(() => isToolweaveError(thrown))) return undefined;
  const outcome = property(thrown, "outcome");
  return outcome === "not_applied" || outcome === "refused" || outcome === "in_doubt" ? outcome : undefined;
}

function partsOf(error: unknown): unknown[] {
  const parts = property(error, "errors");
  const length = attempt(() => (Array.isArray(parts) ? Math.min(parts.length, maxErrors) : 0)) ?? 0;
  return Array.from({ length }, (_, index) => property(parts, index));
}

/** Codes and names of errors behind which the request may have arrived. */
const inDoubt = new Set([
  // A connection that was cut, of Node's sockets, streams and HTTP/2, and of Deno and Bun
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENETRESET",
  "ENOTCONN",
  "ESHUTDOWN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_SOCKET_CLOSED",
  "ERR_HTTP2_ERROR",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_STREAM_CANCEL",
  "ERR_HTTP2_STREAM_ERROR",
  "ConnectionAborted",
  "ConnectionClosed",
  "ConnectionReset",
  "BrokenPipe",
  "UnexpectedEof",
  // undici, which is Node's fetch
  "UND_ERR_ABORTED",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_DESTROYED",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_SOCKET",
  // Database clients and axios
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT",
  "ERR_NETWORK",
  // A time-out
  "ETIMEDOUT",
  "ETIME",
  "ESOCKETTIMEDOUT",
  "TimedOut",
  "TimeoutError",
  // An abort
  "ABORT_ERR",
  "AbortError",
  "CanceledError",
  "ERR_CANCELED",
]);

/** Codes and names of errors before which no request was sent. */
const notSent = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EAI_NODATA",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ENETDOWN",
  "EHOSTDOWN",
  "UND_ERR_CONNECT_TIMEOUT",
  // Node gives it while it still tries a host's addresses, never later.
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "ERR_SOCKET_CLOSED_BEFORE_CONNECTION",
  "ERR_HTTP2_GOAWAY_SESSION",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
]);

/** System calls that come before any request: `connect`, `getaddrinfo`, and Node's DNS queries (`queryA`). */
const beforeSending = /^(?:connect$|getaddrinfo$|query[A-Z])/;
/** The codes of a certificate that is not trusted: the handshake fails, the request is never written. */
const handshake = /^(?:CERT_|UNABLE_TO_|ERR_TLS_)/;

function signOf(error: unknown, parts: readonly unknown[]): Sign | undefined {
  const syscall = property(error, "syscall");
  if (typeof syscall === "string" && beforeSending.test(syscall)) return "not_sent";
  const code = property(error, "code");
  // Node's aggregate of connection attempts bears the code of the first one, without its system call.
  const isCopy = code === property(parts[0], "code");
  if (typeof code === "string" && !isCopy) {
    // A response that is no HTTP (llhttp's codes) came after the request.
    if (inDoubt.has(code) || code.startsWith("HPE_")) return "in_doubt";
    // "Unreachable" on a connection that stood before is told by the call that used it.
    if (notSent.has(code)) return syscall === "read" || syscall === "write" ? "in_doubt" : "not_sent";
    if (handshake.test(code)) return "not_sent";
  }
  const name = property(error, "name");
  if (typeof name === "string") {
    if (inDoubt.has(name) || name.endsWith("TimeoutError")) return "in_doubt";
    if (notSent.has(name)) return "not_sent";
  }
  return signOfText(errorText(error));
}

// Tools wrap errors by their text alone, so the text counts too.
const notSentText =
  /\b(?:connect E[A-Z]+|getaddrinfo E[A-Z_]+|Connect Timeout Error(?: \([^()]*\))?)|^(?:bad port|unknown scheme)$/g;
const inDoubtText = new RegExp(
  [
    "\\btime[- ]?out\\b|timed[- ]?out\\b|deadline exceeded",
    "ECONNRESET|ECONNABORTED|EPIPE|socket hang up|other side closed|premature close",
    "connection (?:was |has been )?(?:aborted|closed|lost|reset|terminated)",
    "(?:operation|request|stream) (?:was |has been )?aborted",
    "^(?:aborted|terminated)$",
    // What drivers of browsers say
    "target closed|browser has been closed",
  ].join("|"),
  "i",
);
/** What `fetch` says, in Node and in browsers, whatever went wrong. */
const fetchText = /fetch failed|failed to fetch|load failed|networkerror when attempting to fetch|^network error$/i;

function signOfText(text: string): Sign | undefined {
  const rest = text.replace(notSentText, "");
  if (inDoubtText.test(rest)) return "in_doubt";
  if (rest !== text) return "not_sent";
  return fetchText.test(text) ? "unclear" : undefined;
}
