import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { postgresStore } from "../../src/stores/postgres.js";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { startPostgres } from "./postgres-server.js";

/** Two handles on the same runs, as two processes have them. */
export interface Handles {
  readonly store: RunStore;
  readonly other: RunStore;
}

interface Opened extends Handles {
  close(): Promise<void>;
}

const openers: Readonly<Record<string, () => Opened | Promise<Opened>>> = {
  memory() {
    const store = memoryStore();
    return { store, other: store, close: async () => undefined };
  },
  sqlite() {
    const folder = mkdtempSync(join(tmpdir(), "toolweave-each-"));
    const databases = [0, 1].map(() => new Database(join(folder, "runs.db"))) as [Database.Database, Database.Database];
    return {
      store: sqliteStore(databases[0]),
      other: sqliteStore(databases[1]),
      async close() {
        for (const database of databases) database.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
  async postgres() {
    const server = await startPostgres();
    const open = () => {
      const pool = new pg.Pool({ connectionString: server.connectionString, max: 3 });
      // Else a connection that the server's end cuts would end the process.
      pool.on("error", () => {});
      return pool;
    };
    const pools = [open(), open()] as const;
    return {
      store: postgresStore(pools[0]),
      other: postgresStore(pools[1]),
      // Drivers that the tests left for dead may still listen, so that a pool would wait for them.
      close: () => server.stop(),
    };
  },
};

/** Describes what holds on every store of the project; `handles` gives the store once tests run. */
export function describeOnEachStore(name: string, body: (handles: () => Handles) => void): void {
  describe.each(Object.keys(openers))(`${name}, on %s`, { timeout: 30_000 }, (kind) => {
    let opened: Opened | undefined;
    beforeAll(async () => {
      opened = await openers[kind]?.();
    }, 60_000);
    afterAll(() => opened?.close(), 60_000);
    body(() => {
      if (opened === undefined) throw new Error("The store is open once tests run.");
      return opened;
    });
  });
}
