import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { DispatchConfig, StepDocument } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/core/json.js";
import type { QuestionEvent, RunOptions } from "../../src/driver/options.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { deferred, drain, flow, options, read, resume, run, settled, untilQuestion, write } from "./harness.js";

const call = (id: string, name: string, given: JsonObject = {}) => ({ id, name, arguments: given });

/** A workflow that dispatches what its input holds under `turn`. */
function agent(
  config: Partial<DispatchConfig>,
  more: Partial<StepDocument> = {},
  before: readonly StepDocument[] = [],
) {
  const tool_dispatch = { source_key: "turn", tools: {}, ...config };
  return flow([...before, { id: "serve", tool_dispatch, ...more }]);
}

function serve(
  config: Partial<DispatchConfig>,
  turn: unknown,
  given: Partial<RunOptions>,
  more: Partial<StepDocument> = {},
) {
  return run(agent(config, more), { ...given, input: { turn } });
}

function entriesIn(value: JsonValue | undefined): JsonValue {
  return isJsonObject(value) ? (value.tool_results ?? null) : null;
}

describe("a tool_dispatch step", () => {
  it("has the six keys as its result", async () => {
    const look = read("look", [{ n: 1 }, "two"]);
    const { result } = await serve({ tools: { look: { tool: "look" } } }, [call("a", "look"), call("b", "look")], {
      tools: look,
    });
    const a = {
      success: true,
      id: "a",
      name: "look",
      arguments: {},
      flow: "look",
      result: { n: 1 },
      content: '{"n":1}',
    };
    const b = { success: true, id: "b", name: "look", arguments: {}, flow: "look", result: "two", content: "two" };
    expect(result.output).toEqual({
      tool_results: [a, b],
      tool_results_count: 2,
      tool_results_errors: 0,
      tool_results_all_succeeded: true,
      tool_results_messages: [
        { role: "tool", tool_call_id: "a", content: '{"n":1}' },
        { role: "tool", tool_call_id: "b", content: "two" },
      ],
      tool_results_by_id: { a, b },
    });
  });

  it("adds its keys to the context, where a later dispatch and its mappings read them", async () => {
    const look = read("look", [{ tool_calls: [call("b", "say")] }, "second"]);
    const say = read("say");
    const said = defineWorkflow({ name: "said", steps: [{ id: "say", tool: "say", inputs: "{{input}}" }] });
    const twice = flow([
      { id: "one", tool_dispatch: { source_key: "turn", output_key: "first", tools: { look: { tool: "look" } } } },
      { id: "next", tool: "look", output_key: "_next" },
      {
        id: "two",
        tool_dispatch: {
          source_key: "turn2",
          tools: {
            say: {
              flow: said,
              input: { n: "first_count", m: "ctx.first_by_id.a.result.tool_calls.0.id", k: "_next", one: "one" },
            },
          },
        },
      },
    ]);
    const { result } = await run(twice, {
      tools: [look, say],
      input: { turn: [call("a", "look")], turn2: [call("b", "say")] },
    });
    expect(result.error).toBeUndefined();
    // A dispatch adds its six keys, not its id.
    expect(say.calls[0]?.inputs).toMatchObject({ n: 1, m: "b", k: "second", one: "one" });
  });

  it("gives children paths of their own, and nothing of the parent's input that is not mapped", async () => {
    const look = read("look");
    const child = defineWorkflow({ name: "child", steps: [{ id: "look", tool: "look", inputs: "{{input}}" }] });
    await serve(
      { tools: { child: { flow: child, input: { x: "arguments.x" } }, look: { tool: "look" } } },
      [call("a", "look", { y: 1 }), call("b", "child", { x: 2, z: 3 })],
      { tools: look },
    );
    expect(look.calls.map(({ path }) => path)).toEqual(["serve[0]", "serve[1]/look"]);
    expect(look.calls[0]?.inputs).toEqual({ y: 1 });
    expect(Object.keys(look.calls[1]?.inputs ?? {}).sort()).toEqual([
      "tool_arguments",
      "tool_call",
      "tool_call_id",
      "tool_call_index",
      "tool_name",
      "x",
    ]);
  });

  it("fails the run with what its first bad call failed with, and the entries", async () => {
    const bad = read("bad", [new Error("broken")]);
    const look = read("look");
    const { result, labels } = await serve(
      { tools: { bad: { tool: "bad" }, look: { tool: "look" } } },
      [call("a", "look"), call("b", "bad"), call("c", "look")],
      { tools: [bad, look] },
    );
    expect(labels.at(-1)).toBe("result failed");
    expect(result.error).toMatchObject({
      code: "DISPATCH_FAILED",
      message: "bad: broken",
      stepId: "serve",
      path: "serve",
    });
    expect(result.error?.details?.entries).toMatchObject([{ success: true }, { success: false }, { success: false }]);
    expect(look.calls).toHaveLength(1);
  });

  it("checks the whole set before any handler starts", async () => {
    const look = read("look");
    const { result } = await serve({ tools: { look: { tool: "look" } } }, [call("a", "look"), call("b", "lost")], {
      tools: look,
    });
    expect(result.error?.message).toContain('no tool named "lost"');
    expect(look.calls).toEqual([]);
  });

  it("goes on under ignore, where the model is told of each", async () => {
    const bad = read("bad", [new Error("broken")]);
    const look = read("look");
    const { result } = await serve(
      { on_error: "ignore", tools: { bad: { tool: "bad" }, look: { tool: "look" } } },
      [call("a", "bad"), call("b", "lost"), { id: "c", name: "look", arguments: "{" }, call("d", "look")],
      { tools: [bad, look] },
    );
    expect(result.status).toBe("completed");
    expect(entriesIn(result.output)).toMatchObject([
      { success: false, error: "bad: broken" },
      { success: false, result: { error: expect.stringContaining("lost") } },
      { success: false, arguments: null },
      { success: true },
    ]);
    expect(look.calls).toHaveLength(1);
  });

  it("undoes its children with the workflow, and a child that is let fail by itself", async () => {
    const book = write("book", [{ id: 1 }, { id: 2 }, { id: 3 }]);
    const free = write("free");
    const flaky = read("flaky", ["ok", new Error("no"), "ok", new Error("last")]);
    const trip = defineWorkflow({
      name: "booking",
      steps: [
        { id: "book", tool: "book", compensate: { tool: "free", inputs: { id: "{{steps.book.result.id}}" } } },
        { id: "flaky", tool: "flaky" },
      ],
    });
    const whole = flow([
      { id: "serve", tool_dispatch: { source_key: "turn", on_error: "ignore", tools: { trip: { flow: trip } } } },
      { id: "last", tool: "flaky" },
    ]);
    const turn = ["a", "b", "c"].map((id) => call(id, "trip"));
    const { result } = await run(whole, { tools: [book, free, flaky], input: { turn } });
    expect(result.status).toBe("failed");
    expect(free.calls.map(({ inputs, path }) => [inputs.id, path])).toEqual([
      [2, "serve[1]/book~undo"],
      [3, "serve[2]/book~undo"],
      [1, "serve[0]/book~undo"],
    ]);
  });

  it("pauses the run on questions of several children, each with its path; answered ones go on while others wait", async () => {
    const pay = write("pay");
    const done = read("done");
    const payer = defineWorkflow({
      name: "payer",
      steps: [
        { id: "pay", tool: "pay" },
        { id: "done", tool: "done" },
      ],
    });
    const store = memoryStore();
    const workflow = agent({ max_concurrent: 3, tools: { pay: { flow: payer } } });
    const given = options({
      store,
      tools: [pay, done],
      policy: undefined,
      input: { turn: ["a", "b", "c"].map((id) => call(id, "pay")) },
    });
    const stream = runWorkflow(workflow, given);
    const questions = new Map<string, QuestionEvent>();
    while (questions.size < 3) {
      const question = await untilQuestion(stream);
      questions.set(question.path, question);
    }
    expect([...questions.keys()]).toEqual(["serve[0]/pay", "serve[1]/pay", "serve[2]/pay"]);
    await questions.get("serve[2]/pay")?.answer({ decision: "approve" });
    const { result: waits } = await drain(stream);
    expect(waits.status).toBe("waiting");
    expect(done.calls.map(({ path }) => path)).toEqual(["serve[2]/done"]);
    const rest = await drain(resume(store, { tools: [pay, done], policy: undefined }), async (event) => {
      if (event.type === "question")
        await event.answer({ decision: event.path.includes("[0]") ? "reject" : "approve" });
    });
    expect(rest.result.status).toBe("failed");
    expect(rest.result.error?.message).toMatch(/^pay: .*rejected/);
    expect(pay.calls.map(({ path }) => path)).toEqual(["serve[2]/pay", "serve[1]/pay"]);
  });

  it("lets siblings in flight end before it fails, and starts no other", async () => {
    const gate = deferred();
    const slow = write("slow", [() => gate.promise]);
    const bad = read("bad", [new Error("broken")]);
    const pending = serve(
      { max_concurrent: 2, tools: { slow: { tool: "slow" }, bad: { tool: "bad" } } },
      [call("a", "slow"), call("b", "bad"), call("c", "bad")],
      { tools: [slow, bad] },
    );
    await settled();
    gate.resolve("made");
    const { result } = await pending;
    expect(result.error?.details?.entries).toMatchObject([
      { result: "made" },
      { error: "bad: broken" },
      { success: false },
    ]);
    expect(bad.calls).toHaveLength(1);
    expect(result.writes).toMatchObject([{ path: "serve[0]", state: "done" }]);
  });

  it("uses its fallback where all that it did is undone", async () => {
    const refused = read("refused", [new ToolError("closed", { outcome: "refused" })]);
    const other = read("other", ["instead"]);
    const { result } = await serve(
      { tools: { refused: { tool: "refused" } } },
      [call("a", "refused")],
      { tools: [refused, other] },
      { fallback: { tool: "other", inputs: { why: "{{error.message}}" } } },
    );
    expect(result.output).toBe("instead");
    expect(other.calls[0]?.inputs).toEqual({ why: "refused: closed" });
  });

  it.each<[string, unknown, string]>([
    ["no key of that name", undefined, "UNRESOLVED_REFERENCE"],
    ["no known shape", [{ what: 1 }], "UNKNOWN_CALL_SHAPE"],
    ["null in their place", null, "UNKNOWN_CALL_SHAPE"],
    ["two calls of one id", [call("a", "look", { n: 1 }), call("a", "look", { n: 2 })], "DUPLICATE_CALL_ID"],
  ])("fails where the calls have %s", async (_name, turn, code) => {
    const look = read("look");
    const { result } = await serve({ tools: { look: { tool: "look" } } }, turn, { tools: look }, { retries: 3 });
    expect(result.error).toMatchObject({ code, stepId: "serve" });
    expect(look.calls).toEqual([]);
  });

  it("needs to be told where its calls are", async () => {
    const workflow = flow([{ id: "serve", tool_dispatch: { tools: {} } }]);
    const { result } = await run(workflow, { input: { turn: [] } });
    expect(result.error).toMatchObject({
      code: "UNRESOLVED_REFERENCE",
      message: expect.stringContaining("source_key"),
    });
  });

  it("tells under ignore what of a failed child could not be undone, and of no other", async () => {
    const tools = [
      write("book"),
      write("free", [new ToolError("locked", { outcome: "refused" })]),
      read("bad", [new Error("stop")]),
    ];
    const trip = defineWorkflow({
      name: "trip-child",
      steps: [
        { id: "book", tool: "book", compensate: { tool: "free" } },
        { id: "bad", tool: "bad" },
      ],
    });
    const turn = [call("a", "trip"), call("b", "bad"), call("c", "trip")];
    const { result } = await serve(
      { on_error: "ignore", tools: { trip: { flow: trip }, bad: { tool: "bad" } } },
      turn,
      { tools },
    );
    const failed = "bad: stop; book: locked";
    expect(entriesIn(result.output)).toMatchObject([{ error: failed }, { error: "bad: stop" }, { error: failed }]);
  });

  it("is one step among others: its calls can come from one, its messages go to another", async () => {
    const model = read("model", [
      { role: "assistant", tool_calls: [{ id: "t1", type: "function", function: { name: "look", arguments: "{}" } }] },
    ]);
    const look = read("look", ["seen"]);
    const send = read("send");
    const steps: StepDocument[] = [
      { id: "ask", tool: "model" },
      { id: "serve", tool_dispatch: { source_key: "ask", tools: { look: { tool: "look" } } } },
      {
        id: "send",
        tool: "send",
        inputs: {
          messages: ["{{...input.history}}", "{{steps.ask.result}}", "{{...steps.serve.result.tool_results_messages}}"],
        },
      },
    ];
    const { result } = await run(flow(steps), {
      tools: [model, look, send],
      input: { history: [{ role: "user", content: "hi" }] },
    });
    expect(result.status).toBe("completed");
    expect(send.calls[0]?.inputs.messages).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", tool_calls: [{ id: "t1", type: "function", function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "t1", content: "seen" },
    ]);
  });
});
