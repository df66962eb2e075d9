import { describe, expect, test, vi } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import { systemClock } from "../../src/driver/clock.js";
import { runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { drain, flow, journalOf, options, read, run, write } from "../driver/harness.js";
import { describeOnEachStore } from "./each-store.js";

/** A store that counts its commits: each append is one. */
function counting(store: RunStore): { store: RunStore; commits(): number } {
  let commits = 0;
  return {
    store: {
      ...store,
      append(...append) {
        commits += 1;
        return store.append(...append);
      },
    },
    commits: () => commits,
  };
}

const call = (tool: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${tool}${index}`, tool, inputs: {} }));

describeOnEachStore("what a run costs", (handles) => {
  /** How many commits a workflow costs beside its start; its end rides with the last outcome. */
  async function commitsOf(runId: string, steps: Parameters<typeof flow>[0]): Promise<number> {
    const { store, commits } = counting(handles().store);
    const { result } = await run(flow(steps), {
      store,
      clock: systemClock,
      runId,
      tools: [read("look"), write("pay")],
    });
    expect(result.status).toBe("completed");
    return commits() - 1;
  }

  test("is one commit for a read", async () => {
    expect(await commitsOf("reads", call("look", 7))).toBe(7);
  });

  test("is two commits for a write", async () => {
    expect(await commitsOf("writes", call("pay", 7))).toBe(14);
  });

  test("is one and two inside a child workflow, too: it begins and ends with its steps", async () => {
    const child = flow([...call("look", 2), ...call("pay", 2)], { name: "child" });
    const { store, commits } = counting(handles().store);
    const parent = flow([...call("look", 1), { id: "settle", workflow: "child", inputs: {} }], { name: "parent" });
    const given = { store, clock: systemClock, runId: "child", tools: [read("look"), write("pay")], workflows: child };
    expect((await run(parent, given)).result.status).toBe("completed");
    expect(commits() - 1).toBe(1 + 6);
  });

  describe("inside parallel", () => {
    test("is at most one commit for a read, beside the one that opens it", async () => {
      const commits = await commitsOf("parallel-reads", [{ id: "all", parallel: call("look", 6) }]);
      expect(commits).toBeLessThanOrEqual(1 + 6);
    });

    test("is at most two commits for a write, beside the one that opens it", async () => {
      const commits = await commitsOf("parallel-writes", [{ id: "all", parallel: call("pay", 6) }]);
      expect(commits).toBeLessThanOrEqual(1 + 2 * 6);
    });

    test("is one for each outcome where every call ends by itself, behind one at most for each intent", async () => {
      const { store, commits } = counting(handles().store);
      const ends = new Map<string, () => void>();
      const held = (_: unknown, { path }: { path: string }) => new Promise<void>((resolve) => ends.set(path, resolve));
      const steps = [...call("look", 3), ...call("pay", 3)];
      const given = {
        store,
        clock: systemClock,
        runId: "one-by-one",
        tools: [read("look", [held]), write("pay", [held])],
      };
      const seen = drain(runWorkflow(flow([{ id: "all", parallel: steps }]), options(given)));
      await vi.waitUntil(() => ends.size === steps.length, { timeout: 10_000 });
      const before = commits();
      expect(before).toBeLessThanOrEqual(2 + 3);
      for (const [index, { id }] of steps.entries()) {
        ends.get(`all/${id}`)?.();
        const isRecorded = async () => (await journalOf(store, "one-by-one")).some((record) => isOutcome(record, id));
        await vi.waitUntil(isRecorded, { timeout: 10_000 });
        expect(commits()).toBe(before + index + 1);
      }
      expect((await seen).result.status).toBe("completed");
    });
  });
});

function isOutcome(record: JournalRecord, id: string): boolean {
  return record.kind === "completed" && record.path === `all/${id}`;
}
