/** What the examples import instead of `toolweave`: the same, and what they run is noted. */
import type { Workflow } from "../../src/core/document.js";
import type { JsonObject } from "../../src/core/json.js";
import type { RunOptions } from "../../src/driver/options.js";
import { runWorkflow as run, runToEnd as runToItsEnd } from "../../src/driver/run.js";
import type { Tool, ToolAdapter, ToolCallContext } from "../../src/ports/tool-adapter.js";

export * from "../../src/index.js";

export interface Collected {
  readonly workflow: Workflow;
  readonly options: RunOptions;
  /** By name, the tools that were given, and what each returned, by what it was called with. */
  readonly tools: ReadonlyMap<string, { readonly tool: Tool; readonly results: Map<string, unknown> }>;
}

export const collected: Collected[] = [];

export function runWorkflow<Input>(workflow: Workflow<Input>, options: RunOptions<NoInfer<Input>>) {
  return run(workflow, noting(workflow, options));
}

export function runToEnd<Input>(workflow: Workflow<Input>, options: RunOptions<NoInfer<Input>>) {
  return runToItsEnd(workflow, noting(workflow, options));
}

function noting<Input>(workflow: Workflow<Input>, options: RunOptions<Input>): RunOptions<Input> {
  const tools = new Map<string, { tool: Tool; results: Map<string, unknown> }>();
  const given: readonly (Tool | ToolAdapter)[] = [options.tools].flat();
  const noted = given.map((tool) => {
    if (!("execute" in tool)) return tool;
    const results = new Map<string, unknown>();
    tools.set(tool.name, { tool, results });
    return {
      ...tool,
      async execute(inputs: JsonObject, context: ToolCallContext) {
        const key = JSON.stringify(inputs);
        const result = await tool.execute(inputs, context);
        results.set(key, result);
        return result;
      },
    };
  });
  collected.push({ workflow, options, tools });
  return { ...options, tools: noted };
}
