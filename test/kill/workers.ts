import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import type { Job, Reply, WorkerSetup } from "./jobs.js";
import { Ledger } from "./ledger-client.js";

/** The processes of this folder as plain JavaScript, which starts in a fraction of the time. */
export interface Programs {
  readonly ledger: string;
  readonly worker: string;
  remove(): void;
}

export async function buildPrograms(): Promise<Programs> {
  const source = (name: string) => fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  // Below node_modules, so that what is left outside the bundle is found.
  const cache = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, "toolweave-kill-"));
  await build({
    entry: { ledger: source("ledger"), worker: source("worker") },
    outDir,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    noExternal: [/^(?!libsql$|pg$)/],
    config: false,
    silent: true,
  });
  const program = (name: string) => join(outDir, `${name}.mjs`);
  return {
    ledger: program("ledger"),
    worker: program("worker"),
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}

export async function startLedger(programs: Programs): Promise<{ ledger: Ledger; stop(): void }> {
  const child = fork(programs.ledger, { execArgv: [] });
  const [address]: AddressInfo[] = await once(child, "message");
  if (address === undefined) throw new Error("The ledger said no port.");
  return { ledger: new Ledger(address.port), stop: () => child.kill() };
}

export type Came = Reply | { readonly kind: "killed" };

const longestJobMs = 60_000;

/** A process that takes jobs, one at a time. */
class Worker {
  readonly ready: Promise<void>;
  readonly closed: Promise<void>;
  private readonly child: ChildProcess;
  private take: (came: Came) => void = () => undefined;
  private complaint = "";

  constructor(program: string, setup: WorkerSetup, onFault: (message: string) => void) {
    this.child = fork(program, [JSON.stringify(setup)], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // Not those of whoever starts it: it is plain JavaScript.
      execArgv: [],
    });
    this.ready = once(this.child, "message").then(() => {
      this.child.on("message", (reply: Reply) => this.take(reply));
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.complaint += chunk.toString();
    });
    this.closed = once(this.child, "close").then(([code, signal]) => {
      if (signal === "SIGKILL") return this.take({ kind: "killed" });
      const message = `A worker ended with ${code ?? signal}: ${this.complaint}`;
      onFault(message);
      this.take({ kind: "error", code: "WORKER_ENDED", message, points: 0 });
    });
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && !this.child.killed;
  }

  async run(job: Job, killAfterMs: number | undefined): Promise<Came> {
    await this.ready;
    const came = new Promise<Came>((resolve) => {
      this.take = resolve;
    });
    this.child.send(job);
    const timers = [
      setTimeout(() => {
        const message = `A worker did not end its job in ${longestJobMs} ms.`;
        this.take({ kind: "error", code: "WORKER_HANGS", message, points: 0 });
        this.kill();
      }, longestJobMs),
    ];
    if (killAfterMs !== undefined) timers.push(setTimeout(() => this.kill(), killAfterMs));
    await came;
    for (const timer of timers) clearTimeout(timer);
    return came;
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

/** Processes that take jobs. One that lives on takes another; one that was killed is replaced. */
export class Workers {
  private readonly idle: Worker[] = [];
  private readonly all: Worker[] = [];
  private readonly faults: string[] = [];

  constructor(
    private readonly program: string,
    private readonly setup: WorkerSetup,
  ) {}

  /** @param killAfterMs when to kill the worker, wherever it then is; `undefined`: never. */
  async run(job: Job, killAfterMs?: number): Promise<Came> {
    // One that ended while it had nothing to do has something to say.
    if (this.faults.length > 0) throw new Error(this.faults.join("\n"));
    const worker = this.idle.shift() ?? this.start();
    // Its successor starts while it works.
    if (this.idle.length === 0) this.idle.push(this.start());
    const came = await worker.run(job, killAfterMs);
    if (worker.isAlive) this.idle.push(worker);
    return came;
  }

  /** Has so many workers loaded and waiting. */
  async gather(count: number): Promise<void> {
    while (this.idle.length < count) this.idle.push(this.start());
    await Promise.all(this.idle.map(({ ready }) => ready));
  }

  private start(): Worker {
    const worker = new Worker(this.program, this.setup, (message) => this.faults.push(message));
    this.all.push(worker);
    return worker;
  }

  async stop(): Promise<void> {
    for (const worker of this.all) worker.kill();
    await Promise.all(this.all.map(({ closed }) => closed));
  }
}
