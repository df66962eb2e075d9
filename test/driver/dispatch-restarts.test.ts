import { describe, expect, it } from "vitest";
import type { DispatchConfig } from "../../src/core/document.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { toolDispatch } from "../../src/driver/dispatch.js";
import { memoryStore } from "../../src/stores/memory.js";
import { aborting, call, carried, oks, unending } from "./dispatch-harness.js";
import { deferred, flow, journalOf, options, read, rejection, settled, write } from "./harness.js";

describe("a write whose driver was gone", () => {
  it("is asked about when the dispatch is carried on, and never made again by itself", async () => {
    const store = memoryStore();
    const crashed = deferred();
    const pay = write("pay", [() => crashed.promise, { id: 2 }]);
    const given = options({ store, tools: pay, calls: [call("a", "pay")] });
    const config: DispatchConfig = { tools: { pay: { tool: "pay" } } };
    void toolDispatch(config, given);
    await settled();
    const copy = memoryStore();
    for await (const head of store.list()) await copy.append(head.runId, 0, await journalOf(store, head.runId), head);

    const later = await toolDispatch(config, { ...given, store: copy });
    expect(later.questions).toMatchObject([{ kind: "in_doubt", runId: "run-1[0]", path: "pay" }]);
    await answerQuestion(copy, "run-1[0]", "pay?1", { decision: "done", result: { id: 1 } });
    const done = await toolDispatch(config, { ...given, store: copy });
    expect(done.entries[0]).toMatchObject({ success: true, result: { id: 1 } });
    expect(pay.calls).toHaveLength(1);
    crashed.resolve({ id: 1 });
  });
});

describe("a dispatch that is cancelled by its signal", () => {
  const config: DispatchConfig = { tools: { quick: { tool: "quick" }, never: { tool: "never" } } };
  const calls = [call("a", "quick"), call("b", "never"), call("c", "quick")];

  it.each(["fail_fast", "ignore"])(
    "keeps what is finished, and answers the rest as cancelled (%s)",
    async (on_error) => {
      const cancel = new AbortController();
      const quick = read("quick", ["done"]);
      const never = read("never", [aborting(cancel, unending)]);
      const { next } = carried({ ...config, on_error }, { calls, tools: [quick, never] });
      const done = await next({ signal: cancel.signal });
      expect(done.status).toBe("failed");
      expect(done.entries.map(({ result }) => result)).toEqual([
        "done",
        { error: "The call was cancelled." },
        { error: "The call was cancelled." },
      ]);
      expect(done.error?.message).toBe("The call was cancelled.");
      expect(quick.calls).toHaveLength(1);
      // It stays cancelled for whoever asks again.
      expect((await next()).entries).toEqual(done.entries);
      expect(quick.calls).toHaveLength(1);
    },
  );

  it("says that nobody knows, where a write did not settle in time", async () => {
    const cancel = new AbortController();
    const mail = write("mail", [aborting(cancel, unending)]);
    const done = await toolDispatch(
      { tools: { mail: { tool: "mail" } } },
      options({ calls: [call("a", "mail")], tools: mail, signal: cancel.signal, inDoubt: "fail" }),
    );
    expect(done.status).toBe("failed");
    expect(done.entries[0]?.error).toBe("The call was cancelled. Nobody knows whether it was done: mail.");
  });

  it("asks about such a write by default, and starts nothing else", async () => {
    const cancel = new AbortController();
    const mail = write("mail", [aborting(cancel, unending)]);
    const given = { calls: [call("a", "mail"), call("b", "mail")], tools: mail, policy: () => "approve" as const };
    const { next, answer } = carried({ tools: { mail: { tool: "mail" } } }, given);
    const waits = await next({ signal: cancel.signal });
    expect(waits.status).toBe("waiting");
    expect(waits.questions).toMatchObject([{ kind: "in_doubt", runId: "run-1[0]" }]);
    await answer(waits, 0, { decision: "not_applied" });
    const done = await next();
    expect(done.status).toBe("failed");
    expect(mail.calls).toHaveLength(1);
    expect(done.entries[1]?.error).toBe("The call was cancelled.");
  });

  it("keeps the result of a write that was made all the same, without success", async () => {
    const cancel = new AbortController();
    const mail = write("mail", [aborting(cancel, { sent: 1 })]);
    const done = await toolDispatch(
      { tools: { mail: { tool: "mail" } } },
      options({ calls: [call("a", "mail")], tools: mail, signal: cancel.signal }),
    );
    expect(done.entries[0]).toMatchObject({ success: false, result: { sent: 1 }, error: "The call was cancelled." });
  });

  it("undoes what a handler did, within that call alone", async () => {
    const cancel = new AbortController();
    const book = write("book");
    const free = write("free");
    const wait = read("wait", ["go", aborting(cancel, unending)]);
    const trip = flow([
      { id: "book", tool: "book", compensate: { tool: "free" } },
      { id: "wait", tool: "wait" },
    ]);
    const done = await toolDispatch(
      { tools: { trip: { flow: trip } } },
      options({ calls: [call("a", "trip"), call("b", "trip")], tools: [book, free, wait], signal: cancel.signal }),
    );
    expect(oks(done)).toEqual([true, false]);
    expect(book.calls).toHaveLength(2);
    expect(free.calls.map(({ path }) => path)).toEqual(["book~undo"]);
  });
});

describe("a store that fails", () => {
  it("makes the dispatch reject once nothing is in flight; what is done is kept", async () => {
    const store = memoryStore();
    let isDown = false;
    const goDown = () => {
      isDown = true;
      return "two";
    };
    const broken = {
      ...store,
      append: (...given: Parameters<typeof store.append>) =>
        isDown ? Promise.reject(new Error("down")) : store.append(...given),
    };
    const work = read("work", ["one", goDown, "three"]);
    const given = options({ tools: work, calls: ["a", "b", "c"].map((id) => call(id, "work")) });
    const config: DispatchConfig = { tools: { work: { tool: "work" } } };
    expect(await rejection(toolDispatch(config, { ...given, store: broken }))).toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    const done = await toolDispatch(config, { ...given, store });
    expect(done.entries.map(({ result }) => result)).toEqual(["one", "three", "three"]);
  });
});
