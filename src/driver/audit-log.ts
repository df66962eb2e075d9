import { type AuditEntry, Auditor } from "../core/audit.js";
import { fromJournal } from "../core/from-journal.js";
import type { JournalRecord } from "../core/record.js";
import type { RunStore } from "../ports/run-store.js";
import { listRuns, type RunSelection } from "./list-runs.js";
import { readEach } from "./read-each.js";

export type { AuditEntry } from "../core/audit.js";

/**
 * Every write that was ever asked for, decided, made and undone, as the journals tell it: run by run, the oldest first,
 * and each run from its beginning. Undos and fallbacks are writes too: their `purpose` and `path` say of what.
 *
 * Read one record after another, so its length is no matter, and neither is the code of a workflow. What a tool's schema
 * marks `writeOnly` or `format: "password"` is masked. A run that goes on is told as far as it has come; a run that is
 * deleted is no longer told of.
 *
 * @throws ToolweaveError while it is read: `STORE_UNAVAILABLE`, `INVALID_JOURNAL`; `INVALID_OPTIONS` for a time that is no ISO 8601
 */
export async function* auditLog(
  store: RunStore,
  filter: RunSelection = {},
): AsyncGenerator<AuditEntry, void, undefined> {
  for await (const { runId, workflow } of listRuns(store, filter)) {
    const auditor = new Auditor(runId, workflow);
    for await (const record of readEach<JournalRecord>(runId, (seq) => store.read(runId, seq))) {
      yield* fromJournal(() => auditor.read(record));
    }
  }
}
