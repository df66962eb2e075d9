import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import Database from "libsql";
import { afterAll, describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { formatQuestion } from "../../src/core/format-question.js";
import { auditLog } from "../../src/driver/audit-log.js";
import { inspectRun } from "../../src/driver/inspect-run.js";
import { listQuestions } from "../../src/driver/list-questions.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStream } from "../../src/driver/stream.js";
import type { ToolAdapter } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { fakeClock } from "../../src/testing/fake-clock.js";

/**
 * Law: whatever tools, functions and policies let out of a secret, in whatever encoding, no byte of it reaches an event,
 * a question, a result, an error, a log or the store.
 */

const encodings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => JSON.stringify({ secret }),
  (secret) => encodeURIComponent(secret),
  (secret) => new URLSearchParams({ secret }).toString(),
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => Buffer.from(`user:${secret}`).toString("base64"),
  (secret) => Buffer.from(`..${secret}..`).toString("base64url"),
];

const characters = fc.constantFrom(..."abcXYZ059-_./+=?&%\"\\'[]{}()<> \t\nüß漢😀");
const secretText = fc
  .string({ unit: characters, minLength: 8, maxLength: 30 })
  .filter((text) => text.trim().length >= 8);

interface Leak {
  readonly secret: string;
  /** A text that lets the secret out. */
  readonly text: string;
}

const leak: fc.Arbitrary<Leak> = fc
  .record({ secret: secretText, encode: fc.constantFrom(...encodings), before: fc.string(), behind: fc.string() })
  .map(({ secret, encode, before, behind }) => ({ secret, text: `${before} ${encode(secret)} ${behind}` }));

/** Whether a text holds the secret, found by decoding the text. */
function holds(text: string, secret: string): boolean {
  const levels = [text];
  for (let level = 0; level < 3; level++) levels.push(unescaped(levels[level] ?? ""));
  return levels.some((one) => one.includes(secret) || urlDecoded(one).includes(secret) || base64Holds(one, secret));
}

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (written) => {
    try {
      return JSON.parse(`"${written}"`);
    } catch {
      return written;
    }
  });
}

function urlDecoded(text: string): string {
  return text
    .replaceAll("+", " ")
    .replace(/(?:%[0-9a-fA-F]{2})+/g, (octets) => Buffer.from(octets.replaceAll("%", ""), "hex").toString("utf8"));
}

function base64Holds(text: string, secret: string): boolean {
  const wanted = Buffer.from(secret);
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{10,}/g)) {
    for (let offset = 0; offset < 4; offset++) {
      if (Buffer.from(run.slice(offset), "base64").includes(wanted)) return true;
    }
  }
  return false;
}

const workflow = defineWorkflow({
  name: "leaky",
  steps: [
    { id: "look", tool: "look" },
    { id: "function", run: (scope) => scope.steps },
    { id: "put", tool: "put", inputs: { text: "{{steps.look.result}}" } },
    {
      id: "calls",
      run: () => [
        { id: "c1", name: "bad", arguments: {} },
        { id: "c2", name: "look", arguments: {} },
      ],
    },
    {
      id: "turn",
      tool_dispatch: {
        source_key: "calls",
        tools: { bad: { tool: "bad" }, look: { tool: "look" } },
        on_error: "ignore",
      },
    },
    { id: "fail", tool: "fail", retries: 1 },
  ],
});

function toolsThatLeak(text: string): ToolAdapter {
  const error = () => new Error(text, { cause: Object.assign(new Error(text), { code: text, name: text }) });
  return {
    list: () => [
      { name: "look", effect: "read" },
      { name: "bad", effect: "read" },
      {
        name: "put",
        site: text,
        title: text,
        inputSchema: { type: "object", description: text, properties: { [text]: {} } },
        preview: () => ({ page: text, action: text, labels: { text } }),
      },
      { name: "fail", effect: "read" },
    ],
    call: async (name) => {
      if (name === "bad" || name === "fail") throw error();
      return { text, list: [text, { [text]: text }] };
    },
  };
}

async function collect(stream: RunStream, seen: unknown[]): Promise<void> {
  for await (const event of stream) {
    seen.push(event);
    if (event.type === "question") seen.push(formatQuestion(event));
  }
}

const folder = mkdtempSync(join(tmpdir(), "toolweave-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

describe("no secret gets out", () => {
  const stores = {
    memory: () => ({ store: memoryStore(), bytes: () => [] as Buffer[] }),
    sqlite: () => {
      const name = `${++files}.db`;
      const database = new Database(join(folder, name));
      const bytes = () =>
        readdirSync(folder)
          .filter((file) => file.startsWith(name))
          .map((file) => readFileSync(join(folder, file)));
      return { store: sqliteStore(database), bytes };
    },
  };

  test.each([
    ["memory", 60],
    ["sqlite", 12],
  ] as const)("into a %s store, and whatever is read of it", { timeout: 60_000 }, async (kind, numRuns) => {
    await fc.assert(
      fc.asyncProperty(leak, async ({ secret, text }) => {
        const { store, bytes } = stores[kind]();
        const seen: unknown[] = [];
        const observer = { emit: (_type: string, event: unknown) => seen.push(event) };
        const policy = () => ({ decision: "ask", reason: text }) as const;
        const given = { store, policy, observer, secrets: [secret], clock: fakeClock(), tools: toolsThatLeak(text) };
        await collect(runWorkflow(workflow, { ...given, runId: "run-1" }), seen);
        for await (const question of listQuestions(store)) seen.push(question);
        const approve = async () => ({ decision: "approve" }) as const;
        await collect(resumeRun(store, "run-1", { ...given, workflows: workflow, onQuestion: approve }), seen);
        for await (const entry of auditLog(store)) seen.push(entry);
        seen.push(await inspectRun(store, "run-1"));
        for await (const record of store.read("run-1")) seen.push(record);
        expect(seen.length).toBeGreaterThan(20);
        for (const one of seen) expect(holds(typeof one === "string" ? one : JSON.stringify(one), secret)).toBe(false);
        for (const file of bytes()) expect(holds(file.toString("utf8"), secret)).toBe(false);
      }),
      { numRuns },
    );
  });

  test("the search finds what it searches for", () => {
    fc.assert(fc.property(leak, ({ secret, text }) => holds(JSON.stringify({ text }), secret)));
  });
});
