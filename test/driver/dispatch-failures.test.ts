import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { DispatchConfig } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import { call, city, dispatch, oks, statusOf } from "./dispatch-harness.js";
import { deferred, flow, read, settled, write } from "./harness.js";

describe("a call that can't be run", () => {
  const look = () => read("look");
  const closed = read("closed", ["shut"], {
    inputSchema: {
      type: "object",
      properties: { day: { type: "integer" } },
      required: ["day"],
      additionalProperties: false,
    },
  });
  const config: DispatchConfig = { tools: { city, closed: { tool: "closed" } }, on_error: "ignore" };

  it.each([
    [
      "of an unknown tool",
      call("x", "town", { city: "Rome" }),
      'There is no tool named "town". Call one of "city", "closed".',
    ],
    ["named as what objects inherit", call("x", "constructor"), 'There is no tool named "constructor".'],
    ["named __proto__", call("x", "__proto__"), 'There is no tool named "__proto__".'],
    ["without a name", { id: "x", type: "function", function: { arguments: "{}" } }, "The call has no name."],
    ["with broken JSON", call("x", "city", '{"city": "Rom'), "not valid JSON"],
    ["with a list", call("x", "city", '["Rome"]'), "must be one JSON object"],
    ["with two objects", call("x", "city", '{"city":"Rome"}{"city":"Bari"}'), "exactly one JSON object"],
    ["with arguments that do not fit the workflow", call("x", "city", { city: 12 }), "/city"],
    ["with arguments that do not fit the tool", call("x", "closed", { day: "monday" }), "/day"],
    ["with arguments that a closed tool does not know", call("x", "closed", { day: 1, night: 2 }), "night"],
  ])("%s is answered, and nothing is run for it", async (_name, bad, text) => {
    const tool = look();
    const done = await dispatch(config, {
      calls: [bad, call("good", "city", { city: "Oslo" })],
      tools: [tool, closed],
    });
    expect(done.status).toBe("completed");
    expect(done.entries.map(({ success }) => success)).toEqual([false, true]);
    expect(done.entries[0]).toMatchObject({ id: "x", result: { error: done.entries[0]?.error } });
    expect(done.entries[0]?.error).toContain(text);
    expect(done.messages[0]).toEqual({
      role: "tool",
      tool_call_id: "x",
      content: JSON.stringify(done.entries[0]?.result),
    });
    expect(done.context).toMatchObject({ tool_results_errors: 1, tool_results_all_succeeded: false });
    expect(tool.calls.map(({ inputs }) => inputs)).toEqual([{ place: "Oslo" }]);
    expect(closed.calls).toEqual([]);
  });

  it("may be one whose schema gives no object", async () => {
    const tool = read("look", ["x"], { inputSchema: z.object({}).transform(() => "text") });
    const handler = flow([{ id: "look", tool: "look" }], {
      name: "odd",
      input_schema: z.object({}).transform(() => [1]),
    });
    const config = { tools: { look: { tool: "look" }, odd: { flow: handler } }, on_error: "ignore" };
    const done = await dispatch(config, { calls: [call("a", "look"), call("b", "odd")], tools: tool });
    expect(done.entries.map(({ error }) => error)).toEqual([
      "Tool look: its schema has to give an object.",
      "Tool odd: its schema has to give an object.",
    ]);
    expect(tool.calls).toEqual([]);
  });

  it("keeps every other from starting, unless errors are ignored", async () => {
    const tool = look();
    const done = await dispatch(
      { tools: { city } },
      {
        calls: [call("a", "city", { city: "Oslo" }), call("b", "city", "{"), call("c", "city", { city: "Bari" })],
        tools: tool,
      },
    );
    expect(tool.calls).toEqual([]);
    expect(done.status).toBe("failed");
    expect(done.entries.map(({ error }) => error?.slice(0, 7))).toEqual([
      "NOT_RUN",
      done.entries[1]?.error?.slice(0, 7),
      "NOT_RUN",
    ]);
    expect(done.messages.map(({ tool_call_id }) => tool_call_id)).toEqual(["a", "b", "c"]);
    expect(done.error).toMatchObject({ name: "ToolDispatchError", code: "DISPATCH_FAILED", entries: done.entries });
    expect(done.error?.message).toBe(done.entries[1]?.error);
    expect(done.error?.toJSON().cause?.code).toBe("INVALID_ARGUMENTS");
  });

  it("says nothing of the arguments but places and keys", async () => {
    const done = await dispatch(config, {
      calls: [
        call("x", "city", { city: ["sesame-2261"] }),
        call("y", "city", '{"city": "sesame-2261'),
        call("z", "closed", { day: "sesame-2261" }),
      ],
      tools: [look(), closed],
    });
    expect(JSON.stringify(done.messages)).not.toContain("sesame-2261");
    expect(JSON.stringify(done.entries.map(({ error }) => error))).not.toContain("sesame-2261");
  });

  it("is each one, where there are more than may be", async () => {
    const tool = look();
    const calls = ["Rome", "Bari", "Oslo"].map((name, index) => call(`c${index}`, "city", { city: name }));
    for (const on_error of ["fail_fast", "ignore"]) {
      const done = await dispatch({ tools: { city }, max_calls: 2, on_error }, { calls, tools: tool });
      expect(done.status).toBe(on_error === "ignore" ? "completed" : "failed");
      expect(new Set(done.entries.map(({ error }) => error)).size).toBe(1);
      expect(done.messages).toHaveLength(3);
    }
    expect(tool.calls).toEqual([]);
    const fits = await dispatch({ tools: { city }, max_calls: 3 }, { calls, tools: tool, runId: "r2" });
    expect(fits.status).toBe("completed");
  });

  it("costs nothing of what would be mapped when it has more calls than are allowed", async () => {
    const mapped = { look: { tool: "look", input: { page: "ctx.page" } } };
    const calls = Array.from({ length: 1_000 }, (_, index) => call(`c${index}`, "look"));
    // Mapped to every call, it would be longer than a string can be.
    const context = { page: "x".repeat(1024 * 1024) };
    const refused = await dispatch({ tools: mapped }, { calls, context, tools: look(), runId: undefined });
    expect(refused.error?.message).toMatch(/^1000 tools were called/);
  });

  it("may be any that holds a secret", async () => {
    const tool = look();
    const secrets = ["hunter22"];
    const given = {
      calls: [
        call("a", "city", { city: "hunter22" }),
        // Not mapped, but part of the call, which every handler workflow is given.
        call("b", "city", { city: "Bari", note: "hunter22" }),
        call("c", "city", { city: "Oslo" }),
      ],
      tools: tool,
      secrets,
    };
    const done = await dispatch({ tools: { city }, on_error: "ignore" }, given);
    expect(oks(done)).toEqual([false, false, true]);
    expect(JSON.stringify(done.messages)).not.toContain("hunter22");
    expect(tool.calls).toHaveLength(1);
  });
});

describe("a handler that fails", () => {
  it("stops what comes later under fail_fast, and undoes nothing of other calls", async () => {
    const book = write("book", [{ id: 1 }, new ToolError("sold out", { outcome: "refused" }), { id: 3 }]);
    const free = write("free");
    const booking = flow([{ id: "book", tool: "book", compensate: { tool: "free" } }], { name: "booking" });
    const done = await dispatch(
      { tools: { booking: { flow: booking } } },
      { calls: [call("a", "booking", {}), call("b", "booking", {}), call("c", "booking", {})], tools: [book, free] },
    );
    expect(done.status).toBe("failed");
    expect(statusOf(done)).toEqual([
      ["a", "ok"],
      ["b", "book: sold out"],
      ["c", expect.stringContaining("NOT_RUN")],
    ]);
    expect(done.error?.message).toBe("book: sold out");
    expect(done.error?.toJSON()).toMatchObject({ details: { entries: done.entries }, cause: { code: "TOOL_REFUSED" } });
    expect(done.context).toMatchObject({ tool_results_count: 3, tool_results_errors: 2 });
    expect([book.calls.length, free.calls.length]).toEqual([2, 0]);
  });

  it("lets the rest run under ignore, and undoes what it did itself", async () => {
    const book = write("book");
    const free = write("free");
    const pay = read("pay", [new Error("no funds"), "paid"]);
    const trip = flow([
      { id: "book", tool: "book", compensate: { tool: "free", inputs: { id: "{{steps.book.result.id}}" } } },
      { id: "pay", tool: "pay" },
    ]);
    const done = await dispatch(
      { tools: { trip: { flow: trip } }, on_error: "ignore" },
      { calls: [call("a", "trip"), call("b", "trip")], tools: [book, free, pay] },
    );
    expect(done.status).toBe("completed");
    expect(done.error).toBeUndefined();
    expect(statusOf(done)).toEqual([
      ["a", "pay: no funds"],
      ["b", "ok"],
    ]);
    expect(free.calls.map(({ inputs }) => inputs)).toEqual([{ id: 7 }]);
  });

  it("awaits those in flight, and keeps what they came to", async () => {
    const gate = deferred();
    const slow = read("slow", [() => gate.promise]);
    const bad = read("bad", [new Error("broken")]);
    const pending = dispatch(
      { tools: { slow: { tool: "slow" }, bad: { tool: "bad" } }, max_concurrent: 2 },
      { calls: [call("a", "slow"), call("b", "bad"), call("c", "bad")], tools: [slow, bad] },
    );
    await settled();
    gate.resolve("late");
    const done = await pending;
    expect(statusOf(done)).toEqual([
      ["a", "ok"],
      ["b", "bad: broken"],
      ["c", expect.stringContaining("NOT_RUN")],
    ]);
    expect(done.entries[0]?.result).toBe("late");
    expect(bad.calls).toHaveLength(1);
  });

  it("has its result from its context, the reason beside it", async () => {
    const steps = [
      { id: "tool_result_text", tool: "look" },
      { id: "pay", tool: "pay" },
    ];
    const done = await dispatch(
      { tools: { trip: { flow: flow(steps) } } },
      { calls: [call("a", "trip")], tools: [read("look", ["so far"]), read("pay", [new Error("no")])] },
    );
    expect(done.entries[0]).toMatchObject({ success: false, result: "so far", content: "so far", error: "pay: no" });
    expect(done.messages[0]?.content).toBe("so far");
  });

  it.each<[string, unknown, string]>([
    ["a text that was thrown", "plain", "say: plain"],
    ["a returned error", () => new Error("over quota"), "say: over quota"],
    [
      "an outcome that nobody knows",
      new ToolError("cut off", { outcome: "in_doubt" }),
      "say: cut off (it may have been done)",
    ],
    ["no JSON", () => ({ big: 1n }), "say: The value at /big is not JSON"],
  ])("tells %s", async (_name, entry, text) => {
    const thrown = () => {
      throw entry;
    };
    const script = [typeof entry === "function" ? (entry as () => unknown) : thrown];
    const done = await dispatch(
      { tools: { say: { tool: "say" } } },
      { calls: [call("a", "say")], tools: write("say", script), inDoubt: "fail" },
    );
    expect(done.entries[0]?.error).toContain(text);
  });

  it("leaves out what recovered, and cuts what is long", async () => {
    const steps = [
      { id: "first", tool: "bad", fallback: { tool: "good" } },
      { id: "last", tool: "long" },
    ];
    const tools = [
      read("bad", [new Error("never told")]),
      read("good"),
      read("long", [new Error(`${"🙂".repeat(900)} is all`)]),
    ];
    const done = await dispatch({ tools: { h: { flow: flow(steps) } } }, { calls: [call("a", "h")], tools });
    const error = done.entries[0]?.error ?? "";
    expect(error).not.toContain("never told");
    expect(error.startsWith("last: 🙂")).toBe(true);
    expect(error.length).toBeLessThanOrEqual(2_000);
    expect(error).not.toMatch(/\p{Surrogate}/u);
  });

  it("names five reasons at most: its own, then what could not be undone", async () => {
    const steps = [1, 2, 3, 4, 5, 6].map((n) => ({ id: `s${n}`, tool: "book", compensate: { tool: "free" } }));
    const tools = [
      write("book"),
      write("free", [new ToolError("locked", { outcome: "refused" })]),
      read("bad", [new Error("stop")]),
    ];
    const handler = flow([...steps, { id: "bad", tool: "bad" }]);
    const done = await dispatch({ tools: { h: { flow: handler } } }, { calls: [call("a", "h")], tools });
    expect(done.entries[0]?.error).toBe("bad: stop; s6: locked; s5: locked; s4: locked; s3: locked; and 2 more");
  });

  it("shows no secret of its tools", async () => {
    const tools = read("bad", [new Error("key hunter22 was refused")]);
    const done = await dispatch(
      { tools: { bad: { tool: "bad" } } },
      { calls: [call("a", "bad")], tools, secrets: ["hunter22"] },
    );
    expect(JSON.stringify(done)).not.toContain("hunter22");
    expect(done.entries[0]?.error).toContain("was refused");
  });
});
