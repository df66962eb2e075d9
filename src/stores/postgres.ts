import { ConflictError } from "../core/errors.js";
import type { JournalRecord } from "../core/record.js";
import { lostRecord } from "../ports/lost-record.js";
import type { RunFilter, RunHead, RunLease, RunStore } from "../ports/run-store.js";
import { checkTtl, type FilterArguments, filterArguments, unknownAfter } from "../ports/store-arguments.js";
import { appendStatements, oneByOneOrTogether } from "./postgres/appends.js";
import {
  inTurn,
  isPool,
  type PostgresClient,
  type PostgresPool,
  type PostgresQuery,
  postgresNotifier,
} from "./postgres/notifier.js";
import { migrate } from "./postgres/schema.js";

export type {
  PostgresClient,
  PostgresPool,
  PostgresPoolClient,
  PostgresQuery,
  PostgresResult,
} from "./postgres/notifier.js";

const statements = {
  ...appendStatements,
  // The page ends with the record that fills it, so that large records are never held by the hundred.
  page: `SELECT record, seq, (SELECT records FROM toolweave_runs WHERE run_id = $1) AS count
    FROM toolweave_records
    WHERE run_id = $1 AND seq >= $2::integer AND seq <= (
      SELECT max(seq) FROM (
        SELECT seq, sum(octet_length(record)) OVER (ORDER BY seq) - octet_length(record) AS before
        FROM toolweave_records WHERE run_id = $1 AND seq >= $2::integer ORDER BY seq LIMIT 500
      ) AS sizes WHERE before < 4194304
    ) ORDER BY seq`,
  head: "SELECT * FROM toolweave_runs WHERE run_id = $1",
  delete: "SELECT toolweave_delete($1)",
  claim: `INSERT INTO toolweave_leases AS held VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
    ON CONFLICT (run_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
    WHERE held.owner = excluded.owner OR held.expires_at <= clock_timestamp()`,
  renew: `UPDATE toolweave_leases SET expires_at = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE run_id = $1 AND owner = $2`,
  release: "DELETE FROM toolweave_leases WHERE run_id = $1 AND owner = $2",
} as const;

const pageRuns = 200;

interface RunPlace {
  readonly run_id: string;
  // A bigint comes as text, unless the host has set another parser.
  readonly created_ms: string | number | bigint;
}

interface RunRow extends RunPlace {
  readonly workflow: string;
  readonly status: RunHead["status"];
  readonly phase: RunHead["phase"] | null;
  readonly open_questions: number;
  readonly wake_ms: string | number | bigint | null;
  readonly updated_ms: string | number | bigint;
}

/** One store for each pool, so that it listens on one connection, however often it is asked for. */
const stores = new WeakMap<PostgresPool | PostgresClient, RunStore>();

/**
 * Keeps runs in a PostgreSQL database, through a pool or a client of `pg` that the host opens and ends. Tables are made
 * on first use, in the first schema of the search path. A method rejects with the client's own error.
 * Watching takes one connection of a pool for as long as anyone watches; a pool of one connection has no `watch`.
 */
export function postgresStore(database: PostgresPool | PostgresClient): RunStore {
  const store = stores.get(database) ?? makeStore(isPool(database) ? database : inTurn(database));
  stores.set(database, store);
  return store;
}

function makeStore(database: PostgresPool | PostgresClient): RunStore {
  const notifier = postgresNotifier(database);
  let migrated: Promise<void> | undefined;

  async function queryText<Row>(query: PostgresQuery): Promise<{ rows: readonly Row[]; count: number }> {
    migrated ??= migrate(database);
    try {
      await migrated;
    } catch (error) {
      migrated = undefined;
      throw error;
    }
    const { rows, rowCount } = await database.query(query);
    // The columns are those that the text selects.
    return { rows: rows as readonly Row[], count: rowCount ?? 0 };
  }

  function query<Row>(name: keyof typeof statements, ...values: unknown[]) {
    return queryText<Row>({ name: `toolweave_${name}`, text: statements[name], values });
  }

  const goOnByOne = oneByOneOrTogether((name, values) => query(name, ...values));

  async function append(
    runId: string,
    expectedSeq: number,
    records: readonly JournalRecord[],
    head: RunHead,
  ): Promise<void> {
    const texts = records.map((record) => JSON.stringify(record));
    const wakeMs = head.wakeAt === undefined ? null : Date.parse(head.wakeAt);
    const columns = [head.status, head.phase, head.openQuestions, wakeMs, Date.parse(head.updatedAt)] as const;
    const isWatched = notifier.isWatched(runId);
    try {
      if (!(await place())) throw new ConflictError(runId, expectedSeq);
    } catch (error) {
      throw isConflict(error) ? new ConflictError(runId, expectedSeq) : error;
    }
    if (isWatched) notifier.announce(runId);

    async function place(): Promise<boolean> {
      const [text] = texts;
      if (expectedSeq > 0 && text !== undefined && texts.length === 1 && isWatched) {
        return goOnByOne([runId, expectedSeq, text, ...columns]);
      }
      const values = [runId, expectedSeq, texts, !isWatched, ...columns];
      const begins = [head.workflow, Date.parse(head.createdAt)];
      const { count } = await (expectedSeq === 0 ? query("begin", ...values, ...begins) : query("goOn", ...values));
      return count === 1;
    }
  }

  async function* read(runId: string, fromSeq = 0): AsyncGenerator<JournalRecord, void, undefined> {
    let next = fromSeq;
    let count = Number.POSITIVE_INFINITY;
    while (next < count) {
      const { rows } = await query<{ record: string; seq: number; count: number }>("page", runId, next);
      count = rows[0]?.count ?? 0;
      for (const { record, seq } of rows) {
        if (Number(seq) !== next) throw lostRecord(runId, next);
        yield JSON.parse(record) as JournalRecord;
        next++;
      }
    }
  }

  async function rowOf(runId: string): Promise<RunRow | undefined> {
    const { rows } = await query<RunRow>("head", runId);
    return rows[0];
  }

  async function* list(filter: RunFilter = {}): AsyncGenerator<RunHead, void, undefined> {
    const wanted = filterArguments(filter);
    let last: RunPlace = { created_ms: Number.MIN_SAFE_INTEGER, run_id: "" };
    if (wanted.after !== undefined) {
      const row = await rowOf(wanted.after);
      if (row === undefined) throw unknownAfter(wanted.after);
      last = row;
    }
    for (let left = wanted.limit; left > 0; ) {
      const size = Math.min(left, pageRuns);
      const { rows } = await queryText<RunRow>(listQuery(wanted, last, size));
      for (const row of rows) {
        yield headOf(row);
        last = row;
      }
      left = rows.length < size ? 0 : left - size;
    }
  }

  const lease: RunLease = {
    async claim(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      const { count } = await query("claim", runId, owner, ttlMs);
      return count === 1;
    },
    async renew(runId, owner, ttlMs) {
      checkTtl(ttlMs);
      const { count } = await query("renew", runId, owner, ttlMs);
      return count === 1;
    },
    async release(runId, owner) {
      await query("release", runId, owner);
    },
  };

  return {
    append,
    read,
    list,
    async head(runId) {
      const row = await rowOf(runId);
      return row && headOf(row);
    },
    async delete(runId) {
      await query("delete", runId);
    },
    lease,
    ...(!(isPool(database) && database.options.max === 1) && { watch: notifier.watch }),
  };
}

// 23505: the place of a record is taken. 40001: where the host has set a stricter isolation, someone came first.
function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "23505" || error.code === "40001");
}

function headOf(row: RunRow): RunHead {
  return {
    runId: row.run_id,
    workflow: row.workflow,
    status: row.status,
    ...(row.phase && { phase: row.phase }),
    openQuestions: row.open_questions,
    ...(row.wake_ms !== null && { wakeAt: isoTime(row.wake_ms) }),
    createdAt: isoTime(row.created_ms),
    updatedAt: isoTime(row.updated_ms),
  };
}

function isoTime(ms: string | number | bigint): string {
  return new Date(Number(ms)).toISOString();
}

function listQuery(wanted: FilterArguments, { created_ms, run_id }: RunPlace, size: number): PostgresQuery {
  const values: unknown[] = [created_ms, run_id, size];
  const terms = ["(created_ms, run_id) > ($1, $2)"];
  const compare = (sql: string, value: unknown) => {
    if (value !== undefined) terms.push(`${sql} $${values.push(value)}`);
  };
  if (wanted.withOpenQuestions) terms.push("open_questions > 0");
  if (wanted.statuses !== undefined) terms.push(`status = ANY($${values.push(wanted.statuses)})`);
  compare("workflow =", wanted.workflow);
  compare("created_ms >=", wanted.createdFromMs);
  compare("created_ms <", wanted.createdBeforeMs);
  compare("wake_ms <=", wanted.wakeBeforeMs);
  return {
    text: `SELECT * FROM toolweave_runs WHERE ${terms.join(" AND ")} ORDER BY created_ms, run_id LIMIT $3`,
    values,
  };
}
