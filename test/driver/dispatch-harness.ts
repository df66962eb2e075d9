import type { DispatchConfig } from "../../src/core/document.js";
import { answerQuestion } from "../../src/driver/answer.js";
import { type ToolDispatchOptions, type ToolDispatchResult, toolDispatch } from "../../src/driver/dispatch.js";
import { memoryStore } from "../../src/stores/memory.js";
import { flow, options } from "./harness.js";

/** A call as OpenAI's chat completions have it; arguments that are text are sent as they are. */
export function call(id: string, name: string, given: unknown = {}) {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { id, type: "function", function: { name, arguments: text } };
}

export function dispatch(config: DispatchConfig, given: Partial<ToolDispatchOptions>) {
  return toolDispatch(config, options(given));
}

/** A handler that calls the tool `look`. */
export const city = {
  flow: flow([{ id: "look", tool: "look", inputs: { place: "{{input.city}}" } }], {
    name: "city",
    input_schema: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    output: "{{steps.look.result}}",
  }),
  input: { city: "arguments.city" },
};

/** A dispatch that is carried on: each `next` is the same call again, as another process would make it. */
export function carried(config: DispatchConfig, given: Partial<ToolDispatchOptions>) {
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

/** A call during which somebody aborts. */
export function aborting(controller: AbortController, result: unknown) {
  return () => {
    controller.abort();
    return result;
  };
}

export const unending = new Promise(() => {});

export const approve = { decision: "approve", by: "ada" };

/** Whether each call succeeded. */
export function oks({ entries }: ToolDispatchResult) {
  return entries.map(({ success }) => success);
}

/** Each call's id with its error, or `"ok"`. */
export function statusOf({ entries }: ToolDispatchResult) {
  return entries.map(({ id, error }) => [id, error ?? "ok"]);
}
