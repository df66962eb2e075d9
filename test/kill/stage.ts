import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import type { RunStore } from "../../src/ports/run-store.js";
import { postgresStore } from "../../src/stores/postgres.js";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { startPostgres } from "../stores/postgres-server.js";
import type { StoreKind } from "./jobs.js";
import type { Stage } from "./play.js";
import { type Programs, startLedger, Workers } from "./workers.js";

interface Place {
  readonly location: string;
  readonly store: RunStore;
  close(): Promise<void>;
}

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "toolweave-kill-"));
  const location = join(folder, "runs.db");
  const database = new Database(location);
  return {
    location,
    store: sqliteStore(database),
    async close() {
      database.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function postgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.connectionString, max: 4 });
  // Else a connection that the server's end cuts would end the process.
  pool.on("error", () => {});
  return {
    location: server.connectionString,
    store: postgresStore(pool),
    async close() {
      await pool.end();
      await server.stop();
    },
  };
}

/** A store of the kind, the ledger, and workers on both. */
export async function setStage(kind: StoreKind, programs: Programs): Promise<Stage & { strike(): Promise<void> }> {
  const { location, store, close } = await (kind === "sqlite" ? sqlitePlace() : postgresPlace());
  const { ledger, stop } = await startLedger(programs);
  const workers = new Workers(programs.worker, { store: kind, location, ledgerPort: ledger.port });
  return {
    store,
    ledger,
    workers,
    async strike() {
      await workers.stop();
      stop();
      await close();
    },
  };
}
