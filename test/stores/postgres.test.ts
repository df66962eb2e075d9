import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunHead } from "../../src/ports/run-store.js";
import { type PostgresPool, postgresStore } from "../../src/stores/postgres.js";
import { conform } from "./conform.js";
import { type PostgresServer, startPostgres } from "./postgres-server.js";
import { appendsOf, startRival } from "./rival.js";

const server: PostgresServer = await startPostgres();
afterAll(() => server.stop());

function openPool(options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: server.connectionString, max: 4, ...options });
  // Else a connection that the tests cut would end the process.
  pool.on("error", () => {});
  return pool;
}

/** A pool that the test's end closes. */
function testPool(options?: pg.PoolConfig): pg.Pool {
  const pool = openPool(options);
  onTestFinished(() => pool.end());
  return pool;
}

let databases = 0;

async function newDatabase(): Promise<string> {
  databases += 1;
  await testPool().query(`CREATE DATABASE empty_${databases}`);
  return server.connectionString.replace(/postgres$/, `empty_${databases}`);
}

function headOf(runId: string, change: Partial<RunHead> = {}): RunHead {
  const createdAt = "2031-05-01T10:00:00.000Z";
  return {
    runId,
    workflow: "tidy_up",
    status: "running",
    openQuestions: 0,
    createdAt,
    updatedAt: createdAt,
    ...change,
  };
}

const record: JournalRecord = { kind: "cancel_requested", at: 1 };

describe("postgresStore of a pool", () => {
  const pools = [openPool(), openPool()] as const;
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));
  conform(() => ({ store: postgresStore(pools[0]), reopen: () => postgresStore(pools[1]) }));
});

describe("postgresStore of a client", () => {
  const clients = [0, 1].map(() => new pg.Client(server.connectionString)) as [pg.Client, pg.Client];
  beforeAll(() => Promise.all(clients.map((client) => client.connect())));
  afterAll(() => Promise.all(clients.map((client) => client.end())));
  conform(() => ({ store: postgresStore(clients[0]), reopen: () => postgresStore(clients[1]) }), {
    only: /^(append|race|watch|reopen)/,
  });
});

describe("postgresStore", () => {
  test("is one for each pool", () => {
    const [pool, other] = [testPool(), testPool()];
    expect(postgresStore(pool)).toBe(postgresStore(pool));
    expect(postgresStore(pool)).not.toBe(postgresStore(other));
  });

  test("appends in one round trip, prepared by name", async () => {
    const pool = testPool();
    const store = postgresStore(pool);
    await store.append("one-trip", 0, [record], headOf("one-trip"));
    const query = vi.spyOn(pool, "query");
    await store.append("one-trip", 1, [record, record], headOf("one-trip"));
    expect(query.mock.calls).toEqual([[expect.objectContaining({ name: "toolweave_goOn" })]]);
  });

  describe("sends appends of one record to watched runs together, where they come while others are on their way", () => {
    const ids = Array.from({ length: 20 }, (_, index) => `crew-${index}`);

    async function beginAll(pool: PostgresPool) {
      const store = postgresStore(pool);
      const stops = ids.map((id) => store.watch?.(id, () => {}));
      onTestFinished(async () => {
        for (const stop of stops) stop?.();
        for (const id of ids) await store.delete(id);
      });
      await Promise.all(ids.map((id) => store.append(id, 0, [record], headOf(id))));
      const recordsOf = async (id: string) => {
        const records: JournalRecord[] = [];
        for await (const each of store.read(id)) records.push(each);
        return records;
      };
      return { store, recordsOf };
    }

    test("in few statements, each with its own record and head", async () => {
      const pool = testPool();
      const sent: (string | undefined)[] = [];
      const { store, recordsOf } = await beginAll({
        totalCount: 0,
        options: pool.options,
        connect: () => pool.connect(),
        query(query) {
          sent.push(query.name);
          return pool.query(query);
        },
      });
      sent.length = 0;
      const head = (id: string, index: number) =>
        headOf(id, {
          openQuestions: index,
          ...(index % 2 === 0 && { phase: "undoing", wakeAt: `20${31 + index}-01-01T00:00:00.000Z` }),
        });
      const last = (at: number): JournalRecord => ({ kind: "run_taken", at, driver: `"\\{ä},NULL ${at}` });
      await Promise.all(ids.map((id, index) => store.append(id, 1, [last(index)], head(id, index))));
      expect(sent.filter((name) => name !== "toolweave_announce")).toEqual([
        "toolweave_goOnByOne",
        "toolweave_goOnByOne",
        "toolweave_goOnTogether",
      ]);
      for (const [index, id] of ids.entries()) {
        expect(await store.head(id)).toEqual(head(id, index));
        expect(await recordsOf(id)).toEqual([record, last(index)]);
      }
    });

    test("and each that comes behind another count is a conflict, by itself", async () => {
      const { store, recordsOf } = await beginAll(testPool());
      const late = new Set(["crew-0", "crew-5", "crew-19"]);
      const outcomes = await Promise.allSettled(
        ids.map((id) => store.append(id, late.has(id) ? 2 : 1, [record], headOf(id))),
      );
      for (const [index, id] of ids.entries()) {
        expect(outcomes[index]).toMatchObject(
          late.has(id) ? { status: "rejected", reason: { code: "STORE_CONFLICT" } } : { status: "fulfilled" },
        );
        expect(await recordsOf(id)).toHaveLength(late.has(id) ? 1 : 2);
      }
    });

    test("and one that the database refuses fails alone", async () => {
      const { store, recordsOf } = await beginAll(testPool());
      const isRefused = (id: string) => id === "crew-7";
      const outcomes = await Promise.allSettled(
        ids.map((id) => store.append(id, 1, [record], headOf(id, { openQuestions: isRefused(id) ? 2 ** 40 : 1 }))),
      );
      for (const [index, id] of ids.entries()) {
        expect(outcomes[index]).toMatchObject(
          isRefused(id) ? { status: "rejected", reason: { code: "22003" } } : { status: "fulfilled" },
        );
        expect(await recordsOf(id)).toHaveLength(isRefused(id) ? 1 : 2);
      }
    });

    test("and of two for one run one is placed", async () => {
      const { store, recordsOf } = await beginAll(testPool());
      const outcomes = await Promise.allSettled(
        [...ids, ...ids].map((id) => store.append(id, 1, [record], headOf(id))),
      );
      for (const [index, id] of ids.entries()) {
        const statuses = [outcomes[index], outcomes[index + ids.length]].map((outcome) => outcome?.status);
        expect(statuses.sort()).toEqual(["fulfilled", "rejected"]);
        expect(await recordsOf(id)).toHaveLength(2);
      }
    });
  });

  test("works with a pool of one connection, without a watch that would take it", async () => {
    const store = postgresStore(testPool({ max: 1 }));
    expect(store.watch).toBeUndefined();
    await store.append("alone", 0, [record], headOf("alone"));
    expect(await store.head("alone")).toEqual(headOf("alone"));
  });

  test("works while its pool is exhausted, watching included", async () => {
    const store = postgresStore(testPool({ max: 2 }));
    let hints = 0;
    const stop = store.watch?.("crowd-7", () => {
      hints += 1;
    });
    const ids = Array.from({ length: 60 }, (_, index) => `crowd-${index}`);
    await Promise.all(ids.map((id) => store.append(id, 0, [record], headOf(id))));
    await vi.waitUntil(() => hints > 0, { timeout: 10_000 });
    expect(await Promise.all(ids.map((id) => store.head(id)))).toEqual(ids.map((id) => headOf(id)));
    stop?.();
  });

  test("takes a lost race for a conflict under a stricter isolation too", async () => {
    const store = postgresStore(testPool({ options: "-c default_transaction_isolation=serializable" }));
    await store.append("strict", 0, [record], headOf("strict"));
    const appends = Array.from({ length: 8 }, () => store.append("strict", 1, [record], headOf("strict")));
    const outcomes = await Promise.allSettled(appends);
    const refusals = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason.code);
    expect(refusals).toEqual(Array(7).fill("STORE_CONFLICT"));
  });

  test("rejects with the client's own error, and tries anew the next time", async () => {
    const pool = testPool();
    let reachable = false;
    const flaky: PostgresPool = {
      totalCount: 0,
      options: pool.options,
      connect: () => pool.connect(),
      query: (query) => (reachable ? pool.query(query) : Promise.reject(new Error("no route to the database"))),
    };
    const store = postgresStore(flaky);
    await expect(store.head("flaky")).rejects.toThrow("no route to the database");
    reachable = true;
    await store.append("flaky", 0, [record], headOf("flaky"));
    reachable = false;
    await expect(store.append("flaky", 1, [record], headOf("flaky"))).rejects.toThrow("no route to the database");
  });

  test("leaves no record behind when a run is deleted while it is appended to", async () => {
    const pool = testPool();
    const store = postgresStore(pool);
    for (let round = 0; round < 40; round++) {
      await store.append("doomed", 0, [record], headOf("doomed"));
      await Promise.allSettled([
        store.append("doomed", 1, [record], headOf("doomed")),
        store.delete("doomed"),
        store.append("doomed", 2, [record], headOf("doomed")),
      ]);
      await store.delete("doomed");
      const { rows } = await pool.query(
        "SELECT count(*)::integer AS left FROM toolweave_records WHERE run_id = 'doomed'",
      );
      expect(rows).toEqual([{ left: 0 }]);
    }
  });

  test("refuses a journal of which a row is gone", async () => {
    const pool = testPool();
    const store = postgresStore(pool);
    await store.append("torn", 0, [record, record, record], headOf("torn"));
    await pool.query("DELETE FROM toolweave_records WHERE run_id = 'torn' AND seq = 1");
    const read = async () => {
      for await (const each of store.read("torn")) expect(each).toEqual(record);
    };
    await expect(read).rejects.toMatchObject({ code: "INVALID_JOURNAL" });
  });

  test("reads what is stored whatever parsers the host has set", async () => {
    const types = { getTypeParser: (id: number) => (id === 20 ? BigInt : pg.types.getTypeParser(id)) };
    const store = postgresStore(testPool({ types: types as pg.CustomTypesConfig }));
    const head = headOf("bigint", { wakeAt: "2031-05-01T10:00:00.001Z" });
    await store.append("bigint", 0, [record], head);
    await store.append("bigint-2", 0, [record], headOf("bigint-2", { wakeAt: "2031-05-01T10:00:00.002Z" }));
    expect(await store.head("bigint")).toEqual(head);
    const listed: string[] = [];
    for await (const { runId } of store.list({ after: "bigint", wakeBefore: "2031-05-02" })) listed.push(runId);
    expect(listed).toContain("bigint-2");
  });
});

describe("postgresStore makes its tables", () => {
  test("once, though processes come at the same time, each of which gets its appends in", async () => {
    const location = await newDatabase();
    const names = ["ada", "bea", "cleo"];
    const rivals = await Promise.all(names.map((name) => startRival("postgres", location, "contested", name, 15)));
    for (const rival of rivals) rival.begin();
    await Promise.all(rivals.map((rival) => rival.finished()));
    const store = postgresStore(testPool({ connectionString: location }));
    expect(await appendsOf(store, "contested")).toEqual({ ada: 15, bea: 15, cleo: 15 });
  }, 30_000);

  test("and keeps what was acknowledged, whole appends only, when a process is killed", async () => {
    const rival = await startRival("postgres", server.connectionString, "cut-short", "ada", 1_000_000);
    rival.begin();
    await rival.acknowledged(20);
    const acknowledged = await rival.kill();
    const { ada = 0 } = await appendsOf(postgresStore(testPool()), "cut-short");
    expect(ada - acknowledged).toBeOneOf([0, 1]);
  }, 30_000);

  test("and refuses those of a later version", async () => {
    const location = await newDatabase();
    const pool = testPool({ connectionString: location });
    await postgresStore(pool).head("none");
    await pool.query("INSERT INTO toolweave_migrations VALUES (9)");
    const store = postgresStore(testPool({ connectionString: location }));
    await expect(store.head("none")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("or uses those that are there, as a role that may make none", async () => {
    const location = await newDatabase();
    const owner = testPool({ connectionString: location });
    await postgresStore(owner).head("none");
    await owner.query(`CREATE ROLE guest LOGIN PASSWORD 'guest';
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest`);
    const store = postgresStore(testPool({ connectionString: location.replace("toolweave:toolweave", "guest:guest") }));
    await store.append("guest", 0, [record], headOf("guest"));
    await store.delete("guest");
    expect(await store.head("guest")).toBeUndefined();
  });
});

describe("postgresStore.watch", () => {
  /** The connections of the pool that listen now. */
  async function listening(pool: pg.Pool): Promise<number[]> {
    const { rows } = await pool.query(
      "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN toolweave' AND application_name = $1",
      [pool.options.application_name],
    );
    return rows.map(({ pid }) => pid);
  }

  test("listens on one connection, for as long as anyone watches", async () => {
    const pool = testPool({ application_name: "frugal" });
    const store = postgresStore(pool);
    const stops = ["frugal-1", "frugal-1", "frugal-2"].map((id) => store.watch?.(id, () => {}));
    await vi.waitUntil(async () => (await listening(pool)).length === 1, { timeout: 10_000 });
    stops[0]?.();
    stops[1]?.();
    expect(await listening(pool)).toHaveLength(1);
    stops[2]?.();
    await vi.waitUntil(async () => (await listening(pool)).length === 0, { timeout: 10_000 });
    await vi.waitUntil(() => pool.idleCount === pool.totalCount, { timeout: 10_000 });
  });

  test("takes another connection when it loses its own, and hints at what it missed", async () => {
    const pool = testPool({ application_name: "cut" });
    const [store, other] = [postgresStore(pool), postgresStore(testPool())];
    let hints = 0;
    const stop = store.watch?.("cut", () => {
      hints += 1;
    });
    await vi.waitUntil(() => hints === 1, { timeout: 10_000 });
    const [pid] = await listening(pool);
    await other.head("cut");
    await Promise.all([
      pool.query("SELECT pg_terminate_backend($1)", [pid]),
      other.append("cut", 0, [record], headOf("cut")),
    ]);
    await vi.waitUntil(async () => (await listening(pool)).some((each) => each !== pid) && hints >= 2, {
      timeout: 10_000,
    });
    const before = hints;
    await other.append("cut", 1, [record], headOf("cut"));
    await vi.waitUntil(() => hints > before, { timeout: 10_000 });
    stop?.();
  });

  test("listens again for whoever watches after everyone had stopped", async () => {
    const [store, other] = [postgresStore(testPool()), postgresStore(testPool())];
    for (let round = 0; round < 3; round++) {
      let hints = 0;
      const stop = store.watch?.("again", () => {
        hints += 1;
      });
      await other.append("again", round, [record], headOf("again"));
      await vi.waitUntil(() => hints > 0, { timeout: 10_000 });
      stop?.();
    }
  });

  test("tells others of the appends of one who watches too", async () => {
    const [driver, viewer] = [postgresStore(testPool()), postgresStore(testPool())];
    let seen = 0;
    const stops = [
      driver.watch?.("shown", () => {}),
      viewer.watch?.("shown", async () => {
        seen = Math.max(seen, (await viewer.head("shown"))?.openQuestions ?? 0);
      }),
    ];
    for (let seq = 0; seq < 20; seq++)
      await driver.append("shown", seq, [record], headOf("shown", { openQuestions: seq + 1 }));
    await vi.waitUntil(() => seen === 20, { timeout: 10_000 });
    for (const stop of stops) stop?.();
  });

  test("tells others what is left to tell when the last one stops watching, who may end the pool then", async () => {
    const pool = openPool();
    const [driver, viewer] = [postgresStore(pool), postgresStore(testPool())];
    let hints = 0;
    let seen = 0;
    const stopViewing = viewer.watch?.("left", async () => {
      hints += 1;
      seen = Math.max(seen, (await viewer.head("left"))?.openQuestions ?? 0);
    });
    await vi.waitUntil(() => hints > 0, { timeout: 10_000 });
    const stop = driver.watch?.("left", () => {});
    for (let seq = 0; seq < 5; seq++)
      await driver.append("left", seq, [record], headOf("left", { openQuestions: seq + 1 }));
    stop?.();
    await driver.head("left");
    await pool.end();
    await vi.waitUntil(() => seen === 5, { timeout: 10_000 });
    stopViewing?.();
  });
});
