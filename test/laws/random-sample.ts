import fc from "fast-check";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument, Workflow } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";
import type { Sample } from "./sample.js";
import type { Behaviour } from "./world.js";

/** A random workflow as a tree: what fast-check shrinks, and what is read when a law fails. */
export type Part =
  | { readonly kind: "read"; readonly b: Behaviour; readonly retries: number }
  | {
      readonly kind: "write";
      readonly tool: "put" | "post";
      readonly b: Behaviour;
      readonly retries: number;
      readonly undo: Behaviour | "none" | "doubt_too";
      readonly fallback: "none" | "ok" | "fail";
    }
  | { readonly kind: "ask" | "sleep" | "rejected" | "skipped" }
  | { readonly kind: "parallel"; readonly parts: readonly Part[] }
  | { readonly kind: "child"; readonly parts: readonly Part[]; readonly retries: number; readonly undo: boolean }
  | {
      readonly kind: "each";
      readonly parts: readonly Part[];
      readonly items: number;
      readonly concurrent: number;
      readonly ignore: boolean;
    }
  | { readonly kind: "repeat"; readonly parts: readonly Part[]; readonly turns: number }
  | {
      readonly kind: "dispatch";
      readonly parts: readonly Part[];
      readonly calls: readonly ("flow" | "tool")[];
      readonly ignore: boolean;
    };

const often = <T>(usual: T, ...rest: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...rest) });

const readBehaviour = often<Behaviour>("ok", "fail", "refuse", "fail_once", "fail_until_2");
const writeBehaviour = often<Behaviour>(
  "ok",
  "fail",
  "refuse",
  "fail_once",
  "fail_until_2",
  "lose_reply",
  "lose_call",
  "unknown",
);
const retries = fc.constantFrom(0, 0, 1, 2);

const leaf: fc.Arbitrary<Part> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), b: readBehaviour, retries }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      tool: fc.constantFrom("put" as const, "post" as const),
      b: writeBehaviour,
      retries,
      undo: often<Behaviour | "none" | "doubt_too">(
        "ok",
        "none",
        "doubt_too",
        "fail",
        "lose_reply",
        "lose_call",
        "fail_once",
      ),
      fallback: often<"none" | "ok" | "fail">("none", "ok", "fail"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("ask" as const, "sleep", "rejected", "skipped") }) },
);

export function part(depth: number): fc.Arbitrary<Part> {
  if (depth === 0) return leaf;
  const inner = fc.array(part(depth - 1), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("parallel" as const),
        parts: fc.array(part(depth - 1), { minLength: 2, maxLength: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("child" as const), parts: inner, retries, undo: fc.boolean() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("each" as const),
        parts: inner,
        items: fc.integer({ min: 0, max: 3 }),
        concurrent: fc.integer({ min: 1, max: 2 }),
        ignore: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("repeat" as const),
        parts: inner,
        turns: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("dispatch" as const),
        parts: inner,
        calls: fc.array(fc.constantFrom("flow" as const, "tool" as const), { maxLength: 3 }),
        ignore: fc.boolean(),
      }),
    },
  );
}

/** The workflow that a tree of parts stands for. */
export function sampleOf(parts: readonly Part[]): Sample {
  const workflows: Workflow[] = [];
  const input: Record<string, JsonObject[]> = {};
  let races = false;

  function define(inner: readonly Part[], output?: JsonObject): string {
    const name = `w${workflows.length}`;
    // Its place is taken before those of its children.
    const place = workflows.length;
    workflows.length++;
    const ids = { next: 0 };
    const steps = inner.map((one) => stepOf(one, ids));
    workflows[place] = defineWorkflow({ name, steps, ...(output === undefined ? {} : { output }) });
    return name;
  }

  function stepOf(one: Part, ids: { next: number }): StepDocument {
    const id = `s${ids.next++}`;
    switch (one.kind) {
      case "read":
        return { id, tool: "look", inputs: { b: possible(one.b, one.retries) }, retries: one.retries };
      case "write":
        return writeOf(id, one);
      case "ask":
        return { id, ask: { prompt: "What?" } };
      case "sleep":
        return { id, sleep_ms: 500 };
      case "rejected":
        return { id, tool: "put", inputs: { no: true } };
      case "skipped":
        return { id, when: { equals: [1, 2] }, tool: "put", inputs: {} };
      case "parallel":
        races = true;
        return { id, parallel: one.parts.map((inner) => stepOf(inner, ids)) };
      case "child": {
        const undo = { compensate: { tool: "erase", inputs: { of: id } } };
        return { id, workflow: define(one.parts), inputs: {}, retries: one.retries, ...(one.undo ? undo : {}) };
      }
      case "each": {
        if (one.concurrent > 1) races = true;
        const items = Array.from({ length: one.items }, (_, index) => index);
        const on_error = one.ignore ? "ignore" : "fail_fast";
        return {
          id,
          for_each: { items, workflow: define(one.parts), inputs: {}, max_concurrent: one.concurrent, on_error },
        };
      }
      case "repeat": {
        const until = { equals: ["{{result.state}}", one.turns] };
        const workflow = define(one.parts, { state: "{{input.iteration}}" });
        return { id, repeat: { workflow, inputs: {}, state: 0, until, max_iterations: 3 } };
      }
      case "dispatch": {
        const key = `calls_${id}`;
        const flow = define(one.parts);
        input[key] = one.calls.map((name, index) => ({ type: "tool_use", id: `${key}_${index}`, name, input: {} }));
        const tools = { flow: { flow }, tool: { tool: "put" } };
        return { id, tool_dispatch: { source_key: key, tools, on_error: one.ignore ? "ignore" : "fail_fast" } };
      }
      default:
        return one satisfies never;
    }
  }

  define(parts);
  const [workflow, ...rest] = workflows;
  if (workflow === undefined) throw new Error("There is no workflow.");
  return { name: "random", workflow, workflows: rest, input, races };
}

function writeOf(id: string, one: Extract<Part, { kind: "write" }>): StepDocument {
  const undoTool = one.tool === "put" ? "erase" : "revoke";
  const undo = one.undo === "doubt_too" ? "ok" : one.undo;
  const compensate = {
    tool: undoTool,
    inputs: { of: "{{input.any?}}", b: undo },
    retries: undo === "fail_once" ? 1 : 0,
    if_in_doubt: one.undo === "doubt_too",
  };
  const fallback = { tool: "post", inputs: { b: one.fallback }, compensate: { tool: "revoke", inputs: {} } };
  return {
    id,
    tool: one.tool,
    inputs: { b: possible(one.b, one.retries) },
    retries: one.retries,
    ...(one.undo === "none" ? {} : { compensate }),
    ...(one.fallback === "none" ? {} : { fallback }),
  };
}

/** What fails once and is not tried again would do so after a crash, where an idempotent tool is called once more. */
function possible(b: Behaviour, retries: number): Behaviour {
  return b === "fail_once" && retries === 0 ? "fail" : b;
}
