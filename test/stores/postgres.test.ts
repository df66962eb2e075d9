import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStore } from "../../src/stores/postgres.js";
import { conform } from "./conform.js";
import { type PostgresServer, startPostgres } from "./postgres-server.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describe("postgresStore of a pool", () => {
  let pools: pg.Pool[];
  beforeAll(() => {
    pools = [0, 1].map(() => new pg.Pool({ connectionString: server.connectionString, max: 4 }));
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  conform(() => ({ store: postgresStore(pools[0]), reopen: () => postgresStore(pools[1]) }));
});
