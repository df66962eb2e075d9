import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import type { RunStore } from "../../src/ports/run-store.js";

const appender = fileURLToPath(new URL("appender.ts", import.meta.url));

/** Another process that appends to the run: `appender.ts`, loaded and waiting. */
export interface Rival {
  begin(): void;
  /** Resolves once so many of its appends have resolved. */
  acknowledged(appends: number): Promise<void>;
  /** Resolves when it has made all its appends. */
  finished(): Promise<void>;
  /** Ends it in the midst of whatever it does. Resolves to how many of its appends had resolved. */
  kill(): Promise<number>;
}

export async function startRival(...[kind, location, runId, name, appends]: RivalArguments): Promise<Rival> {
  const args = ["--import", "tsx", appender, kind, location, runId, name, String(appends)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close");
  const said: string[] = [];
  let complaint = "";
  createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });

  async function acknowledged(appends: number): Promise<void> {
    await vi.waitUntil(() => said.length > appends || complaint !== "", { timeout: 20_000, interval: 5 });
    expect(complaint).toBe("");
  }

  await acknowledged(0);
  return {
    begin: () => child.stdin.write("begin\n"),
    acknowledged,
    async finished() {
      await closed;
      expect(complaint).toBe("");
      expect(child.exitCode).toBe(0);
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
      return said.length - 1;
    },
  };
}

type RivalArguments = [kind: "sqlite" | "postgres", location: string, runId: string, name: string, appends: number];

/** How many appends of each rival are in the journal; every one of them must be there once, whole and in order. */
export async function appendsOf(store: RunStore, runId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let seq = 0;
  for await (const record of store.read(runId)) {
    if (record.kind !== "skipped") throw new Error(`Record ${seq} is of no rival.`);
    const [name = "", number, part] = record.path.split("/");
    const count = counts[name] ?? 0;
    // `at` is the count of records that the rival expected.
    expect([number, part, record.at]).toEqual([String(count), seq % 2 === 0 ? "first" : "second", seq - (seq % 2)]);
    if (part === "second") counts[name] = count + 1;
    seq += 1;
  }
  expect((await store.head(runId))?.openQuestions ?? 0).toBe(seq);
  return counts;
}
