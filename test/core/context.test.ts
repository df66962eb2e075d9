import { describe, expect, it } from "vitest";
import { contextOf, scopeOf, scopeWithOwn } from "../../src/core/context.js";
import { defineWorkflow, planOf } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import { newRoot } from "../../src/core/new-node.js";

function flowWith(steps: readonly StepDocument[], input: JsonObject | undefined, results: Record<string, JsonValue>) {
  const flow = newRoot(planOf(defineWorkflow({ name: "w", steps })));
  flow.input = input;
  for (const [id, result] of Object.entries(results)) flow.results.set(id, { result });
  return flow;
}

const tool = (id: string, more: Partial<StepDocument> = {}): StepDocument => ({ id, tool: "t", ...more });

describe("the context of a run", () => {
  it("is the input's fields, then each completed step's result under its key, then the output's fields", () => {
    const steps = [tool("a"), tool("b", { output_key: "_bee" }), tool("skipped")];
    const flow = flowWith(steps, { x: 1, a: "input" }, { b: [2], a: { deep: true } });
    expect(contextOf(flow)).toEqual({ x: 1, a: { deep: true }, _bee: [2] });
    expect(contextOf(flow, { x: "output", y: 3 })).toEqual({ x: "output", a: { deep: true }, _bee: [2], y: 3 });
  });

  it.each<[string, JsonValue | undefined]>([
    ["a text", "said"],
    ["a list", [1]],
    ["null", null],
    ["nothing", undefined],
  ])("has no fields of an output that is %s", (_name, output) => {
    expect(contextOf(flowWith([tool("a")], undefined, {}), output)).toEqual({});
  });

  it("holds steps within a parallel by their keys too", () => {
    const steps = [{ id: "both", parallel: [tool("a", { output_key: "first" }), tool("b")] }];
    const context = contextOf(flowWith(steps, {}, { a: 1, b: 2, both: { a: 1, b: 2 } }));
    expect(context).toEqual({ first: 1, b: 2, both: { a: 1, b: 2 } });
  });

  it("holds the six keys of a dispatch instead of its id, and what stands for it where a fallback did", () => {
    const steps = [{ id: "serve", tool_dispatch: { source_key: "calls", tools: {} } }];
    expect(contextOf(flowWith(steps, {}, { serve: { tool_results_count: 0 } }))).toEqual({ tool_results_count: 0 });
    expect(contextOf(flowWith(steps, {}, { serve: "instead" }))).toEqual({ serve: "instead" });
  });

  it("keeps a field named __proto__ as data", () => {
    const input = JSON.parse('{"__proto__":{"admin":true}}');
    const context = contextOf(flowWith([tool("a")], input, {}));
    expect(Object.keys(context)).toEqual(["__proto__"]);
    expect(context.admin).toBeUndefined();
  });
});

describe("what templates read", () => {
  it("is the input and the steps that are done; a compensation reads its own step too", () => {
    const flow = flowWith([tool("a"), tool("b")], undefined, { a: 1 });
    expect(scopeOf(flow).input).toBeNull();
    expect(scopeOf(flow).step("a")).toEqual({ result: 1 });
    expect(scopeOf(flow).step("b")).toBeUndefined();
    const own = scopeWithOwn(flow, "b", { result: 2 });
    expect([own.input, own.step("a"), own.step("b")]).toEqual([null, { result: 1 }, { result: 2 }]);
    expect(scopeWithOwn(flowWith([tool("a")], { n: 1 }, {}), "a", {}).input).toEqual({ n: 1 });
  });
});
