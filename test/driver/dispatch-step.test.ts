import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import type { QuestionEvent } from "../../src/driver/options.js";
import { runWorkflow } from "../../src/driver/run.js";
import { memoryStore } from "../../src/stores/memory.js";
import { agent, call, serve } from "./dispatch-step-harness.js";
import { drain, flow, options, read, resume, run, untilQuestion, write } from "./harness.js";

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
