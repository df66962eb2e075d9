import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { memoryStore } from "../dist/index.js";
import { sqliteStore } from "../dist/sqlite.js";
import { chain, drive, recordText } from "./chain.mjs";
import { count, microseconds, wall } from "./timing.mjs";

const steps = count(100, 200);

async function inDatabase(work) {
  const folder = mkdtempSync(join(tmpdir(), "toolweave-bench-"));
  const database = new Database(join(folder, "runs.db"));
  try {
    return await work(database);
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

/** Microseconds for a step; `tool` is "read" or "write". */
export function toolweave(tool) {
  return inDatabase((database) => {
    const store = sqliteStore(database);
    const workflow = chain(tool, steps);
    return microseconds(steps, () => drive(workflow, store), wall);
  });
}

/** Microseconds for so many commits of one row, of the size of a record, with the same pragmas. */
export function commits(rows) {
  return inDatabase(async (database) => {
    const memory = memoryStore();
    const text = await recordText(memory, (await drive(chain("read", 10), memory)).runId);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    database.exec("CREATE TABLE raw (run_id TEXT, seq INTEGER, record TEXT, PRIMARY KEY (run_id, seq)) WITHOUT ROWID");
    const insert = database.prepare("INSERT INTO raw VALUES (?, ?, ?)");
    let seq = 0;
    const runId = crypto.randomUUID();
    const commit = () => {
      for (let index = 0; index < steps; index++) insert.run(runId, seq++, text);
    };
    return rows * (await microseconds(steps, commit, wall));
  });
}
