import { ConflictError } from "../core/errors.js";
import type { JournalRecord } from "../core/record.js";
import { lostRecord } from "../ports/lost-record.js";
import type { RunFilter, RunHead, RunLease, RunStore } from "../ports/run-store.js";
import { checkTtl, type FilterArguments, filterArguments, unknownAfter } from "../ports/store-arguments.js";
import { inTransaction, type SqliteDatabase, setUp } from "./sqlite/connection.js";

export type { SqliteDatabase, SqliteStatement } from "./sqlite/connection.js";

const pageRecords = 500;
const pageBytes = 4 * 1024 * 1024;
const pageRuns = 200;

interface RunRow {
  readonly run_id: string;
  readonly workflow: string;
  readonly status: RunHead["status"];
  readonly phase: RunHead["phase"] | null;
  readonly open_questions: number | bigint;
  readonly wake_ms: number | bigint | null;
  readonly created_ms: number | bigint;
  readonly updated_ms: number | bigint;
}

interface RecordRow {
  readonly record: string;
  readonly seq: number | bigint;
  /** How many the run has. */
  readonly count: number | bigint;
}

const done = Promise.resolve();

/**
 * Keeps runs in a SQLite database, which the host opens and closes. Sets WAL and `synchronous = FULL` on the connection,
 * and a busy timeout of 5 s where it has none; several processes may open the same file. A method rejects with the
 * client's own error, `SQLITE_BUSY` among them. There is no `watch`: SQLite does not tell of other processes' writes.
 * @throws ToolweaveError STORE_UNAVAILABLE when the database holds the schema of a later version.
 */
export function sqliteStore(database: SqliteDatabase): RunStore {
  setUp(database);
  const insert = database.prepare("INSERT INTO toolweave_appends VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  // The page ends with the record that fills it, so that large records are never held by the hundred.
  const page = database.prepare(
    `WITH run AS (SELECT first_place, first_place + ? AS next_place, last_place FROM toolweave_runs WHERE run_id = ?)
     SELECT record, place - first_place AS seq,
       (SELECT max(place) + 1 FROM toolweave_records WHERE place <= last_place) - first_place AS count
     FROM run JOIN toolweave_records ON place BETWEEN next_place AND (
       SELECT max(place) FROM (
         SELECT place, sum(octet_length(record)) OVER (ORDER BY place) - octet_length(record) AS before
         FROM toolweave_records WHERE place BETWEEN next_place AND last_place ORDER BY place LIMIT ${pageRecords}
       ) WHERE before < ${pageBytes}
     ) ORDER BY place`,
  );
  const run = database.prepare("SELECT * FROM toolweave_heads WHERE run_id = ?");
  // A cast from here on gives rows the columns of the statement that selects them.
  const rowOf = (runId: string) => run.get(runId) as RunRow | undefined;

  function append(runId: string, expectedSeq: number, records: readonly JournalRecord[], head: RunHead): Promise<void> {
    const wakeMs = head.wakeAt === undefined ? null : Date.parse(head.wakeAt);
    const createdMs = Date.parse(head.createdAt);
    const updatedMs = Date.parse(head.updatedAt);
    function add(seq: number, record: JournalRecord | undefined): void {
      const { workflow, status, phase = null, openQuestions } = head;
      const text = record === undefined ? null : JSON.stringify(record);
      insert.run(runId, seq, text, workflow, status, phase, openQuestions, wakeMs, createdMs, updatedMs);
    }
    try {
      if (records.length < 2) add(expectedSeq, records[0]);
      else
        inTransaction(database, () => {
          for (const [index, record] of records.entries()) add(expectedSeq + index, record);
        });
      return done;
    } catch (error) {
      return Promise.reject(isConflict(error) ? new ConflictError(runId, expectedSeq) : error);
    }
  }

  async function* read(runId: string, fromSeq = 0): AsyncGenerator<JournalRecord, void, undefined> {
    let next = fromSeq;
    let count = Number.POSITIVE_INFINITY;
    while (next < count) {
      const rows = page.all(next, runId) as RecordRow[];
      count = Number(rows[0]?.count ?? 0);
      for (const { record, seq } of rows) {
        if (Number(seq) !== next) throw lostRecord(runId, next);
        yield JSON.parse(record) as JournalRecord;
        next++;
      }
    }
  }

  async function* list(filter: RunFilter = {}): AsyncGenerator<RunHead, void, undefined> {
    const wanted = filterArguments(filter);
    const { sql, values } = condition(wanted);
    let last: readonly [createdMs: number, runId: string] = [Number.MIN_SAFE_INTEGER, ""];
    if (wanted.after !== undefined) {
      const row = rowOf(wanted.after);
      if (row === undefined) throw unknownAfter(wanted.after);
      last = [Number(row.created_ms), row.run_id];
    }
    const runs = database.prepare(
      `SELECT * FROM toolweave_heads WHERE ${sql} AND (created_ms, run_id) > (?, ?) ORDER BY created_ms, run_id LIMIT ?`,
    );
    for (let left = wanted.limit; left > 0; ) {
      const size = Math.min(left, pageRuns);
      const rows = runs.all(...values, ...last, size) as RunRow[];
      for (const row of rows) {
        yield headOf(row);
        last = [Number(row.created_ms), row.run_id];
      }
      left = rows.length < size ? 0 : left - size;
    }
  }

  const deletes = [
    `DELETE FROM toolweave_records WHERE place IN (
       SELECT place FROM toolweave_runs JOIN toolweave_records ON place BETWEEN first_place AND last_place WHERE run_id = ?
     )`,
    "DELETE FROM toolweave_runs WHERE run_id = ?",
    "DELETE FROM toolweave_leases WHERE run_id = ?",
  ].map((sql) => database.prepare(sql));

  return {
    append,
    read,
    list,
    async head(runId) {
      const row = rowOf(runId);
      return row && headOf(row);
    },
    async delete(runId) {
      inTransaction(database, () => {
        for (const statement of deletes) statement.run(runId);
      });
    },
    lease: sqliteLease(database),
  };
}

function sqliteLease(database: SqliteDatabase): RunLease {
  const claim = database.prepare(
    `INSERT INTO toolweave_leases VALUES (?, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET owner = excluded.owner, expires_ms = excluded.expires_ms
     WHERE owner = excluded.owner OR expires_ms <= ?`,
  );
  const renew = database.prepare("UPDATE toolweave_leases SET expires_ms = ? WHERE run_id = ? AND owner = ?");
  const release = database.prepare("DELETE FROM toolweave_leases WHERE run_id = ? AND owner = ?");
  return {
    async claim(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      const now = Date.now();
      return Number(claim.run(runId, owner, now + ttlMs, now).changes) === 1;
    },
    async renew(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      return Number(renew.run(Date.now() + ttlMs, runId, owner).changes) === 1;
    },
    async release(runId, owner) {
      release.run(runId, owner);
    },
  };
}

// The text is SQLite's own, and the same in every client; the fields beside it are not.
function isConflict(error: unknown): boolean {
  return error instanceof Error && error.message.includes("toolweave_conflict");
}

function headOf(row: RunRow): RunHead {
  return {
    runId: row.run_id,
    workflow: row.workflow,
    status: row.status,
    ...(row.phase && { phase: row.phase }),
    openQuestions: Number(row.open_questions),
    ...(row.wake_ms !== null && { wakeAt: isoTime(row.wake_ms) }),
    createdAt: isoTime(row.created_ms),
    updatedAt: isoTime(row.updated_ms),
  };
}

function isoTime(ms: number | bigint): string {
  return new Date(Number(ms)).toISOString();
}

function condition(wanted: FilterArguments): { sql: string; values: (string | number)[] } {
  const terms = [wanted.withOpenQuestions ? "open_questions > 0" : "TRUE"];
  const values: (string | number)[] = [];
  const compare = (sql: string, value: string | number | undefined) => {
    if (value === undefined) return;
    terms.push(sql);
    values.push(value);
  };
  compare("status IN (SELECT value FROM json_each(?))", wanted.statuses && JSON.stringify(wanted.statuses));
  compare("workflow = ?", wanted.workflow);
  compare("created_ms >= ?", wanted.createdFromMs);
  compare("created_ms < ?", wanted.createdBeforeMs);
  compare("wake_ms <= ?", wanted.wakeBeforeMs);
  return { sql: terms.join(" AND "), values };
}
