import { channel } from "./notifier.js";

// The count of the run's row decides: whoever comes second waits for the row, then finds another count. Nothing is then
// placed, so nothing is added and nobody notified.
const add = `
  added AS (
    INSERT INTO toolweave_records
    SELECT $1, $2::integer + place - 1, record FROM placed, unnest((SELECT $3::text[])) WITH ORDINALITY AS given (record, place)
  )
  SELECT CASE WHEN $4::boolean THEN pg_notify('${channel}', $1)::text END FROM placed`;

export const appendStatements = {
  begin: `WITH placed AS (
      INSERT INTO toolweave_runs AS run
        (run_id, records, status, phase, open_questions, wake_ms, updated_ms, workflow, created_ms)
      VALUES ($1, cardinality($3::text[]), $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT (run_id) DO UPDATE
      SET records = excluded.records, status = $5, phase = $6, open_questions = $7, wake_ms = $8, updated_ms = $9
      WHERE run.records = $2::integer
      RETURNING run_id
    ), ${add}`,
  goOn: `WITH placed AS (
      UPDATE toolweave_runs
      SET records = records + cardinality($3::text[]), status = $5, phase = $6, open_questions = $7, wake_ms = $8,
        updated_ms = $9
      WHERE run_id = $1 AND records = $2::integer
      RETURNING run_id
    ), ${add}`,
  goOnByOne: `WITH placed AS (
      UPDATE toolweave_runs
      SET records = $2::integer + 1, status = $4, phase = $5, open_questions = $6, wake_ms = $7, updated_ms = $8
      WHERE run_id = $1 AND records = $2::integer
      RETURNING run_id
    )
    INSERT INTO toolweave_records SELECT run_id, $2::integer, $3 FROM placed`,
  goOnTogether: `WITH given AS (
      SELECT * FROM unnest(
        (SELECT $1::text[]), (SELECT $2::integer[]), (SELECT $3::text[]), (SELECT $4::text[]),
        (SELECT $5::text[]), (SELECT $6::integer[]), (SELECT $7::bigint[]), (SELECT $8::bigint[])
      ) AS given (run_id, seq, record, status, phase, open_questions, wake_ms, updated_ms)
    ), placed AS (
      UPDATE toolweave_runs AS run
      SET records = seq + 1, status = given.status, phase = given.phase, open_questions = given.open_questions,
        wake_ms = given.wake_ms, updated_ms = given.updated_ms
      FROM given WHERE run.run_id = given.run_id AND run.records = seq
      RETURNING run.run_id
    ), added AS (
      INSERT INTO toolweave_records SELECT run_id, seq, record FROM given JOIN placed USING (run_id)
    )
    SELECT run_id FROM placed`,
} as const;

/** One record for a run that has begun: the values of `goOnByOne`. */
export type OneRecord = readonly [
  runId: string,
  expectedSeq: number,
  record: string,
  status: string,
  phase: string | undefined,
  openQuestions: number,
  wakeMs: number | null,
  updatedMs: number,
];

type Query = (
  name: "goOnByOne" | "goOnTogether",
  values: readonly unknown[],
) => Promise<{ readonly rows: readonly unknown[]; readonly count: number }>;

interface Waiting {
  readonly one: OneRecord;
  resolve(isPlaced: boolean): void;
  reject(error: unknown): void;
}

const mostInFlight = 2;
const mostTogether = 100;
const longestTogether = 8_192;

/**
 * Appends of one record each. Those that come while others are on their way go on together, in one statement: a
 * statement costs several times what one more run in it does. Each still succeeds or fails by itself.
 *
 * @returns whether the record was placed: if not, someone else came first.
 */
export function oneByOneOrTogether(query: Query): (one: OneRecord) => Promise<boolean> {
  let inFlight = 0;
  const waiting = new Map<string, Waiting>();

  async function alone(one: OneRecord): Promise<boolean> {
    const { count } = await query("goOnByOne", one);
    return count === 1;
  }

  async function together(batch: readonly Waiting[]): Promise<void> {
    try {
      // In the order of their ids, so that two processes wait for each other's rows one way only.
      const sorted = batch.map(({ one }) => one).sort(([a], [b]) => (a < b ? -1 : 1));
      const { rows } = await query("goOnTogether", columnsOf(sorted));
      const placed = new Set((rows as readonly { run_id: string }[]).map(({ run_id }) => run_id));
      for (const { one, resolve } of batch) resolve(placed.has(one[0]));
    } catch {
      // Only one of them may be at fault.
      await Promise.all(batch.map(({ one, resolve, reject }) => alone(one).then(resolve, reject)));
    }
  }

  async function fly<T>(sending: Promise<T>): Promise<T> {
    inFlight += 1;
    try {
      return await sending;
    } finally {
      inFlight -= 1;
      sendWaiting();
    }
  }

  function sendWaiting(): void {
    if (waiting.size === 0 || inFlight >= mostInFlight) return;
    const batch = [...waiting.values()].slice(0, mostTogether);
    for (const { one } of batch) waiting.delete(one[0]);
    void fly(together(batch));
  }

  return (one) => {
    const [runId, , record] = one;
    if (inFlight < mostInFlight || waiting.has(runId) || record.length > longestTogether) return fly(alone(one));
    return new Promise((resolve, reject) => waiting.set(runId, { one, resolve, reject }));
  };
}

function columnsOf(rows: readonly OneRecord[]): unknown[][] {
  const columns: unknown[][] = [[], [], [], [], [], [], [], []];
  for (const row of rows) for (const [index, value] of row.entries()) columns[index]?.push(value ?? null);
  return columns;
}
