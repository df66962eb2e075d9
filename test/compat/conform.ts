// Runs the conformance suite on two connections of the client that is named: better-sqlite3 or node:sqlite.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteDatabase, sqliteStore } from "../../src/stores/sqlite.js";
import { storeConformance } from "../../src/testing/store-conformance.js";

interface Client {
  new (file: string): SqliteDatabase & { close(): void };
}

const client = process.argv[2] ?? "";
const module: { DatabaseSync?: Client; default: Client } = await import(client);
const Database = module.DatabaseSync ?? module.default;

const folder = mkdtempSync(join(tmpdir(), "toolweave-compat-"));
const databases = ["first", "second"].map(() => new Database(join(folder, "runs.db")));
const [store, other] = databases.map((database) => sqliteStore(database));
if (store === undefined || other === undefined) throw new Error("Two connections give two stores.");

let passed = 0;
let failed = 0;
for (const { name, skipped, run } of storeConformance(() => ({ store, reopen: () => other }), { without: ["watch"] })) {
  if (skipped !== undefined) continue;
  try {
    await run();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.error(`${name}: ${String(error)}`);
  }
}
console.log(`${client}, Node ${process.version}: ${passed} passed, ${failed} failed`);
for (const database of databases) database.close();
rmSync(folder, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
