import pg from "pg";
import { memoryStore } from "../dist/index.js";
import { postgresStore } from "../dist/postgres.js";
import { chain, drive, recordText } from "./chain.mjs";
import { count, microseconds, wall } from "./timing.mjs";

const connectionString = process.env.TOOLWEAVE_BENCH_POSTGRES;
const steps = count(100, 200);

async function inDatabase(connections, work) {
  const pool = new pg.Pool({ connectionString, max: connections });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const atOnce = (runs, work) => Promise.all(Array.from({ length: runs }, work));

/** Microseconds for a read step, of so many runs at once. The one connection more is what watching takes. */
export function toolweave(runs) {
  return inDatabase(runs + 1, async (pool) => {
    const store = postgresStore(pool);
    const workflow = chain("read", steps);
    // The engine gets warm in memory: most of the time it takes here is spent waiting for the server.
    await microseconds(steps, () => drive(workflow, memoryStore()));
    return microseconds(steps * runs, () => atOnce(runs, () => drive(workflow, store)), wall);
  });
}

/** Microseconds for a commit of one row, of the size of a record, on so many connections at once. */
export function commits(connections) {
  return inDatabase(connections, async (pool) => {
    const memory = memoryStore();
    const text = await recordText(memory, (await drive(chain("read", 10), memory)).runId);
    await pool.query(
      'CREATE TABLE IF NOT EXISTS raw (run_id text COLLATE "C", seq integer, record text, PRIMARY KEY (run_id, seq))',
    );
    const insert = { name: "insert", text: "INSERT INTO raw VALUES ($1, $2, $3)" };
    const commit = async () => {
      const runId = crypto.randomUUID();
      for (let seq = 0; seq < steps; seq++) await pool.query({ ...insert, values: [runId, seq, text] });
    };
    return microseconds(steps * connections, () => atOnce(connections, commit), wall);
  });
}
