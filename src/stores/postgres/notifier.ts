/** What is used of a client of `pg`. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  removeListener(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "end", listener: () => void): unknown;
}

/** What is used of a pool of `pg`. */
export interface PostgresPool {
  readonly totalCount: number;
  readonly options: { readonly max?: number | null };
  query(query: PostgresQuery): Promise<PostgresResult>;
  connect(): Promise<PostgresPoolClient>;
}

export interface PostgresPoolClient extends PostgresClient {
  release(destroy?: boolean): void;
}

export interface PostgresQuery {
  /** One that is named is prepared once for each connection. */
  name?: string;
  text: string;
  values?: unknown[];
}

export interface PostgresResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string;
}

export const channel = "toolweave";
const announcement = `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${channel}', run_id)
  FROM unnest($1::text[]) AS run_id`;
const firstDelayMs = 100;
const longestDelayMs = 5_000;
const announcedEveryMs = 250;

export function isPool(database: PostgresPool | PostgresClient): database is PostgresPool {
  return "totalCount" in database;
}

/** A client as it wants to be used: one query after another. */
export function inTurn(client: PostgresClient): PostgresClient {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query(query) {
      const result = last.then(() => client.query(query));
      last = result.catch(() => {});
      return result;
    },
    on: client.on.bind(client),
    removeListener: client.removeListener.bind(client),
  };
}

export interface PostgresNotifier {
  watch(runId: string, onChange: () => void): () => void;
  /** Whether someone watches the run through this notifier. */
  isWatched(runId: string): boolean;
  /** Notifies, soon, of an append whose own statement did not. */
  announce(runId: string): void;
}

/**
 * Listens on one connection for as long as anyone watches. When that connection is lost it takes another; since what
 * was notified meanwhile is lost too, everyone is then called once.
 *
 * PostgreSQL lets one transaction that notifies commit at a time, its flush to disk included. So an append notifies only
 * where nobody watches the run through the same store, as the process does that drives it: an answer's hint is as sure as
 * the answer. A driver's many appends are announced behind them, many by one transaction, which waits for no disk.
 */
export function postgresNotifier(database: PostgresPool | PostgresClient): PostgresNotifier {
  const watchers = new Map<string, Set<() => void>>();
  const unannounced = new Set<string>();
  let running = false;
  let announcing = false;
  let leave = () => {};
  let hurry = () => {};

  function hint(watching: ReadonlySet<() => void>): void {
    for (const call of watching) {
      // Not from within the client, which a watcher that throws would leave half way through its message.
      queueMicrotask(() => {
        if (watching.has(call)) call();
      });
    }
  }

  function onNotification(message: PostgresNotification): void {
    const watching = message.channel === channel && watchers.get(message.payload ?? "");
    if (watching) hint(watching);
  }

  function hintAll(): void {
    for (const watching of watchers.values()) hint(watching);
  }

  async function run(): Promise<void> {
    running = true;
    let delayMs = firstDelayMs;
    while (watchers.size > 0) {
      try {
        await listen();
        delayMs = firstDelayMs;
      } catch {
        // Whatever it was that kept us from listening, it may be over by then.
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
    }
    running = false;
  }

  async function connection(): Promise<{ client: PostgresClient; release(broken: boolean): void }> {
    if (!isPool(database)) return { client: database, release() {} };
    const client = await database.connect();
    return {
      client,
      release(broken) {
        // One that is given up may fail once more, with nobody left to listen.
        if (broken) client.on("error", () => {});
        client.release(broken);
      },
    };
  }

  /** Until nobody watches any more, or, by rejecting, until the connection is lost. */
  async function listen(): Promise<void> {
    const { client, release } = await connection();
    let lose = (_: Error) => {};
    const over = new Promise<void>((resolve, reject) => {
      leave = resolve;
      lose = reject;
    });
    // It may be lost before it is awaited.
    over.catch(() => {});
    const onEnd = () => lose(new Error("The connection has ended."));
    client.on("notification", onNotification);
    client.on("error", lose);
    client.on("end", onEnd);
    let broken = true;
    try {
      await client.query({ text: `LISTEN ${channel}` });
      // What was appended until now was not notified to us.
      hintAll();
      if (watchers.size > 0) await over;
      await client.query({ text: `UNLISTEN ${channel}` });
      broken = false;
    } finally {
      client.removeListener("notification", onNotification);
      client.removeListener("error", lose);
      client.removeListener("end", onEnd);
      release(broken);
    }
  }

  async function announceAll(): Promise<void> {
    announcing = true;
    while (unannounced.size > 0) {
      const values = [[...unannounced]];
      unannounced.clear();
      try {
        await database.query({ name: "toolweave_announce", text: announcement, values });
      } catch {
        // A hint is worth no failure, and the next append brings the next.
      }
      // Whoever drove a run and is done with it may end the pool.
      if ([...unannounced].some((runId) => !watchers.has(runId))) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, announcedEveryMs);
        hurry = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    announcing = false;
  }

  return {
    watch(runId, onChange) {
      const watching = watchers.get(runId) ?? new Set();
      watchers.set(runId, watching);
      // Its own function, so that one that is given twice is called, and stopped, twice.
      const call = () => onChange();
      watching.add(call);
      if (!running) void run();
      return () => {
        watching.delete(call);
        if (watching.size === 0 && watchers.get(runId) === watching) watchers.delete(runId);
        if (watchers.size === 0) leave();
        if (!watchers.has(runId) && unannounced.has(runId)) hurry();
      };
    },
    isWatched: (runId) => watchers.has(runId),
    announce(runId) {
      unannounced.add(runId);
      if (!announcing) void announceAll();
    },
  };
}
