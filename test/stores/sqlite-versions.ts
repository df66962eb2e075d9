/** The schemas as former versions made them: what they hold has to be read for ever. */
const one = `CREATE TABLE toolweave_migrations (version INTEGER PRIMARY KEY);
   INSERT INTO toolweave_migrations VALUES (1);
   CREATE TABLE toolweave_runs (
     run_id TEXT PRIMARY KEY,
     records INTEGER NOT NULL,
     workflow TEXT NOT NULL,
     status TEXT NOT NULL,
     phase TEXT,
     open_questions INTEGER NOT NULL,
     wake_ms INTEGER,
     created_ms INTEGER NOT NULL,
     updated_ms INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX toolweave_runs_by_age ON toolweave_runs (created_ms, run_id);
   CREATE INDEX toolweave_runs_asking ON toolweave_runs (created_ms, run_id) WHERE open_questions > 0;
   CREATE INDEX toolweave_runs_waking ON toolweave_runs (created_ms, run_id) WHERE wake_ms IS NOT NULL;
   CREATE TABLE toolweave_records (
     run_id TEXT NOT NULL,
     seq INTEGER NOT NULL,
     record TEXT NOT NULL,
     PRIMARY KEY (run_id, seq)
   ) WITHOUT ROWID;
   CREATE TABLE toolweave_leases (
     run_id TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     expires_ms INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE VIEW toolweave_appends AS
     SELECT run_id, records AS seq, '' AS record, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_runs;
   CREATE TRIGGER toolweave_append INSTEAD OF INSERT ON toolweave_appends BEGIN
     INSERT INTO toolweave_runs
       SELECT NEW.run_id, 0, NEW.workflow, NEW.status, NEW.phase, NEW.open_questions, NEW.wake_ms, NEW.created_ms, NEW.updated_ms
       WHERE NEW.seq = 0
       ON CONFLICT (run_id) DO NOTHING;
     UPDATE toolweave_runs
       SET records = records + (NEW.record IS NOT NULL), status = NEW.status, phase = NEW.phase,
         open_questions = NEW.open_questions, wake_ms = NEW.wake_ms, updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND records = NEW.seq;
     SELECT RAISE(ABORT, 'toolweave_conflict') WHERE changes() = 0;
     INSERT INTO toolweave_records SELECT NEW.run_id, NEW.seq, NEW.record WHERE NEW.record IS NOT NULL;
   END;`;

/** Makes the second of the first. */
const two = `INSERT INTO toolweave_migrations VALUES (2);
   DROP TRIGGER toolweave_append;
   DROP VIEW toolweave_appends;
   ALTER TABLE toolweave_runs DROP COLUMN records;
   ALTER TABLE toolweave_records ADD COLUMN updated_ms INTEGER;
   CREATE VIEW toolweave_heads AS
     SELECT run_id, workflow, status, phase, open_questions, wake_ms, created_ms,
       coalesce(
         (SELECT updated_ms FROM toolweave_records WHERE run_id = run.run_id ORDER BY seq DESC LIMIT 1),
         updated_ms
       ) AS updated_ms
     FROM toolweave_runs AS run;
   CREATE VIEW toolweave_appends AS
     SELECT run_id, 0 AS seq, '' AS record, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_runs;
   CREATE TRIGGER toolweave_append INSTEAD OF INSERT ON toolweave_appends BEGIN
     INSERT INTO toolweave_runs
       SELECT NEW.run_id, NEW.workflow, NEW.status, NEW.phase, NEW.open_questions, NEW.wake_ms, NEW.created_ms, NEW.updated_ms
       WHERE NEW.seq = 0
       ON CONFLICT (run_id) DO NOTHING;
     SELECT RAISE(ABORT, 'toolweave_conflict')
       WHERE NOT EXISTS (SELECT 1 FROM toolweave_runs WHERE run_id = NEW.run_id)
       OR NEW.seq <> coalesce((SELECT max(seq) + 1 FROM toolweave_records WHERE run_id = NEW.run_id), 0);
     UPDATE toolweave_runs
       SET status = NEW.status, phase = NEW.phase, open_questions = NEW.open_questions, wake_ms = NEW.wake_ms,
         updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND (
         status <> NEW.status OR phase IS NOT NEW.phase OR open_questions <> NEW.open_questions
         OR wake_ms IS NOT NEW.wake_ms OR NEW.seq = 0
       );
     UPDATE toolweave_records SET updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND seq = NEW.seq - 1 AND NEW.record IS NULL;
     INSERT INTO toolweave_records (run_id, seq, record, updated_ms)
       SELECT NEW.run_id, NEW.seq, NEW.record, NEW.updated_ms WHERE NEW.record IS NOT NULL;
   END;`;

export const formerVersions: readonly (readonly [name: string, sql: string])[] = [
  ["the first", one],
  ["the second", one + two],
];
