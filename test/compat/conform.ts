// Runs the conformance suite on two connections of the client that is named: better-sqlite3 or node:sqlite.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteDatabase, sqliteStore } from "../../src/stores/sqlite.js";
import { storeConformance } from "../../src/testing/store-conformance.js";

interface Client {
  new (file: string): SqliteDatabase & { close(): void };
}

const name = process.argv[2] ?? "";
const folder = mkdtempSync(join(tmpdir(), "toolweave-compat-"));
const file = join(folder, "runs.db");
// A client that this project does not install: the import is checked when it is run.
const module = await import(name);
const Database: Client = module.DatabaseSync ?? module.default;
const databases = [new Database(file), new Database(file)] as const;
const stores = databases.map(sqliteStore);

let failures = 0;
let passed = 0;
for (const { name, skipped, run } of storeConformance(makeStore, { without: ["watch"] })) {
  if (skipped !== undefined) continue;
  try {
    await run();
    passed += 1;
  } catch (error) {
    failures += 1;
    console.error(`${name}: ${String(error)}`);
  }
}
