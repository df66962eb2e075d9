import { ToolweaveError } from "../../core/errors.js";

/** What is used of a database of better-sqlite3, libsql or `node:sqlite`: all three are synchronous. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  /** Values are strings, numbers and null. */
  run(...values: unknown[]): { readonly changes: number | bigint };
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}

/** One text for each version of the schema, in order. A text that was released is never changed. */
const migrations: readonly string[] = [
  // One insert into `toolweave_appends` is one append of one record: it moves the run's count and head, and adds the
  // record behind them, in the transaction of that one statement. A record that is null leaves the count.
  `CREATE TABLE toolweave_runs (
     run_id TEXT PRIMARY KEY,
     records INTEGER NOT NULL,
     workflow TEXT NOT NULL,
     status TEXT NOT NULL,
     phase TEXT,
     open_questions INTEGER NOT NULL,
     wake_ms INTEGER,
     created_ms INTEGER NOT NULL,
     updated_ms INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX toolweave_runs_by_age ON toolweave_runs (created_ms, run_id);
   CREATE INDEX toolweave_runs_asking ON toolweave_runs (created_ms, run_id) WHERE open_questions > 0;
   CREATE INDEX toolweave_runs_waking ON toolweave_runs (created_ms, run_id) WHERE wake_ms IS NOT NULL;
   CREATE TABLE toolweave_records (
     run_id TEXT NOT NULL,
     seq INTEGER NOT NULL,
     record TEXT NOT NULL,
     PRIMARY KEY (run_id, seq)
   ) WITHOUT ROWID;
   CREATE TABLE toolweave_leases (
     run_id TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     expires_ms INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE VIEW toolweave_appends AS
     SELECT run_id, records AS seq, '' AS record, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_runs;
   CREATE TRIGGER toolweave_append INSTEAD OF INSERT ON toolweave_appends BEGIN
     INSERT INTO toolweave_runs
       SELECT NEW.run_id, 0, NEW.workflow, NEW.status, NEW.phase, NEW.open_questions, NEW.wake_ms, NEW.created_ms, NEW.updated_ms
       WHERE NEW.seq = 0
       ON CONFLICT (run_id) DO NOTHING;
     UPDATE toolweave_runs
       SET records = records + (NEW.record IS NOT NULL), status = NEW.status, phase = NEW.phase,
         open_questions = NEW.open_questions, wake_ms = NEW.wake_ms, updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND records = NEW.seq;
     SELECT RAISE(ABORT, 'toolweave_conflict') WHERE changes() = 0;
     INSERT INTO toolweave_records SELECT NEW.run_id, NEW.seq, NEW.record WHERE NEW.record IS NOT NULL;
   END;`,
  // The time of an append stands beside its record, and a head is written only where it differs: most appends write one
  // page, which is what a commit costs. A run's count is where its records end.
  `DROP TRIGGER toolweave_append;
   DROP VIEW toolweave_appends;
   ALTER TABLE toolweave_runs DROP COLUMN records;
   ALTER TABLE toolweave_records ADD COLUMN updated_ms INTEGER;
   CREATE VIEW toolweave_heads AS
     SELECT run_id, workflow, status, phase, open_questions, wake_ms, created_ms,
       coalesce(
         (SELECT updated_ms FROM toolweave_records WHERE run_id = run.run_id ORDER BY seq DESC LIMIT 1),
         updated_ms
       ) AS updated_ms
     FROM toolweave_runs AS run;
   CREATE VIEW toolweave_appends AS
     SELECT run_id, 0 AS seq, '' AS record, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_runs;
   CREATE TRIGGER toolweave_append INSTEAD OF INSERT ON toolweave_appends BEGIN
     INSERT INTO toolweave_runs
       SELECT NEW.run_id, NEW.workflow, NEW.status, NEW.phase, NEW.open_questions, NEW.wake_ms, NEW.created_ms, NEW.updated_ms
       WHERE NEW.seq = 0
       ON CONFLICT (run_id) DO NOTHING;
     SELECT RAISE(ABORT, 'toolweave_conflict')
       WHERE NOT EXISTS (SELECT 1 FROM toolweave_runs WHERE run_id = NEW.run_id)
       OR NEW.seq <> coalesce((SELECT max(seq) + 1 FROM toolweave_records WHERE run_id = NEW.run_id), 0);
     UPDATE toolweave_runs
       SET status = NEW.status, phase = NEW.phase, open_questions = NEW.open_questions, wake_ms = NEW.wake_ms,
         updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND (
         status <> NEW.status OR phase IS NOT NEW.phase OR open_questions <> NEW.open_questions
         OR wake_ms IS NOT NEW.wake_ms OR NEW.seq = 0
       );
     UPDATE toolweave_records SET updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND seq = NEW.seq - 1 AND NEW.record IS NULL;
     INSERT INTO toolweave_records (run_id, seq, record, updated_ms)
       SELECT NEW.run_id, NEW.seq, NEW.record, NEW.updated_ms WHERE NEW.record IS NOT NULL;
   END;`,
];

/** How long a statement waits for another process, where the host has not set it. */
const busyTimeoutMs = 5_000;
/**
 * Makes each commit durable, and brings the schema to the version that is known here; processes that come at the same
 * time wait for each other.
 * @throws ToolweaveError STORE_UNAVAILABLE when it is at a later one.
 */
export function setUp(database: SqliteDatabase): void {
  const { timeout } = database.prepare("PRAGMA busy_timeout").get() as { timeout: number | bigint };
  if (Number(timeout) === 0) database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  enterWal(database);
  // Of the connection, not of the file: a WAL file that is opened again falls back to NORMAL.
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS toolweave_migrations (version INTEGER PRIMARY KEY)");
  if (versionOf(database) === migrations.length) return;
  inTransaction(database, () => {
    const version = versionOf(database);
    if (version > migrations.length) {
      throw new ToolweaveError(
        "STORE_UNAVAILABLE",
        `SQLite store: the database is at version ${version} of the schema, expected at most ${migrations.length}. Update Toolweave.`,
      );
    }
    for (const [index, sql] of migrations.entries()) {
      if (index < version) continue;
      database.exec(sql);
      database.prepare("INSERT INTO toolweave_migrations VALUES (?)").run(index + 1);
    }
  });
}

/** Where two connections turn a new file to WAL at once, one of them is refused without having waited. */
function enterWal(database: SqliteDatabase): void {
  for (let triesLeft = 10; ; triesLeft--) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (triesLeft === 0) throw error;
    }
    // Waits for the other one, as a lock that is asked for does.
    inTransaction(database, () => {});
  }
}

function versionOf(database: SqliteDatabase): number {
  const row = database.prepare("SELECT count(*) AS version FROM toolweave_migrations").get();
  return Number((row as { version: number | bigint }).version);
}

export function inTransaction(database: SqliteDatabase, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
    throw error;
  }
}
