import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { ToolError } from "../../src/core/errors.js";
import { call, entriesIn, serve } from "./dispatch-step-harness.js";
import { deferred, flow, read, run, settled, write } from "./harness.js";

describe("a tool_dispatch step whose calls fail", () => {
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
});
