import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex } from "@noble/hashes/utils";
import { planOf } from "../core/define.js";
import type { Workflow } from "../core/document.js";
import { canonicalJson, type JsonObject, type JsonValue } from "../core/json.js";
import type { DocumentSnapshot } from "../core/record.js";
import { bareSchema } from "../core/schema.js";
import { documentJson } from "../core/stored-document.js";
import type { ListedTool } from "./tool-list.js";

const utf8 = new TextEncoder();

/** SHA-256 over a value's canonical JSON (RFC 8785), in hexadecimal. */
export function digest(value: JsonValue): string {
  return digestOfAll([value]);
}

/** SHA-256 over the canonical JSON of values, one behind the other: together they may be longer than a string can be. */
export function digestOfAll(values: Iterable<JsonValue>): string {
  const hash = sha256.create();
  for (const value of values) hash.update(utf8.encode(canonicalJson(value)));
  // Normalized, it is the same text in one piece: it is put together of its digits, which V8 would go on keeping apart.
  return bytesToHex(hash.digest()).normalize();
}

const snapshots = new WeakMap<Workflow, DocumentSnapshot>();

/** A workflow's document as a journal keeps it; made once. */
export function snapshotOf(workflow: Workflow): DocumentSnapshot {
  let snapshot = snapshots.get(workflow);
  if (snapshot === undefined) {
    const { name } = workflow;
    const document = documentJson(workflow);
    snapshot = Object.freeze(planOf(workflow).hasCode ? { name, document, code: true } : { name, document });
    snapshots.set(workflow, snapshot);
  }
  return snapshot;
}

const digests = new WeakMap<object, string>();

/** The digest of a run's documents, which many runs share. */
export function digestOf(documents: readonly DocumentSnapshot[]): string {
  let value = digests.get(documents);
  if (value === undefined) {
    value = digest(documents.map(documentDigest));
    digests.set(documents, value);
  }
  return value;
}

export function documentDigest(snapshot: DocumentSnapshot): string {
  let value = digests.get(snapshot);
  if (value === undefined) {
    value = digest(snapshot.document);
    digests.set(snapshot, value);
  }
  return value;
}

/**
 * What an approval is bound to: run, path, documents, tool, the tool's version or else its schema without what is for
 * people alone, and the inputs.
 */
export function writeFingerprint(
  write: { runId: string; path: string; documents: string; inputs: JsonObject },
  tool: ListedTool,
): string {
  const { runId, path, documents, inputs } = write;
  return digest({ runId, path, documents, tool: tool.name, bound: boundTo(tool), inputs });
}

const bound = new WeakMap<ListedTool, string>();

/** The digest of what of a tool an approval is bound to, beside its name. */
function boundTo(tool: ListedTool): string {
  let value = bound.get(tool);
  if (value === undefined) {
    const schema = tool.schema?.json;
    value = digest(tool.info.version ?? (schema === undefined ? null : bareSchema(schema)));
    bound.set(tool, value);
  }
  return value;
}
