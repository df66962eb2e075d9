import { type Definition, readDefinition } from "../../core/define.js";
import { DefinitionError } from "../../core/errors.js";
import type { JsonObject, JsonValue } from "../../core/json.js";
import type { DocumentSnapshot, JournalRecord } from "../../core/record.js";
import { storedDocument } from "../../core/stored-document.js";

const known = new WeakMap<DocumentSnapshot, DocumentSnapshot>();

/**
 * The record as the store of a simulation keeps it. Every process that carries a run on defines the documents that it
 * reads, the same ones in all schedules: so each is kept as the workflow that it is defined to be, which is known when it
 * is read again.
 */
export function definedOnce(record: JournalRecord): JournalRecord {
  return record.kind === "run_started" ? { ...record, documents: record.documents.map(defined) } : record;
}

function defined(snapshot: DocumentSnapshot): DocumentSnapshot {
  let kept = known.get(snapshot);
  if (kept === undefined) {
    kept = { ...snapshot, document: workflowOf(snapshot) };
    known.set(snapshot, kept);
  }
  return kept;
}

/** Where it holds code, it is taken from what the host gives, and the document stays as it is. */
function workflowOf({ document, code }: DocumentSnapshot): JsonValue {
  const definition = code ? undefined : readDefinition(storedDocument(document));
  if (definition === undefined || definition instanceof DefinitionError) return document;
  return isJson(definition) ? definition.workflow : document;
}

function isJson(definition: Definition): definition is Definition & { workflow: JsonObject } {
  return !definition.plan.hasCode;
}
