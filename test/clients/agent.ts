import {
  type DispatchConfig,
  defineTool,
  defineWorkflow,
  memoryStore,
  type NormalizedCall,
  normalizeToolCalls,
  type ToolDispatchOptions,
  type ToolDispatchResult,
  toolDispatch,
} from "toolweave";
import { z } from "zod";

const city = z.object({ city: z.string() });

const getWeather = defineTool({
  name: "get_weather",
  effect: "read",
  inputSchema: city,
  execute: ({ city }) => ({ city, celsius: 4 }),
});

const readTide = defineTool({
  name: "read_tide",
  effect: "read",
  inputSchema: city,
  execute: () => {
    throw new Error("The gauge is out of order.");
  },
});

const bookTable = defineTool({
  name: "book_table",
  effect: "write",
  inputSchema: z.object({ guests: z.number() }),
  execute: ({ guests }) => `A table for ${guests} is booked.`,
});

const tide = defineWorkflow({
  name: "tide",
  steps: [{ id: "read", tool: "read_tide", inputs: { city: "{{input.city}}" } }],
});

/** A good handler, one that always fails, and a write. Anything else is an unknown tool. */
const config: DispatchConfig = {
  tools: {
    get_weather: { tool: "get_weather" },
    get_tide: { flow: tide, input: { city: "arguments.city" } },
    book_table: { tool: "book_table" },
  },
  on_error: "ignore",
};

export interface Answered {
  readonly calls: readonly NormalizedCall[];
  readonly output: ToolDispatchResult;
}

/** Reads the calls of a model's turn and runs their handlers. Writes wait for a person, unless `options` says otherwise. */
export async function answer(turn: unknown, options: Partial<ToolDispatchOptions> = {}): Promise<Answered> {
  const calls = normalizeToolCalls(turn);
  const tools = [getWeather, readTide, bookTable];
  const output = await toolDispatch(config, { calls, tools, store: memoryStore(), ...options });
  return { calls, output };
}

/** Which calls succeeded, by name, in call order. */
export function successes({ output }: Answered): readonly (readonly [string, boolean])[] {
  return output.entries.map(({ name, success }) => [name, success]);
}
