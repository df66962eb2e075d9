import { describe, expect, it } from "vitest";
import type { DispatchConfig } from "../../src/core/document.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { type ToolDispatchOptions, type ToolDispatchResult, toolDispatch } from "../../src/driver/dispatch.js";
import type { PolicyWrite } from "../../src/ports/policy.js";
import { memoryStore } from "../../src/stores/memory.js";
import { deferred, flow, journalOf, options, read, rejection, settled, write } from "./harness.js";

/** A dispatch that is carried on: each `next` is the same call again, as another process would make it. */
function carried(config: DispatchConfig, given: Partial<ToolDispatchOptions>) {
  const store = memoryStore();
  return {
    store,
    next: (more: Partial<ToolDispatchOptions> = {}) =>
      toolDispatch(structuredClone(config), options({ policy: undefined, ...given, store, ...more })),
    async answer({ questions = [] }: ToolDispatchResult, n: number, answer: object) {
      const question = questions.find(({ runId }) => runId === `run-1[${n}]`);
      if (question === undefined) throw new Error(`Call ${n} asks nothing.`);
      await answerQuestion(store, question.runId, question.id, answer);
    },
  };
}

const unending = new Promise(() => {});

/** A call during which somebody aborts. */
function aborting(controller: AbortController, result: unknown) {
  return () => {
    controller.abort();
    return result;
  };
}

const call = (id: string, name: string, given: object = {}) => ({ id, name, arguments: given });
const approve = { decision: "approve", by: "ada" };
const reject = { decision: "reject", by: "bo" };
const oks = ({ entries }: ToolDispatchResult) => entries.map(({ success }) => success);
const asked = ({ questions = [] }: ToolDispatchResult) => questions.map(({ runId, path }) => `${runId} ${path}`);

describe("a dispatch that waits for people", () => {
  const config: DispatchConfig = {
    tools: { erase: { tool: "erase" }, post: { tool: "post" }, look: { tool: "look" } },
    max_concurrent: 3,
    on_error: "ignore",
  };
  const calls = [call("e", "erase", { file: "a" }), call("p", "post", { to: "x" }), call("l", "look")];
  const tools = () => ({ erase: write("erase", ["erased"]), post: write("post", ["posted"]), look: read("look") });

  it("asks all that it can at once, and is carried on by the same call, answered in any order", async () => {
    const { erase, post, look } = tools();
    const { next, answer } = carried(config, { calls, tools: [erase, post, look] });

    const first = await next();
    expect(first.status).toBe("waiting");
    expect(asked(first)).toEqual(["run-1[0] erase", "run-1[1] post"]);
    expect(oks(first)).toEqual([false, false, true]);
    expect(first.entries[0]?.error).toContain("PENDING");
    expect(first.error).toBeUndefined();

    await answer(first, 1, approve);
    const second = await next();
    expect(second.status).toBe("waiting");
    expect(asked(second)).toEqual(["run-1[0] erase"]);
    expect(second.entries[1]).toMatchObject({ success: true, result: "posted" });
    expect([erase.calls.length, post.calls.length]).toEqual([0, 1]);

    await answer(second, 0, reject);
    const third = await next();
    expect(third.status).toBe("completed");
    expect(oks(third)).toEqual([false, true, true]);
    expect(third.entries[0]?.error).toContain("bo rejected");

    expect(await next()).toEqual(third);
    expect([erase.calls.length, post.calls.length, look.calls.length]).toEqual([0, 1, 1]);
  });

  it("says the same to a store that was written to and read back", async () => {
    const { erase, post, look } = tools();
    const { next, answer, store } = carried(config, { calls, tools: [erase, post, look] });
    const first = await next();
    await answer(first, 0, approve);
    await answer(first, 1, approve);
    const moved = memoryStore();
    for await (const head of store.list()) {
      const records = JSON.parse(JSON.stringify(await journalOf(store, head.runId)));
      await moved.append(head.runId, 0, records, head);
    }
    const done = await next({ store: moved });
    expect(done.status).toBe("completed");
    expect(oks(done)).toEqual([true, true, true]);
    expect([erase.calls.length, post.calls.length]).toEqual([1, 1]);
  });

  it("asks the policy once for each write", async () => {
    const { erase, post, look } = tools();
    const seen: string[] = [];
    const policy = ({ runId }: PolicyWrite) => {
      seen.push(runId);
      return "ask" as const;
    };
    const { next, answer } = carried(config, { calls, tools: [erase, post, look], policy });
    const first = await next();
    await answer(first, 0, approve);
    await answer(first, 1, approve);
    await next();
    expect(seen).toEqual(["run-1[0]", "run-1[1]"]);
  });

  it("runs an approved call once, whoever carries it on, with one key", async () => {
    const { erase, post, look } = tools();
    const { next, answer } = carried(config, { calls: calls.slice(0, 1), tools: [erase, post, look] });
    await answer(await next(), 0, approve);
    const both = await Promise.allSettled([next(), next()]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await next();
    expect(erase.calls.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["run-1[0]:erase"]);
  });

  it("takes no answer to what was never asked", async () => {
    const { erase, post, look } = tools();
    const { next, store } = carried(config, { calls, tools: [erase, post, look] });
    await next();
    const error = await rejection(answerQuestion(store, "run-1[0]", "post?1", approve));
    expect(error).toMatchObject({ code: "UNKNOWN_QUESTION" });
    expect(await rejection(answerQuestion(store, "run-1[9]", "erase?1", approve))).toMatchObject({
      code: "UNKNOWN_RUN",
    });
    expect((await next()).status).toBe("waiting");
    expect(erase.calls).toEqual([]);
  });

  it("is asked through onQuestion first, which keeps it alive", async () => {
    const { erase, post, look } = tools();
    const done = await toolDispatch(
      config,
      options({
        calls,
        tools: [erase, post, look],
        policy: undefined,
        onQuestion: ({ kind, path }) =>
          kind === "approval" ? { decision: path === "erase" ? "reject" : "approve" } : undefined,
      }),
    );
    expect(done.status).toBe("completed");
    expect(oks(done)).toEqual([false, true, true]);
  });
});

describe("a call that waits keeps its place", () => {
  const calls = [call("a", "post"), call("b", "look"), call("c", "post")];

  it("so that with one place nothing later starts", async () => {
    const look = read("look");
    const post = write("post");
    const { next, answer } = carried(
      { tools: { post: { tool: "post" }, look: { tool: "look" } } },
      { calls, tools: [look, post] },
    );
    const first = await next();
    expect(first.entries.map(({ error }) => error)).toEqual([
      "PENDING: this call waits for a person. Its answer follows.",
      "PENDING: this call has not started. Its answer follows.",
      "PENDING: this call has not started. Its answer follows.",
    ]);
    expect(look.calls).toEqual([]);
    await answer(first, 0, approve);
    const second = await next();
    expect(oks(second)).toEqual([true, true, false]);
    expect(asked(second)).toEqual(["run-1[2] post"]);
  });

  it("and under fail_fast is still carried to its end after another failed", async () => {
    const bad = read("bad", [new Error("broken")]);
    const post = write("post");
    const { next, answer } = carried(
      { tools: { post: { tool: "post" }, bad: { tool: "bad" } }, max_concurrent: 2 },
      { calls: [call("a", "post"), call("b", "bad"), call("c", "post")], tools: [bad, post] },
    );
    const first = await next();
    expect(first.status).toBe("waiting");
    expect(first.entries[2]?.error).toContain("NOT_RUN");
    await answer(first, 0, approve);
    const second = await next();
    expect(second.status).toBe("failed");
    expect(oks(second)).toEqual([true, false, false]);
    expect(second.error?.message).toBe("bad: broken");
    expect(post.calls).toHaveLength(1);
    expect(await next()).toMatchObject({ status: "failed", entries: second.entries });
  });
});

describe("a dispatch that was left", () => {
  it("by stop waits, and goes on where it stood", async () => {
    const stop = new AbortController();
    const gate = deferred();
    const work = read("work", ["one", aborting(stop, gate.promise), "two", "three"]);
    const calls = ["a", "b", "c"].map((id) => call(id, "work"));
    const { next } = carried({ tools: { work: { tool: "work" } } }, { calls, tools: work });
    const pending = next({ stop: stop.signal, limits: { gracePeriodMs: 0 } });
    const left = await pending;
    expect(left.status).toBe("waiting");
    expect(left.questions).toBeUndefined();
    expect(left.entries.map(({ error }) => error ?? "ok")).toEqual([
      "ok",
      "PENDING: this call has not ended. Its answer follows.",
      "PENDING: this call has not started. Its answer follows.",
    ]);
    const done = await next();
    expect(done.entries.map(({ result }) => result)).toEqual(["one", "two", "three"]);
    expect(work.calls).toHaveLength(4);
  });

  it("starts nothing where it is stopped before it begins", async () => {
    const work = read("work");
    const { next } = carried({ tools: { work: { tool: "work" } } }, { calls: [call("a", "work")], tools: work });
    expect((await next({ stop: AbortSignal.abort() })).status).toBe("waiting");
    expect(work.calls).toEqual([]);
    expect((await next()).status).toBe("completed");
  });

  it("stands for its calls: others are a conflict, and nothing is run", async () => {
    const post = write("post");
    const tools = { post: { tool: "post" } };
    const { next } = carried({ tools }, { calls: [call("a", "post", { n: 1 })], tools: post });
    await next();
    for (const calls of [[call("a", "post", { n: 2 })], [call("b", "post", { n: 1 })]]) {
      expect(await rejection(next({ calls }))).toMatchObject({ code: "RUN_CONFLICT" });
    }
    expect(post.calls).toEqual([]);
  });

  it("goes on though its handlers were edited, and loses nothing that is finished", async () => {
    const post = write("post");
    const look = read("look");
    const store = memoryStore();
    const handler = (say: string) => flow([{ id: "post", tool: "post", inputs: { say } }], { name: "say" });
    const given = options({
      store,
      tools: [post, look],
      policy: undefined,
      calls: [call("l", "look"), call("s", "say")],
    });
    const config = (say: string): DispatchConfig => ({
      tools: { look: { tool: "look" }, say: { flow: handler(say) } },
    });
    const first = await toolDispatch(config("hi"), given);
    const question = first.questions?.[0];
    await answerQuestion(store, question?.runId ?? "", question?.id ?? "", approve);
    const done = await toolDispatch(config("bye"), given);
    expect(done.status).toBe("completed");
    expect(post.calls.map(({ inputs }) => inputs)).toEqual([{ say: "hi" }]);
    expect(look.calls).toHaveLength(1);
  });
});

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
