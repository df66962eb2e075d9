import { Mastra } from "@mastra/core";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const number = z.object({ x: z.number() });
export const numberSchema = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };

export function mastraWithTool() {
  const read = createTool({
    id: "read",
    description: "Adds one.",
    inputSchema: number,
    outputSchema: number,
    execute: async ({ x }) => ({ x: x + 1 }),
  });
  return new Mastra({ tools: { read }, logger: false });
}

/** A definition as JSON: each step's tool is given what the step before gave. */
export function definition(steps, id = "chain") {
  const graph = Array.from({ length: steps }, (_, index) => ({ type: "tool", id: `s${index}`, toolId: "read" }));
  return { id, inputSchema: numberSchema, outputSchema: numberSchema, graph };
}
