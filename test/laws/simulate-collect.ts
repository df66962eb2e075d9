/** What the examples import instead of `toolweave`: the same, and what they run is noted. */
import { defineWorkflow } from "../../src/core/define.js";
import type { DispatchConfig, Workflow } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";
import { toolDispatch as dispatch, type ToolDispatchOptions } from "../../src/driver/dispatch.js";
import type { RunOptions } from "../../src/driver/options.js";
import { runWorkflow as run, runToEnd as runToItsEnd } from "../../src/driver/run.js";
import type { Tool, ToolAdapter, ToolCallContext, Tools } from "../../src/ports/tool-adapter.js";

export * from "../../src/index.js";

/** What the calls of a tool came to, by their inputs. One that failed and was then done is done. */
export interface Outcomes {
  readonly results: Map<string, unknown>;
  readonly errors: Map<string, unknown>;
}

export interface Collected {
  readonly workflow: Workflow;
  readonly input: unknown;
  readonly workflows: Workflow | readonly Workflow[];
  /** By name, the tools that were given. */
  readonly tools: ReadonlyMap<string, Outcomes & { readonly tool: Tool }>;
}

export const collected: Collected[] = [];

export function runWorkflow<Input>(workflow: Workflow<Input>, options: RunOptions<NoInfer<Input>>) {
  return run(workflow, { ...options, tools: note(workflow, options, options.input) });
}

export function runToEnd<Input>(workflow: Workflow<Input>, options: RunOptions<NoInfer<Input>>) {
  return runToItsEnd(workflow, { ...options, tools: note(workflow, options, options.input) });
}

/** A dispatch by itself is noted as a workflow of one step. */
export function toolDispatch(config: DispatchConfig, options: ToolDispatchOptions) {
  const source_key = config.source_key ?? "calls";
  const workflow = defineWorkflow({
    name: "dispatch",
    steps: [{ id: "turn", tool_dispatch: { ...config, source_key } }],
  });
  const { context = {}, calls } = options;
  const input = { ...Object(context), ...(calls === undefined ? {} : { [source_key]: calls }) };
  return dispatch(config, { ...options, tools: note(workflow, options, input) });
}

function note(
  workflow: Workflow,
  { tools: given, workflows = [] }: { tools: Tools; workflows?: Workflow | readonly Workflow[] },
  input: unknown,
): Tools {
  const tools = new Map<string, Outcomes & { tool: Tool }>();
  const list: readonly (Tool | ToolAdapter)[] = [given].flat();
  collected.push({ workflow, input, workflows, tools });
  return list.map((tool) => {
    if (!("execute" in tool)) return tool;
    const results = new Map<string, unknown>();
    const errors = new Map<string, unknown>();
    tools.set(tool.name, { tool, results, errors });
    return {
      ...tool,
      async execute(inputs: JsonObject, context: ToolCallContext) {
        const key = JSON.stringify(inputs);
        try {
          const result = await tool.execute(inputs, context);
          results.set(key, result);
          return result;
        } catch (error) {
          errors.set(key, error);
          throw error;
        }
      },
    };
  });
}
