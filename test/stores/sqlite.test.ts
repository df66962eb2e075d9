import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, describe, expect, test } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunHead } from "../../src/ports/run-store.js";
import { type SqliteDatabase, sqliteStore } from "../../src/stores/sqlite.js";
import { conform } from "./conform.js";
import { appendsOf, startRival } from "./rival.js";
import { formerVersions } from "./sqlite-versions.js";

const folder = mkdtempSync(join(tmpdir(), "toolweave-sqlite-"));
const databases: Database.Database[] = [];
let files = 0;

function open(file: string): Database.Database {
  const database = new Database(file);
  databases.push(database);
  return database;
}

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function pragma(database: Database.Database, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0];
}

function headOf(runId: string, change: Partial<RunHead> = {}): RunHead {
  const createdAt = "2031-05-01T10:00:00.000Z";
  return {
    runId,
    workflow: "tidy_up",
    status: "running",
    openQuestions: 0,
    createdAt,
    updatedAt: createdAt,
    ...change,
  };
}

const record: JournalRecord = { kind: "cancel_requested", at: 1 };

afterAll(() => {
  for (const database of databases) database.close();
  rmSync(folder, { recursive: true });
});

describe("sqliteStore", () => {
  const file = newFile();
  const stores = [sqliteStore(open(file)), sqliteStore(open(file))] as const;
  conform(() => ({ store: stores[0], reopen: () => stores[1] }), { without: ["watch"] });
});

describe("sqliteStore sets the connection up", () => {
  test("with a write-ahead log and full synchronization, also when the file is opened again", () => {
    const file = newFile();
    for (let opened = 0; opened < 2; opened++) {
      const database = open(file);
      sqliteStore(database);
      expect([pragma(database, "journal_mode"), pragma(database, "synchronous")]).toEqual(["wal", 2]);
      database.close();
    }
  });

  test("with a busy timeout only where the host has set none", () => {
    const file = newFile();
    const [bare, patient] = [open(file), open(file)];
    patient.exec("PRAGMA busy_timeout = 77");
    sqliteStore(bare);
    sqliteStore(patient);
    expect([pragma(bare, "busy_timeout"), pragma(patient, "busy_timeout")]).toEqual([5_000, 77]);
  });

  test("and leaves what else is in the file alone", () => {
    const database = open(newFile());
    database.exec("PRAGMA user_version = 12; CREATE TABLE runs (name TEXT); INSERT INTO runs VALUES ('mine')");
    sqliteStore(database);
    expect(pragma(database, "user_version")).toBe(12);
    expect(database.prepare("SELECT count(*) AS count FROM runs").get()).toMatchObject({ count: 1 });
  });

  test.each(formerVersions)("and brings a file of %s version along, with all that it holds", async (_name, sql) => {
    const database = open(newFile());
    database.exec(sql);
    const head = headOf("a", { status: "waiting", openQuestions: 1, updatedAt: "2031-05-01T11:00:00.000Z" });
    const { workflow, status, openQuestions, createdAt, updatedAt } = head;
    const insert = database.prepare("INSERT INTO toolweave_appends VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const seq of [0, 1]) {
      const [created, updated] = [Date.parse(createdAt), Date.parse(updatedAt)];
      insert.run("a", seq, JSON.stringify(record), workflow, status, null, openQuestions, null, created, updated);
    }
    const store = sqliteStore(database);
    expect(await store.head("a")).toEqual(head);
    expect(await all(store.read("a"))).toEqual([record, record]);
    await expect(store.append("a", 1, [record], head)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
    const later = { ...head, updatedAt: "2031-05-01T12:00:00.000Z" };
    await store.append("a", 2, [record], later);
    expect(await all(store.list({ status: "waiting" }))).toEqual([later]);
  });

  test("and refuses the schema of a later version, changing nothing", () => {
    const database = open(newFile());
    sqliteStore(database);
    database.exec("INSERT INTO toolweave_migrations VALUES (9)");
    expect(() => sqliteStore(database)).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
    expect(database.inTransaction).toBe(false);
  });
});

test("sqliteStore.read refuses a journal of which a row is gone", async () => {
  const database = open(newFile());
  const store = sqliteStore(database);
  await store.append("a", 0, [record, record, record], headOf("a"));
  database.exec("DELETE FROM toolweave_records WHERE place = (SELECT first_place + 1 FROM toolweave_runs)");
  await expect(all(store.read("a"))).rejects.toMatchObject({
    code: "INVALID_JOURNAL",
    message: expect.stringContaining("Record 1 of run a is missing"),
  });
  expect(await all(store.read("a", 2))).toEqual([record]);
});

describe("sqliteStore.append", () => {
  test("of one record is one statement that was prepared before", async () => {
    const database = open(newFile());
    const calls: string[] = [];
    const store = sqliteStore(spied(database, calls));
    calls.length = 0;
    await store.append("a", 0, [record], headOf("a"));
    await store.append("a", 1, [record], headOf("a"));
    expect(calls).toEqual(["run", "run"]);
  });

  test("has been made when it returns: the database is synchronous", () => {
    const database = open(newFile());
    void sqliteStore(database).append("a", 0, [record, record], headOf("a"));
    expect(database.prepare("SELECT count(*) AS count FROM toolweave_records").get()).toMatchObject({ count: 2 });
  });

  test("that fails half way leaves nothing of its batch, nor an open transaction", async () => {
    const database = open(newFile());
    const store = sqliteStore(database);
    await store.append("a", 0, [record], headOf("a"));
    const unwritable = { ...record, toJSON: () => expect.fail("can't be written") };
    await expect(store.append("a", 1, [record, unwritable], headOf("a"))).rejects.toThrow("can't be written");
    expect(database.inTransaction).toBe(false);
    await store.append("a", 1, [record], headOf("a"));
    expect(database.prepare("SELECT count(*) AS count FROM toolweave_records").get()).toMatchObject({ count: 2 });
  });

  test("rejects with the client's own error where the file is locked, and works again afterwards", async () => {
    const file = newFile();
    const [database, other] = [open(file), open(file)];
    database.exec("PRAGMA busy_timeout = 1");
    const store = sqliteStore(database);
    other.exec("BEGIN IMMEDIATE");
    await expect(store.append("a", 0, [record], headOf("a"))).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    await expect(store.append("a", 0, [record, record], headOf("a"))).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    await expect(store.lease?.claim("a", "ada", 1_000)).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    await expect(store.delete("a")).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    other.exec("ROLLBACK");
    await store.append("a", 0, [record], headOf("a"));
  });

  test("rejects a head that is none with the client's own error, not as a conflict", async () => {
    const store = sqliteStore(open(newFile()));
    const headless = headOf("a", { createdAt: "no time" });
    await expect(store.append("a", 0, [record], headless)).rejects.toMatchObject({
      code: /^SQLITE_CONSTRAINT_NOTNULL/,
    });
  });
});

describe("sqliteStore among processes", () => {
  test("all of which open a new file at once, each gets its appends in, each once", async () => {
    const file = newFile();
    const names = ["ada", "bea", "cleo"];
    const rivals = await Promise.all(names.map((name) => startRival("sqlite", file, "contested", name, 15)));
    for (const rival of rivals) rival.begin();
    await Promise.all(rivals.map((rival) => rival.finished()));
    expect(await appendsOf(sqliteStore(open(file)), "contested")).toEqual({ ada: 15, bea: 15, cleo: 15 });
  }, 30_000);

  test("keeps what was acknowledged, and whole appends only, when one of them is killed", async () => {
    const file = newFile();
    const rival = await startRival("sqlite", file, "cut-short", "ada", 1_000_000);
    rival.begin();
    await rival.acknowledged(20);
    const acknowledged = await rival.kill();
    const { ada = 0 } = await appendsOf(sqliteStore(open(file)), "cut-short");
    expect(ada - acknowledged).toBeOneOf([0, 1]);
  }, 30_000);
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The database, telling of every call that reaches SQLite. */
function spied(database: Database.Database, calls: string[]): SqliteDatabase {
  return {
    exec(sql) {
      calls.push("exec");
      return database.exec(sql);
    },
    prepare(sql) {
      calls.push("prepare");
      const statement = database.prepare(sql);
      return {
        run(...values) {
          calls.push("run");
          return statement.run(...values);
        },
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
      };
    },
  };
}
