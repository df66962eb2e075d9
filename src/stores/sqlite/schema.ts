/** One text for each version of the schema, in order. A text that was released is never changed. */
export const migrations: readonly string[] = [
  // One insert into `toolweave_appends` is one append of one record: it moves the run's count and head, and adds the
  // record behind them, in the transaction of that one statement. A record that is null leaves the count.
  `CREATE TABLE toolweave_runs (
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
   END;`,
  // The time of an append stands beside its record, and a head is written only where it differs: most appends write one
  // page, which is what a commit costs. A run's count is where its records end.
  `DROP TRIGGER toolweave_append;
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
   END;`,
  // A record's place is its run's number and its own, in one integer: records of the newest runs come last in the table,
  // where SQLite fills pages one after the other. Keyed by text, an append in the midst of it wrote two pages.
  `DROP TRIGGER toolweave_append;
   DROP VIEW toolweave_appends;
   DROP VIEW toolweave_heads;
   DROP INDEX toolweave_runs_by_age;
   DROP INDEX toolweave_runs_asking;
   DROP INDEX toolweave_runs_waking;
   ALTER TABLE toolweave_runs RENAME TO toolweave_old_runs;
   ALTER TABLE toolweave_records RENAME TO toolweave_old_records;
   CREATE TABLE toolweave_runs (
     number INTEGER PRIMARY KEY,
     run_id TEXT NOT NULL UNIQUE,
     workflow TEXT NOT NULL,
     status TEXT NOT NULL,
     phase TEXT,
     open_questions INTEGER NOT NULL,
     wake_ms INTEGER,
     created_ms INTEGER NOT NULL,
     updated_ms INTEGER NOT NULL,
     first_place INTEGER AS (number << 32),
     last_place INTEGER AS ((number + 1 << 32) - 1)
   );
   CREATE TABLE toolweave_records (
     place INTEGER PRIMARY KEY,
     record TEXT NOT NULL,
     updated_ms INTEGER
   );
   INSERT INTO toolweave_runs (run_id, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms)
     SELECT run_id, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_old_runs ORDER BY created_ms, run_id;
   INSERT INTO toolweave_records
     SELECT first_place + seq AS place, record, old.updated_ms
     FROM toolweave_runs JOIN toolweave_old_records AS old USING (run_id) ORDER BY place;
   DROP TABLE toolweave_old_records;
   DROP TABLE toolweave_old_runs;
   CREATE INDEX toolweave_runs_by_age ON toolweave_runs (created_ms, run_id);
   CREATE INDEX toolweave_runs_asking ON toolweave_runs (created_ms, run_id) WHERE open_questions > 0;
   CREATE INDEX toolweave_runs_waking ON toolweave_runs (created_ms, run_id) WHERE wake_ms IS NOT NULL;
   CREATE VIEW toolweave_heads AS
     SELECT run_id, workflow, status, phase, open_questions, wake_ms, created_ms,
       coalesce(
         (SELECT updated_ms FROM toolweave_records WHERE place BETWEEN first_place AND last_place ORDER BY place DESC LIMIT 1),
         updated_ms
       ) AS updated_ms
     FROM toolweave_runs;
   CREATE VIEW toolweave_appends AS
     SELECT run_id, 0 AS seq, '' AS record, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms
     FROM toolweave_runs;
   CREATE TRIGGER toolweave_append INSTEAD OF INSERT ON toolweave_appends BEGIN
     INSERT INTO toolweave_runs (run_id, workflow, status, phase, open_questions, wake_ms, created_ms, updated_ms)
       SELECT NEW.run_id, NEW.workflow, NEW.status, NEW.phase, NEW.open_questions, NEW.wake_ms, NEW.created_ms, NEW.updated_ms
       WHERE NEW.seq = 0
       ON CONFLICT (run_id) DO NOTHING;
     SELECT RAISE(ABORT, 'toolweave_conflict') WHERE NOT EXISTS (
       SELECT 1 FROM toolweave_runs WHERE run_id = NEW.run_id AND first_place + NEW.seq = coalesce(
         (SELECT place + 1 FROM toolweave_records WHERE place BETWEEN first_place AND last_place ORDER BY place DESC LIMIT 1),
         first_place
       )
     );
     UPDATE toolweave_runs
       SET status = NEW.status, phase = NEW.phase, open_questions = NEW.open_questions, wake_ms = NEW.wake_ms,
         updated_ms = NEW.updated_ms
       WHERE run_id = NEW.run_id AND (
         status <> NEW.status OR phase IS NOT NEW.phase OR open_questions <> NEW.open_questions
         OR wake_ms IS NOT NEW.wake_ms OR NEW.seq = 0
       );
     UPDATE toolweave_records SET updated_ms = NEW.updated_ms
       WHERE NEW.record IS NULL AND place = (SELECT first_place + NEW.seq - 1 FROM toolweave_runs WHERE run_id = NEW.run_id);
     INSERT INTO toolweave_records
       SELECT first_place + NEW.seq, NEW.record, NEW.updated_ms FROM toolweave_runs
       WHERE run_id = NEW.run_id AND NEW.record IS NOT NULL;
   END;`,
];
