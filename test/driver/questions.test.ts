import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Answer } from "../../src/core/question.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import type { DriveOptions, RunOptions } from "../../src/driver/options.js";
import { runToEnd, runWorkflow } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  answering,
  deferred,
  drain,
  flow,
  journalOf,
  options,
  read,
  rejection,
  resume,
  run,
  settled,
  untilQuestion,
  write,
} from "./harness.js";

const pay = { id: "pay", tool: "pay", inputs: { sum: 4 } };
const name = { id: "name", ask: { prompt: "Who pays for {{input.what}}?" } };
const input = { what: "lunch" };

/** A run that waits for an approval. */
async function waiting(more: Partial<RunOptions> = {}) {
  const tool = write("pay");
  const given = options({ tools: tool, policy: undefined, ...more });
  const stream = runWorkflow(flow([pay]), given);
  const question = await untilQuestion(stream);
  return { tool, stream, question, store: given.store, given };
}

describe("an ask", () => {
  it("gives the value that is answered, to the steps behind it", async () => {
    const workflow = flow([name, { id: "echo", tool: "echo", inputs: { by: "{{steps.name.result.first}}" } }]);
    const echo = read("echo", [(inputs) => inputs]);
    const { result, labels } = await run(
      workflow,
      { tools: echo, input },
      answering((question) => {
        expect(question).toMatchObject({
          kind: "input",
          id: "name?1",
          stepId: "name",
          path: "name",
          runId: "run-1",
          prompt: "Who pays for lunch?",
          askedAt: "2030-01-01T00:00:00.000Z",
        });
        expect(question).not.toHaveProperty("expiresAt");
        return { value: { first: "Ada" }, by: "bob" };
      }),
    );
    expect(result.output).toEqual({ by: "Ada" });
    expect(labels).toEqual(["name?1 input", "name completed", "echo started", "echo completed", "result completed"]);
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["false", false],
    ["an empty text", ""],
    ["what looks like a template", "{{input.what}}"],
    ["an own key named __proto__", JSON.parse('{ "__proto__": 1 }')],
  ])("takes %s as a value", async (_, value) => {
    const { result } = await run(flow([name]), { input }, answering({ value: value as null }));
    expect(JSON.stringify(result.output)).toBe(JSON.stringify(value));
  });

  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] } as const;

  it.each([
    ["JSON Schema", schema],
    ["a schema in code", z.object({ age: z.int() })],
  ])("checks the value against %s, and shows it", async (_, given) => {
    const workflow = flow([{ id: "age", ask: { prompt: "How old?", schema: given } }]);
    const stream = runWorkflow(workflow, options({}));
    const question = await untilQuestion(stream);
    if (question.kind !== "input") throw new Error("not an ask");
    expect(question.schema).toMatchObject({ properties: { age: { type: "integer" } } });
    const error = await rejection(question.answer({ value: { age: "old" } }));
    expect(error).toMatchObject({ code: "INVALID_ANSWER", details: { issues: [{ pointer: "/age" }] } });
    expect(String(error)).not.toContain("old");
    await question.answer({ value: { age: 40 } });
    expect((await drain(stream)).result.output).toEqual({ age: 40 });
  });

  it("fails where its prompt leads nowhere, before anyone is asked", async () => {
    const { result, labels } = await run(flow([name]), {});
    expect(result.error).toMatchObject({ code: "UNRESOLVED_REFERENCE", stepId: "name" });
    expect(labels).toEqual(["name failed", "result failed"]);
  });
});

describe("an answer", () => {
  it("resolves when it is durable", async () => {
    const { question, store } = await waiting();
    await question.answer({ decision: "approve", by: "ada" });
    expect((await journalOf(store)).at(-1)).toMatchObject({
      kind: "question_answered",
      id: "pay?1",
      answer: { decision: "approve", by: "ada" },
    });
    expect(await store.head("run-1")).toMatchObject({ openQuestions: 0, status: "running" });
  });

  it("stands, the first one: the same again is no error, another names the first, and none runs twice", async () => {
    const { question, store, tool, stream } = await waiting();
    const answers: Answer[] = [
      { decision: "approve", by: "ada" },
      { decision: "approve", by: "bob" },
      { decision: "reject" },
    ];
    const outcomes = await Promise.allSettled(answers.map((answer) => question.answer(answer)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(outcomes[1]).toMatchObject({
      reason: { code: "ALREADY_ANSWERED", details: { answer: { decision: "approve", by: "ada" } } },
    });
    await question.answer({ by: "ada", decision: "approve" });
    expect(await journalOf(store)).toHaveLength(3);
    const { result } = await drain(stream);
    expect(tool.calls).toHaveLength(1);
    expect(result.writes).toMatchObject([{ decidedBy: "ada" }]);
  });

  it("of two processes at once: one stands, the other is told", async () => {
    const { store, tool, stream } = await waiting();
    await stream.return();
    const clock = fakeClock();
    const answer = (by: string) => answerQuestion(store, "run-1", "pay?1", { decision: "approve", by }, { clock });
    const outcomes = await Promise.allSettled([answer("ada"), answer("bob"), answer("ada")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "ALREADY_ANSWERED" } });
    await drain(resume(store, { tools: tool }));
    expect(tool.calls).toHaveLength(1);
  });

  it("given in the loop after one from elsewhere that the driver has not seen is told of it", async () => {
    // A store without watch: the driver learns of the other answer only when it appends its own.
    const store: RunStore = { ...memoryStore(), watch: undefined };
    const { question, tool, stream } = await waiting({ store });
    await answerQuestion(store, "run-1", "pay?1", { decision: "reject", by: "bob" }, { clock: fakeClock() });
    expect(await rejection(question.answer({ decision: "approve" }))).toMatchObject({
      code: "ALREADY_ANSWERED",
      details: { answer: { decision: "reject", by: "bob" } },
    });
    const { result } = await drain(stream);
    expect(result.error?.code).toBe("REJECTED");
    expect(tool.calls).toEqual([]);
  });

  const nonsense: unknown[] = [
    true,
    "yes",
    "APPROVE",
    {},
    null,
    undefined,
    1,
    [],
    ["approve"],
    { decision: true },
    { decision: "APPROVE" },
    { decision: "yes" },
    { decision: ["approve"] },
    { decision: "approve", extra: 1 },
    { decision: "approve", tool: "wire" },
    { decision: "reject", fields: {} },
    { decision: "done" },
    { decision: "approve", by: 3 },
    { decision: "approve", note: {} },
    { value: 1 },
    { approve: true },
    () => "approve",
    Symbol("approve"),
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("trap");
        },
      },
    ),
  ];

  it("that is anything else than asked for is refused, and the question stays open", async () => {
    const { question, tool, stream, store } = await waiting();
    for (const answer of nonsense) {
      expect(await rejection(question.answer(answer as Answer))).toMatchObject({ code: "INVALID_ANSWER", path: "pay" });
    }
    expect(await journalOf(store)).toHaveLength(2);
    const { result } = await drain(stream);
    expect(result).toMatchObject({ status: "waiting", questions: [{ id: "pay?1" }] });
    expect(tool.calls).toEqual([]);
  });

  it("to an ask is a value, and nothing else", async () => {
    const stream = runWorkflow(flow([name]), options({ input }));
    const question = await untilQuestion(stream);
    const refused = [
      {},
      { value: undefined },
      null,
      "Ada",
      { value: 1, more: 2 },
      { decision: "approve" },
      { value: 1n },
    ];
    for (const answer of refused) {
      expect(await rejection(question.answer(answer as Answer))).toMatchObject({ code: "INVALID_ANSWER" });
    }
    expect((await drain(stream)).result.status).toBe("waiting");
  });

  it("that is too large is refused", async () => {
    const stream = runWorkflow(flow([name]), options({ input, limits: { maxValueBytes: 100 } }));
    const question = await untilQuestion(stream);
    expect(await rejection(question.answer({ value: "x".repeat(200) }))).toMatchObject({ code: "INVALID_ANSWER" });
    await question.answer({ value: "Ada" });
  });

  it("that holds a secret is refused", async () => {
    const secrets = ["s3cret-token"];
    const stream = runWorkflow(flow([name]), options({ input, secrets }));
    const question = await untilQuestion(stream);
    expect(await rejection(question.answer({ value: ["is s3cret-token"] }))).toMatchObject({ code: "SECRET_IN_DATA" });
    expect((await drain(stream)).result.status).toBe("waiting");
  });

  it("to what nobody asked is UNKNOWN_QUESTION, in a run that there is none of UNKNOWN_RUN", async () => {
    const { store } = await waiting();
    const answer = { decision: "approve" };
    for (const id of ["pay?2", "pay", "", "__proto__", "constructor"]) {
      expect(await rejection(answerQuestion(store, "run-1", id, answer))).toMatchObject({ code: "UNKNOWN_QUESTION" });
    }
    expect(await rejection(answerQuestion(store, "run-9", "pay?1", answer))).toMatchObject({ code: "UNKNOWN_RUN" });
  });

  it("after the end is told how the run ended", async () => {
    const { question, stream, store } = await waiting();
    await question.answer({ decision: "approve" });
    await drain(stream);
    expect(await rejection(question.answer({ decision: "reject" }))).toMatchObject({ code: "ALREADY_ANSWERED" });
    await question.answer({ decision: "approve" });
    expect(await rejection(answerQuestion(store, "run-1", "pay?9", {}))).toMatchObject({
      code: "RUN_ENDED",
      message: expect.stringContaining("completed"),
    });
  });

  it("to a question that was withdrawn is QUESTION_CLOSED", async () => {
    const controller = new AbortController();
    const { question, stream } = await waiting({ signal: controller.signal });
    controller.abort();
    const { result } = await drain(stream);
    expect(result).toMatchObject({ status: "cancelled", writes: [] });
    expect(result.questions).toBeUndefined();
    expect(await rejection(question.answer({ decision: "approve" }))).toMatchObject({
      code: "QUESTION_CLOSED",
      message: expect.stringContaining("withdrawn"),
    });
  });

  it.each(["event.answer", "answerQuestion"])("may come after the run waits, by %s", async (way) => {
    const { question, stream, store, tool } = await waiting();
    const { result, labels } = await drain(stream);
    expect(labels).toEqual(["result waiting"]);
    expect(result.questions).toMatchObject([{ id: "pay?1", kind: "approval", fields: { sum: 4 } }]);
    expect(await store.head("run-1")).toMatchObject({ status: "waiting", openQuestions: 1 });
    if (way === "event.answer") await question.answer({ decision: "approve", by: "ada" });
    else await answerQuestion(store, "run-1", "pay?1", { decision: "approve", by: "ada" }, { clock: fakeClock() });
    expect(await store.head("run-1")).toMatchObject({ status: "running", openQuestions: 0 });
    expect(tool.calls).toEqual([]);
    const resumed = await drain(resume(store, { tools: tool, policy: undefined }));
    expect(resumed.labels).toEqual(["pay started", "pay completed", "result completed"]);
    expect(resumed.result.writes).toMatchObject([{ decidedBy: "ada" }]);
  });

  it("that is not awaited counts before the next event is asked for", async () => {
    const { question, stream } = await waiting();
    void question.answer({ decision: "approve" });
    expect((await drain(stream)).result.status).toBe("completed");
  });

  it("that comes while the run is being driven elsewhere goes on at once", async () => {
    const slow = deferred();
    const workflow = flow([{ id: "both", parallel: [pay, { id: "look", tool: "look", inputs: {} }] }]);
    const tool = write("pay");
    const given = options({ tools: [tool, read("look", [() => slow.promise])], policy: undefined });
    const seen = drain(runWorkflow(workflow, given));
    await settled();
    await answerQuestion(given.store, "run-1", "both/pay?1", { decision: "approve" }, { clock: fakeClock() });
    await settled();
    expect(tool.calls).toHaveLength(1);
    slow.resolve("found");
    expect((await seen).result.status).toBe("completed");
  });
});

describe("a question without an answer", () => {
  it("is yielded again by a resume, the same", async () => {
    const { stream, store, question } = await waiting();
    await drain(stream);
    const again = await untilQuestion(resume(store, { tools: write("pay") }));
    const { answer, ...shown } = again;
    expect(question).toMatchObject(shown);
    expect(again.id).toBe("pay?1");
  });

  it("lets everything else go on first", async () => {
    const workflow = flow([
      {
        id: "all",
        parallel: [pay, name, { id: "nap", sleep_ms: 5_000 }, { id: "look", tool: "look", inputs: {}, retries: 1 }],
      },
    ]);
    const look = read("look", [new Error("busy"), "found"]);
    const { result, labels } = await run(workflow, { tools: [write("pay"), look], policy: undefined, input });
    expect(labels).toContain("all/nap completed");
    expect(labels).toContain("all/look completed");
    expect(labels.at(-1)).toBe("result waiting");
    expect(result.questions?.map(({ id }) => id).sort()).toEqual(["all/name?1", "all/pay?1"]);
  });

  it("may be answered one after another, each by its own id", async () => {
    const workflow = flow([
      {
        id: "all",
        parallel: [
          { ...name, id: "a" },
          { ...name, id: "b" },
        ],
      },
    ]);
    const store = memoryStore();
    await run(workflow, { store, input });
    const clock = fakeClock();
    await answerQuestion(store, "run-1", "all/b?1", { value: "second" }, { clock });
    expect((await drain(resume(store))).labels).toEqual(["all/a?1 input", "all/b completed", "result waiting"]);
    await answerQuestion(store, "run-1", "all/a?1", { value: "first" }, { clock });
    expect((await drain(resume(store))).result).toMatchObject({
      status: "completed",
      output: { a: "first", b: "second" },
    });
  });
});

describe("onQuestion", () => {
  const asking = async (onQuestion: DriveOptions["onQuestion"]) => {
    const tool = write("pay");
    const seen = await run(flow([pay]), { tools: tool, policy: undefined, onQuestion });
    return { ...seen, calls: tool.calls.length };
  };

  it.each<[string, DriveOptions["onQuestion"]]>([
    ["at once", () => ({ decision: "approve", by: "bot" })],
    ["late", async () => ({ decision: "approve", by: "bot" })],
  ])("is asked first, and may answer %s: the stream then says nothing of it", async (_, onQuestion) => {
    const { labels, result } = await asking(onQuestion);
    expect(labels).toEqual(["pay started", "pay completed", "result completed"]);
    expect(result.writes).toMatchObject([{ decidedBy: "bot" }]);
  });

  it.each<[string, DriveOptions["onQuestion"]]>([
    ["gives undefined", () => undefined],
    ["gives undefined, late", async () => undefined],
    [
      "throws",
      () => {
        throw new Error("x");
      },
    ],
    ["rejects", () => Promise.reject(new Error("x"))],
    ["gives what does not fit", () => JSON.parse('{ "decision": "maybe" }')],
    ["gives null", () => JSON.parse("null")],
    [
      "gives what can't be read",
      () =>
        new Proxy({} as Answer, {
          ownKeys: () => {
            throw new Error("trap");
          },
        }),
    ],
    [
      "changes the question",
      (question) => {
        Object.assign(question, { fields: { sum: 1 }, fingerprint: "0" });
        return undefined;
      },
    ],
  ])("that %s leaves the question to the stream", async (_, onQuestion) => {
    const { labels, result, calls } = await asking(onQuestion);
    expect(labels).toEqual(["pay?1 approval", "result waiting"]);
    expect(result.questions).toMatchObject([{ id: "pay?1", fields: { sum: 4 } }]);
    expect(calls).toBe(0);
  });

  it("keeps the run alive while it takes its time", async () => {
    const person = deferred<Answer>();
    const seen = asking(() => person.promise);
    await settled();
    person.resolve({ decision: "reject" });
    expect((await seen).result.error?.code).toBe("REJECTED");
  });

  it("is asked again after a restart", async () => {
    const { stream, store, tool } = await waiting();
    await drain(stream);
    const { labels } = await drain(
      resume(store, { tools: tool, policy: undefined, onQuestion: () => ({ decision: "approve" }) }),
    );
    expect(labels).toEqual(["pay started", "pay completed", "result completed"]);
  });

  it("that never answers holds nothing once its question was answered elsewhere", async () => {
    const store = memoryStore();
    const workflow = flow([pay, name]);
    const result = runToEnd(
      workflow,
      options({
        store,
        input,
        tools: write("pay"),
        policy: undefined,
        onQuestion: ({ kind }) => (kind === "approval" ? new Promise(() => {}) : undefined),
      }),
    );
    await settled();
    await answerQuestion(store, "run-1", "pay?1", { decision: "approve" }, { clock: fakeClock() });
    expect(await result).toMatchObject({ status: "waiting", questions: [{ id: "name?1" }] });
  });

  it("that answers what was answered elsewhere meanwhile does no harm", async () => {
    const person = deferred<Answer>();
    const store = memoryStore();
    const tool = write("pay");
    const seen = run(flow([pay]), { store, tools: tool, policy: undefined, onQuestion: () => person.promise });
    await settled();
    await answerQuestion(store, "run-1", "pay?1", { decision: "approve", by: "ada" }, { clock: fakeClock() });
    person.resolve({ decision: "reject" });
    const { result, labels } = await seen;
    expect(result).toMatchObject({ status: "completed", writes: [{ decidedBy: "ada" }] });
    expect(labels).not.toContain("pay?1 approval");
  });
});

describe("a question's expiry", () => {
  const policy = () => ({ decision: "ask", expiresAfterMs: 60_000 }) as const;
  const minute = 60_000;

  it("is shown, and told in the result of a run that waits", async () => {
    const { question, stream, store } = await waiting({ policy });
    expect(question.expiresAt).toBe("2030-01-01T00:01:00.000Z");
    expect((await drain(stream)).result).toMatchObject({ status: "waiting", wakeAt: "2030-01-01T00:01:00.000Z" });
    expect(await store.head("run-1")).toMatchObject({ wakeAt: "2030-01-01T00:01:00.000Z" });
  });

  it("never approves: an answer that comes too late is refused, and the step fails", async () => {
    const clock = fakeClock({ auto: false });
    const { question, stream, store, tool } = await waiting({ policy, clock });
    await clock.advance(minute);
    expect(await rejection(question.answer({ decision: "approve" }))).toMatchObject({ code: "QUESTION_EXPIRED" });
    expect(await rejection(answerQuestion(store, "run-1", "pay?1", { decision: "approve" }, { clock }))).toMatchObject({
      code: "QUESTION_EXPIRED",
    });
    const { result, labels } = await drain(stream);
    expect(labels).toEqual(["pay failed", "result failed"]);
    expect(result).toMatchObject({ error: { code: "QUESTION_EXPIRED", stepId: "pay" }, writes: [] });
    expect(tool.calls).toEqual([]);
    expect(await rejection(question.answer({ decision: "approve" }))).toMatchObject({ code: "QUESTION_EXPIRED" });
    expect((await journalOf(store)).some(({ kind }) => kind === "question_answered")).toBe(false);
  });

  it("counts also while nobody drives: the question is not yielded again", async () => {
    const { stream, store, tool, given } = await waiting({ policy });
    await drain(stream);
    const late = fakeClock({ now: given.clock.now() + minute });
    expect(
      await rejection(answerQuestion(store, "run-1", "pay?1", { decision: "approve" }, { clock: late })),
    ).toMatchObject({ code: "QUESTION_EXPIRED" });
    const { labels, result } = await drain(resume(store, { tools: tool, clock: late }));
    expect(labels).toEqual(["pay failed", "result failed"]);
    expect(result.error?.code).toBe("QUESTION_EXPIRED");
    expect(tool.calls).toEqual([]);
  });

  it("strikes while the run goes on elsewhere, and while the host is asked", async () => {
    const workflow = flow([{ id: "both", parallel: [pay, { id: "nap", sleep_ms: 2 * minute }] }]);
    for (const onQuestion of [undefined, () => new Promise<undefined>(() => {})]) {
      const { labels, result } = await run(workflow, { tools: write("pay"), policy, onQuestion });
      expect(labels).toContain("both/pay failed");
      expect(labels).toContain("both/nap stopped");
      expect(result.error?.code).toBe("QUESTION_EXPIRED");
    }
  });

  it("strikes while only the host is asked", async () => {
    const { labels } = await run(flow([pay]), { tools: write("pay"), policy, onQuestion: () => new Promise(() => {}) });
    expect(labels).toEqual(["pay failed", "result failed"]);
  });

  it("after 30 days is not at once", async () => {
    const month = 30 * 24 * 60 * minute;
    const clock = fakeClock({ auto: false });
    const monthly = () => ({ decision: "ask", expiresAfterMs: month }) as const;
    const { question, stream, tool } = await waiting({ policy: monthly, clock });
    await clock.advance(minute);
    await question.answer({ decision: "approve" });
    expect((await drain(stream)).result.status).toBe("completed");
    expect(tool.calls).toHaveLength(1);
  });

  it("loses against an answer that came before it, whenever that is read", async () => {
    const { stream, store, tool, given } = await waiting({ policy });
    await drain(stream);
    const inTime = fakeClock({ now: given.clock.now() + minute - 1 });
    await answerQuestion(store, "run-1", "pay?1", { decision: "approve" }, { clock: inTime });
    const late = fakeClock({ now: given.clock.now() + 10 * minute });
    expect((await drain(resume(store, { tools: tool, clock: late }))).result.status).toBe("completed");
  });

  it("of an ask takes the default, or fails the step", async () => {
    const ask = { prompt: "Which?", expires_after_ms: minute };
    const both = (more: object) =>
      flow([
        {
          id: "both",
          parallel: [
            { id: "ask", ask: { ...ask, ...more } },
            { id: "nap", sleep_ms: 2 * minute },
          ],
        },
      ]);
    const withDefault = await run(both({ default: { size: "M" } }), {});
    expect(withDefault.result).toMatchObject({ status: "completed", output: { ask: { size: "M" } } });
    expect((await run(both({ default: null }), {})).result.output).toMatchObject({ ask: null });
    const without = await run(both({}), {});
    expect(without.result.error).toMatchObject({ code: "QUESTION_EXPIRED", stepId: "ask" });
  });

  it("of an ask is shown with its default", async () => {
    const workflow = flow([{ id: "ask", ask: { prompt: "Which?", expires_after_ms: minute, default: "M" } }]);
    const question = await untilQuestion(runWorkflow(workflow, options({})));
    expect(question).toMatchObject({ default: "M", expiresAt: "2030-01-01T00:01:00.000Z" });
  });
});

describe("a question of a step", () => {
  it("is withdrawn when a sibling fails", async () => {
    const workflow = flow([{ id: "both", parallel: [name, { id: "look", tool: "look", inputs: {} }] }]);
    const { labels, result } = await run(workflow, {
      input,
      tools: read("look", [async () => Promise.reject(new Error("down"))]),
    });
    expect(labels).toContain("both/name?1 input");
    expect(result.status).toBe("failed");
    expect(result.questions).toBeUndefined();
  });

  it("that was withdrawn before anyone saw it is not yielded", async () => {
    const store = memoryStore();
    const stream = runWorkflow(flow([name]), options({ store, input }));
    const turn = stream.next();
    await turn;
    await stream.return();
    await cancelRun(store, "run-1", { clock: fakeClock() });
    expect((await drain(resume(store))).labels).toEqual(["name?1 input", "result cancelled"]);
  });
});
