import type { JsonSchema, Schema } from "../core/schema.js";
import type { Tool, ToolCallContext } from "../ports/tool-adapter.js";
import { defineTool, type ToolInputs, type ToolOptions } from "../tools/define-tool.js";

/** The fields of `ToolInfo`, and what the system behind the tool does. */
export interface FakeToolOptions<S extends Schema> extends ToolOptions<S> {
  /**
   * What the system does when the call arrives, at once: a promise is refused. It works on a `fakeState` alone, and what
   * throws has changed nothing. Whether a call arrives at all, and its reply too, is for the simulation to choose.
   */
  execute(inputs: ToolInputs<S>, context: ToolCallContext): unknown;
}

/** A tool made by `fakeTool`: the one kind that `simulate` takes. */
export type FakeTool = Tool & { readonly [fake]: true };

const fake: unique symbol = Symbol("fake tool");

export function isFakeTool(tool: Tool): tool is FakeTool {
  return fake in tool;
}

/**
 * A tool whose system is a function, for `simulate`; elsewhere it is a tool as any other. Model what the real system
 * does, not what it ought to do: one that ignores the idempotency key is a fake that does not look at
 * `context.idempotencyKey`.
 *
 * @throws ToolweaveError what `defineTool` throws
 */
export function fakeTool<S extends Schema = JsonSchema>(options: FakeToolOptions<S>): FakeTool {
  return Object.freeze({ ...defineTool(options), [fake]: true as const });
}
