import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DispatchConfig } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import type { Question } from "../../src/core/question.js";
import type { JournalRecord } from "../../src/core/record.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { type ToolDispatchResult, toolDispatch } from "../../src/driver/dispatch.js";
import type { RunHead, RunStore } from "../../src/ports/run-store.js";
import type { Tool, ToolCallContext } from "../../src/ports/tool-adapter.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { flow } from "../driver/harness.js";

/** What a generated call is: the last three can't be run. */
const kinds = ["look", "slow", "fail", "refuse", "write", "trip", "malformed", "unknown", "nameless"] as const;
type Kind = (typeof kinds)[number];

interface Drawn {
  readonly kind: Kind;
  readonly approves: boolean;
  /** In which round its question is answered. */
  readonly patience: number;
  /** Whether the very same call is sent once more, behind it. */
  readonly twice: boolean;
}

interface Scenario {
  readonly drawn: readonly Drawn[];
  readonly ignores: boolean;
  readonly maxConcurrent: number;
  /** How much of what a round stored survives it, round by round; 1 is all. */
  readonly crashes: readonly number[];
  /** The round in which the dispatch is cancelled while it runs. */
  readonly cancelIn: number | undefined;
}

const drawn = fc.record({
  kind: fc.constantFrom(...kinds),
  approves: fc.boolean(),
  patience: fc.integer({ min: 0, max: 2 }),
  twice: fc.boolean(),
});
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  drawn: fc.array(drawn, { maxLength: 6 }),
  ignores: fc.boolean(),
  maxConcurrent: fc.integer({ min: 1, max: 4 }),
  crashes: fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 3 }),
  cancelIn: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
});

function cannotRun(kind: Kind): boolean {
  return kind === "malformed" || kind === "unknown" || kind === "nameless";
}

function rawCalls(drawnCalls: readonly Drawn[]): object[] {
  return drawnCalls.flatMap(({ kind, twice }, n) => {
    const text = kind === "malformed" ? `{"n": ${n}` : `{"n": ${n}}`;
    const named = kind === "nameless" ? {} : { name: kind === "malformed" ? "look" : kind };
    const call = { id: `id-${n}`, type: "function", function: { ...named, arguments: text } };
    return twice ? [call, call] : [call];
  });
}

/** Every append in order, so that a crash can forget the last of them; and what tools did meanwhile. */
class World {
  private readonly appends: { runId: string; records: readonly JournalRecord[]; head: RunHead }[] = [];
  private made: { key: string; at: number }[] = [];
  readonly clock = fakeClock();
  store = this.remember(memoryStore());

  private remember(inner: RunStore): RunStore {
    return {
      ...inner,
      append: async (runId, expectedSeq, records, head) => {
        await inner.append(runId, expectedSeq, records, head);
        this.appends.push({ runId, records: JSON.parse(JSON.stringify(records)), head });
      },
    };
  }

  get position(): number {
    return this.appends.length;
  }

  call({ idempotencyKey: key }: ToolCallContext): void {
    this.made.push({ key, at: this.position });
  }

  /** How often tools were called for a call of the set; what undoes it not counted. */
  callsFor(n: number): number {
    return this.made.filter(({ key }) => key.startsWith(`run[${n}]:`) && !key.endsWith("~undo")).length;
  }

  writesOf(question: Question): number {
    return this.made.filter(({ key }) => key === `${question.runId}:${question.path}`).length;
  }

  async crash(position: number): Promise<void> {
    const kept = this.appends.splice(0).slice(0, position);
    this.made = this.made.filter(({ at }) => at <= position);
    this.store = this.remember(memoryStore());
    const seqs = new Map<string, number>();
    for (const { runId, records, head } of kept) {
      const seq = seqs.get(runId) ?? 0;
      seqs.set(runId, seq + records.length);
      await this.store.append(runId, seq, records, head);
    }
  }
}

function toolsOf(world: World): Tool[] {
  const tool = (name: string, effect: "read" | "write", work: () => unknown) =>
    defineTool({
      name,
      effect,
      execute(_inputs, context) {
        world.call(context);
        return work();
      },
    });
  return [
    tool("look", "read", () => "seen \ud800"),
    tool("slow", "read", () => world.clock.sleep(50, new AbortController().signal).then(() => ["late"])),
    tool("fail", "read", () => Promise.reject(new Error("broken"))),
    tool("refuse", "read", () => new ToolError("closed", { outcome: "refused" })),
    tool("write", "write", () => world.clock.sleep(5, new AbortController().signal).then(() => ({ id: 1 }))),
    tool("back", "write", () => null),
  ];
}

const trip = flow([
  { id: "write", tool: "write", compensate: { tool: "back" } },
  { id: "fail", tool: "fail" },
]);

function configOf({ ignores, maxConcurrent }: Scenario): DispatchConfig {
  const direct = ["look", "slow", "fail", "refuse", "write"].map((tool) => [tool, { tool }] as const);
  const tools = { ...Object.fromEntries(direct), trip: { flow: trip } };
  return { tools, max_concurrent: maxConcurrent, on_error: ignores ? "ignore" : "fail_fast" };
}

function checkShape(result: ToolDispatchResult, { drawn }: Scenario): void {
  const ids = drawn.map((_, n) => `id-${n}`);
  expect(result.calls.map(({ id }) => id)).toEqual(ids);
  expect(result.entries.map(({ id }) => id)).toEqual(ids);
  expect(result.messages.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
  for (const { role, content } of result.messages) {
    expect(role).toBe("tool");
    expect(content).not.toBe("");
    expect(content).not.toMatch(/\p{Surrogate}/u);
  }
  expect(Object.keys(Object(result.context.tool_results_by_id))).toEqual(ids);
  expect(result.context.tool_results_errors).toBe(result.entries.filter(({ success }) => !success).length);
  expect(result.error === undefined).toBe(result.status !== "failed");
}

/** Carries a dispatch on, round by round, until it has ended; gives what every round resolved to. */
async function play(scenario: Scenario): Promise<{ world: World; rounds: ToolDispatchResult[] }> {
  const world = new World();
  const rounds: ToolDispatchResult[] = [];
  for (let round = 0; round < 12; round++) {
    const before = world.position;
    const cancel = new AbortController();
    if (round === scenario.cancelIn) void world.clock.sleep(20, cancel.signal).then(() => cancel.abort());
    const result = await toolDispatch(configOf(scenario), {
      calls: rawCalls(scenario.drawn),
      tools: toolsOf(world),
      store: world.store,
      runId: "run",
      clock: world.clock,
      signal: cancel.signal,
      policy: ({ purpose }) => (purpose === "undo" ? "approve" : "ask"),
    });
    const kept = scenario.crashes[round] ?? 1;
    if (kept < 1) {
      // What the driver came to was never told to anyone.
      await world.crash(before + Math.floor((world.position - before) * kept));
      continue;
    }
    rounds.push(result);
    if (result.status !== "waiting") return { world, rounds };
    for (const question of result.questions ?? []) await answer(world, scenario, round, question);
  }
  throw new Error("The dispatch never ended.");
}

async function answer(world: World, { drawn }: Scenario, round: number, question: Question): Promise<void> {
  const { approves = true, patience = 0 } = drawn[Number(/\[(\d+)\]/.exec(question.runId)?.[1])] ?? {};
  if (question.kind === "in_doubt") {
    const truth = world.writesOf(question) > 0 ? { decision: "done", result: { id: 1 } } : { decision: "not_applied" };
    return answerQuestion(world.store, question.runId, question.id, truth, world);
  }
  if (round < patience) return;
  const decision = approves ? "approve" : "reject";
  await answerQuestion(world.store, question.runId, question.id, { decision }, world);
}

describe("whatever a model calls, however people answer, wherever the driver is gone", { timeout: 60_000 }, () => {
  it("each call has one answer, in call order, with its id, well-formed", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { rounds } = await play(scenario);
        for (const result of rounds) checkShape(result, scenario);
      }),
      { numRuns: 60 },
    );
  });

  it("a finished result is never lost, and never another", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { rounds } = await play(scenario);
        for (const [round, { entries }] of rounds.entries()) {
          for (const [n, entry] of entries.entries()) {
            if (!entry.success) continue;
            for (const later of rounds.slice(round + 1)) expect(later.entries[n]).toEqual(entry);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("a write runs once where it was approved, never where it was not, and nothing runs for a call that can't be read", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { world, rounds } = await play(scenario);
        const { drawn, ignores } = scenario;
        const isRefused = !ignores && drawn.some(({ kind }) => cannotRun(kind));
        for (const [n, { kind, approves }] of drawn.entries()) {
          const calls = world.callsFor(n);
          if (isRefused || cannotRun(kind)) expect(calls).toBe(0);
          if (kind !== "write") continue;
          expect(calls).toBeLessThanOrEqual(approves ? 1 : 0);
          if (rounds.at(-1)?.entries[n]?.success) expect(calls).toBe(1);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("what ended stays as it ended, and is done for nobody again", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { world, rounds } = await play(scenario);
        const made = scenario.drawn.map((_, n) => world.callsFor(n));
        const again = await toolDispatch(configOf(scenario), {
          calls: rawCalls(scenario.drawn),
          tools: toolsOf(world),
          store: world.store,
          runId: "run",
          clock: world.clock,
        });
        expect(again.entries).toEqual(rounds.at(-1)?.entries);
        expect(scenario.drawn.map((_, n) => world.callsFor(n))).toEqual(made);
      }),
      { numRuns: 60 },
    );
  });

  it("with one place under fail_fast, nothing runs behind the first that failed", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (drawnScenario) => {
        const scenario = { ...drawnScenario, ignores: false, maxConcurrent: 1, cancelIn: undefined };
        const { world, rounds } = await play(scenario);
        const entries = rounds.at(-1)?.entries ?? [];
        const first = entries.findIndex(({ success, error }) => !success && !error?.startsWith("NOT_RUN"));
        expect(rounds.at(-1)?.status).toBe(first === -1 ? "completed" : "failed");
        if (first === -1) return;
        for (let n = first + 1; n < entries.length; n++) expect(world.callsFor(n)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
