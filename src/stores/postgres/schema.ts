import { ToolweaveError } from "../../core/errors.js";
import type { PostgresClient, PostgresPool } from "./notifier.js";

/** One text for each version of the schema, in order, in PL/pgSQL. A text that was released is never changed. */
const migrations: readonly string[] = [
  `CREATE TABLE toolweave_runs (
     run_id text COLLATE "C" PRIMARY KEY,
     records integer NOT NULL,
     workflow text NOT NULL,
     status text NOT NULL,
     phase text,
     open_questions integer NOT NULL,
     wake_ms bigint,
     created_ms bigint NOT NULL,
     updated_ms bigint NOT NULL
   );
   CREATE INDEX toolweave_runs_by_age ON toolweave_runs (created_ms, run_id);
   CREATE INDEX toolweave_runs_asking ON toolweave_runs (created_ms, run_id) WHERE open_questions > 0;
   CREATE INDEX toolweave_runs_waking ON toolweave_runs (created_ms, run_id) WHERE wake_ms IS NOT NULL;
   CREATE TABLE toolweave_records (
     run_id text COLLATE "C" NOT NULL,
     seq integer NOT NULL,
     record text NOT NULL,
     PRIMARY KEY (run_id, seq)
   );
   CREATE TABLE toolweave_leases (
     run_id text COLLATE "C" PRIMARY KEY,
     owner text COLLATE "C" NOT NULL,
     expires_at timestamptz NOT NULL
   );
   CREATE FUNCTION toolweave_delete(doomed text) RETURNS void LANGUAGE plpgsql AS $delete$
   BEGIN
     -- An append that holds the run is awaited, so that the next statement sees its records too.
     PERFORM FROM toolweave_runs WHERE run_id = doomed FOR UPDATE;
     DELETE FROM toolweave_records WHERE run_id = doomed;
     DELETE FROM toolweave_runs WHERE run_id = doomed;
     DELETE FROM toolweave_leases WHERE run_id = doomed;
   END $delete$;`,
];

const migration = `DO $migrate$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('toolweave_migrations'));
  IF to_regclass('toolweave_migrations') IS NULL THEN
    CREATE TABLE toolweave_migrations (version integer PRIMARY KEY);
  END IF;
  ${migrations
    .map(
      (sql, index) => `IF NOT EXISTS (SELECT FROM toolweave_migrations WHERE version = ${index + 1}) THEN
        ${sql}
        INSERT INTO toolweave_migrations VALUES (${index + 1});
      END IF;`,
    )
    .join("\n")}
END $migrate$`;

/**
 * Brings the schema to the version that is known here; processes that come at the same time wait for each other.
 * @throws ToolweaveError STORE_UNAVAILABLE when it is at a later one.
 */
export async function migrate(database: PostgresPool | PostgresClient): Promise<void> {
  await database.query({ text: migration });
  const { rows } = await database.query({ text: "SELECT count(*)::integer AS version FROM toolweave_migrations" });
  const [{ version }] = rows as [{ version: number }];
  if (version <= migrations.length) return;
  throw new ToolweaveError(
    "STORE_UNAVAILABLE",
    `PostgreSQL store: the database is at version ${version} of the schema, expected at most ${migrations.length}. Update Toolweave.`,
  );
}
