import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../src/core/audit.js";
import { auditLog } from "../../src/driver/audit-log.js";
import type { RunSelection } from "../../src/driver/list-runs.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { approveAll, drain, flow, options, read, rejection, resume, run, write } from "./harness.js";

async function audit(store: RunStore, filter?: RunSelection): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of auditLog(store, filter)) entries.push(entry);
  return entries;
}

/** `"pay asked"`, `"pay outcome done"`. */
function label(entry: AuditEntry): string {
  const more = entry.kind === "outcome" ? ` ${entry.outcome}` : entry.kind === "answered" ? ` ${entry.decision}` : "";
  return `${entry.path} ${entry.kind}${more}`;
}

const pay = {
  id: "pay",
  tool: "pay",
  inputs: { sum: "{{input.sum}}" },
  retries: 1,
  compensate: { tool: "refund", inputs: { receipt: "{{steps.pay.result.id}}", sum: "{{steps.pay.inputs.sum}}" } },
};

describe("the audit log of a run", () => {
  it("tells each write's story: asked, edited, tried, done, undone", async () => {
    const store = memoryStore();
    const tools = [
      write("pay", [new Error("busy"), { id: 5 }]),
      write("refund", ["ok"]),
      read("check", [new Error("wrong")]),
    ];
    const workflow = flow([pay, { id: "check", tool: "check" }]);
    const given = options({ store, tools, input: { sum: 10 }, policy: undefined });
    await drain(runWorkflow(workflow, given), async (event) => {
      if (event.type !== "question") return;
      const fields = event.path === "pay" ? { fields: { sum: 12 } } : {};
      await event.answer({ decision: "approve", by: "kim", ...fields });
    });
    const entries = await audit(store);
    expect(entries.map(label)).toEqual([
      "pay asked",
      "pay answered approve",
      "pay intended",
      "pay outcome not_applied",
      "pay intended",
      "pay outcome done",
      "pay~undo asked",
      "pay~undo answered approve",
      "pay~undo intended",
      "pay~undo outcome done",
    ]);
    expect(entries[1]).toMatchObject({ by: "kim", edits: { from: { sum: 10 }, to: { sum: 12 } } });
    expect(entries[2]).toMatchObject({
      attempt: 1,
      idempotencyKey: "run-1:pay",
      fields: { sum: 12 },
      decision: { by: "kim", questionId: "pay?1" },
    });
    expect(entries[4]).toMatchObject({ attempt: 2, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(entries[8]).toMatchObject({ purpose: "undo", tool: "refund", fields: { receipt: 5, sum: 12 } });
    expect(entries.map(({ seq }) => seq)).toEqual([...entries.map(({ seq }) => seq)].sort((a, b) => a - b));
  });

  it("tells what the policy decided", async () => {
    const store = memoryStore();
    const policy = () => ({ decision: "reject", reason: "too dear" }) as const;
    await run(flow([pay]), { store, tools: [write("pay"), write("refund")], policy, input: { sum: 10 } });
    expect(await audit(store)).toMatchObject([
      { path: "pay", kind: "rejected", fields: { sum: 10 }, decision: { by: "policy", reason: "too dear" } },
    ]);
  });

  it("tells of a write in doubt what a person knew", async () => {
    const store = memoryStore();
    const gone = write("pay", [Object.assign(new Error("cut"), { code: "ECONNRESET" })]);
    const tools = [gone, write("refund")];
    await run(flow([pay]), { store, tools, input: { sum: 10 } });
    await drain(resume(store, { tools }), async (event) => {
      if (event.type === "question") await event.answer({ decision: "done", result: { id: 8 }, by: "lee" });
    });
    expect((await audit(store)).map(label)).toEqual([
      "pay intended",
      "pay outcome in_doubt",
      "pay asked",
      "pay answered done",
      "pay outcome done",
    ]);
  });
});

describe("the audit log of a store", () => {
  async function threeRuns(): Promise<RunStore> {
    const store = memoryStore();
    const tools = [write("pay"), write("refund")];
    for (const [day, name, sum] of [
      [3, "b", 1],
      [1, "a", 2],
      [2, "b", "x"],
    ] as const) {
      const clock = fakeClock({ now: Date.UTC(2031, 4, day) });
      const policy = sum === "x" ? () => "reject" as const : approveAll;
      await runToEnd(
        flow([pay], { name }),
        options({ store, tools, clock, runId: `run-${day}`, policy, input: { sum } }),
      );
    }
    return store;
  }

  it.each<[RunSelection | undefined, string[]]>([
    [undefined, ["run-1", "run-2", "run-3"]],
    [{}, ["run-1", "run-2", "run-3"]],
    [{ workflow: "b" }, ["run-2", "run-3"]],
    [{ status: "failed" }, ["run-2"]],
    [{ status: ["completed", "cancelled"] }, ["run-1", "run-3"]],
    [{ createdFrom: "2031-05-02T00:00:00Z", createdBefore: "2031-05-03T00:00:00Z" }, ["run-2"]],
    [{ runId: "run-3" }, ["run-3"]],
    [{ runId: "run-404" }, []],
  ])("of %j, oldest run first", async (filter, expected) => {
    const entries = await audit(await threeRuns(), filter);
    expect([...new Set(entries.map(({ runId }) => runId))]).toEqual(expected);
    expect(entries.every(({ workflow }) => workflow === "a" || workflow === "b")).toBe(true);
  });

  it("refuses a time that is none", async () => {
    expect(await rejection(audit(memoryStore(), { createdFrom: "yesterday" }))).toMatchObject({
      code: "INVALID_OPTIONS",
    });
  });

  it("reads a journal on behind what came when the store falters", async () => {
    const store = await threeRuns();
    let faults = 0;
    const faulty: RunStore = {
      ...store,
      async *read(runId, fromSeq) {
        let seq = fromSeq ?? 0;
        for await (const record of store.read(runId, fromSeq)) {
          if (seq === 2 && faults++ === 0) throw new Error("connection lost");
          yield record;
          seq++;
        }
      },
    };
    expect(await audit(faulty)).toEqual(await audit(store));
    expect(faults).toBeGreaterThan(1);
  });
});
