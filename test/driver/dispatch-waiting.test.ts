import { describe, expect, it } from "vitest";
import type { DispatchConfig } from "../../src/core/document.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { type ToolDispatchResult, toolDispatch } from "../../src/driver/dispatch.js";
import type { PolicyWrite } from "../../src/ports/policy.js";
import { memoryStore } from "../../src/stores/memory.js";
import { aborting, approve, call, carried, oks } from "./dispatch-harness.js";
import { deferred, flow, journalOf, options, read, rejection, write } from "./harness.js";

const reject = { decision: "reject", by: "bo" };
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

  it("may be begun twice at once on a store without leases: the later one carries it on", async () => {
    const { erase, post, look } = tools();
    const bare = { ...memoryStore(), lease: undefined };
    const { next } = carried(config, { calls: calls.slice(0, 1), tools: [erase, post, look] });
    const both = await Promise.allSettled([next({ store: bare }), next({ store: bare })]);
    const results = both.flatMap((each) => (each.status === "fulfilled" ? [each.value.status] : [each.reason.code]));
    expect(results).toContain("waiting");
    await answerQuestion(bare, "run-1[0]", "erase?1", approve);
    expect((await next({ store: bare })).status).toBe("completed");
    expect(erase.calls).toHaveLength(1);
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

  it("stands for arguments, too, that no mapping selects and for calls that could not be run", async () => {
    const post = write("post");
    const config = {
      tools: { post: { flow: flow([{ id: "post", tool: "post", inputs: {} }]) } },
      on_error: "ignore",
    } as const;
    const { next } = carried(config, { calls: [call("a", "post", { n: 1 }), call("b", "post", "{")], tools: post });
    await next();
    for (const calls of [
      [call("a", "post", { n: 2 }), call("b", "post", "{")],
      [call("a", "post", { n: 1 }), call("b", "post", {})],
    ]) {
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
