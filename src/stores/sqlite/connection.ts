import { ToolweaveError } from "../../core/errors.js";
import { migrations } from "./schema.js";

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
