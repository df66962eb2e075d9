import { describe, expect, test } from "vitest";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunHead } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { conform } from "./conform.js";

const createdAt = "2031-05-01T10:00:00.000Z";
const head: RunHead = {
  runId: "a",
  workflow: "tidy_up",
  status: "running",
  openQuestions: 0,
  createdAt,
  updatedAt: createdAt,
};
const record: JournalRecord = Object.freeze({ kind: "cancel_requested", at: 1 });

describe("memoryStore", () => {
  conform(() => {
    const store = memoryStore();
    return { store, reopen: () => store };
  });

  describe("that hints when nothing was appended, as one may whose connection was just made", () => {
    conform(
      () => {
        const store = memoryStore();
        const watch: typeof store.watch = (runId, onChange) => {
          onChange();
          return store.watch?.(runId, onChange) ?? (() => {});
        };
        return { store: { ...store, watch }, reopen: () => store };
      },
      { only: /who is called may append|the records are there/ },
    );
  });

  test("keeps the very records that it is given", async () => {
    const store = memoryStore();
    await store.append("a", 0, [record], head);
    for await (const read of store.read("a")) expect(read).toBe(record);
  });

  test("shares nothing with another memory store", async () => {
    await memoryStore().append("a", 0, [record], head);
    expect(await memoryStore().head("a")).toBeUndefined();
  });

  test("hints before the append returns", () => {
    const store = memoryStore();
    let hints = 0;
    store.watch?.("a", () => {
      hints += 1;
    });
    void store.append("a", 0, [record], head);
    expect(hints).toBe(1);
  });

  test("makes the append, and calls the others, though a watcher throws", async () => {
    const store = memoryStore();
    const fault = new Error("a faulty watcher");
    const surfaced = new Promise((resolve) => process.once("uncaughtException", resolve));
    let hints = 0;
    store.watch?.("a", () => {
      throw fault;
    });
    store.watch?.("a", () => {
      hints += 1;
    });
    await store.append("a", 0, [record], head);
    expect(await surfaced).toBe(fault);
    expect(hints).toBe(1);
    expect(await store.head("a")).toEqual(head);
  });
});
