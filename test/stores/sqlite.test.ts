import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { conform } from "./conform.js";

describe("sqliteStore", () => {
  conform(
    () => {
      const folder = mkdtempSync(join(tmpdir(), "toolweave-sqlite-"));
      const databases: { close(): void }[] = [];
      function open() {
        const database = new Database(join(folder, "runs.db"));
        databases.push(database);
        return sqliteStore(database);
      }
      return {
        store: open(),
        reopen: open,
        dispose() {
          for (const database of databases) database.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
    { without: ["watch"] },
  );
});
