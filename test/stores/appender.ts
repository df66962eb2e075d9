// A process that appends to a run which others append to as well: <sqlite|postgres> <location> <run> <name> <appends>.
// It says "ready" once it is loaded, begins at the first line that it reads, and says the number of each append that
// has resolved.
import { once } from "node:events";
import Database from "libsql";
import pg from "pg";
import { isToolweaveError } from "../../src/core/errors.js";
import type { JournalRecord } from "../../src/core/record.js";
import { postgresStore } from "../../src/stores/postgres.js";
import { sqliteStore } from "../../src/stores/sqlite.js";

const [kind, location = "", runId = "", name = "", appends = "0"] = process.argv.slice(2);

console.log("ready");
await once(process.stdin, "data");
const pool = new pg.Pool({ connectionString: location, max: 2 });
const store = kind === "sqlite" ? sqliteStore(new Database(location)) : postgresStore(pool);

const createdAt = "2031-05-01T10:00:00.000Z";
for (let number = 0; number < Number(appends); number++) {
  while (!(await append(number))) {}
  console.log(number);
}
await pool.end();
process.exit();

async function append(number: number): Promise<boolean> {
  let seq = 0;
  for await (const _ of store.read(runId)) seq += 1;
  const records = ["first", "second"].map(
    (part): JournalRecord => ({ kind: "skipped", path: `${name}/${number}/${part}`, at: seq }),
  );
  try {
    await store.append(runId, seq, records, {
      runId,
      workflow: "rivalry",
      status: "running",
      openQuestions: seq + records.length,
      createdAt,
      updatedAt: createdAt,
    });
    return true;
  } catch (error) {
    if (isToolweaveError(error) && error.code === "STORE_CONFLICT") return false;
    throw error;
  }
}
