import { microseconds } from "./timing.mjs";

const milliseconds = async (work) => (await microseconds(1, work)) / 1_000;

/** Milliseconds for defining and checking a workflow of so many steps. */
export async function toolweave(steps) {
  const { checkWorkflow, defineWorkflow } = await import("../dist/index.js");
  const { chain, read } = await import("./chain.mjs");
  const text = JSON.stringify(chain("read", steps));
  const document = JSON.parse(text);
  return milliseconds(async () => {
    const { problems } = await checkWorkflow(defineWorkflow(document), { tools: read });
    if (problems.length > 0) throw new Error("The workflow has no problem.");
  });
}

/** Validates alone, against the schemas of the tool. */
export async function mastraValidate(steps) {
  const { validateDynamicWorkflow } = await import("@mastra/core/workflows");
  const { definition, numberSchema } = await import("./mastra.mjs");
  const given = definition(steps);
  const index = { tools: { read: { inputSchema: numberSchema, outputSchema: numberSchema } } };
  return milliseconds(() => {
    if (validateDynamicWorkflow(given, index).length > 0) throw new Error("The workflow has no issue.");
  });
}

/** Validates, and makes ready to run. */
export async function mastraAdd(steps) {
  const { definition, mastraWithTool } = await import("./mastra.mjs");
  const host = mastraWithTool();
  const given = definition(steps);
  return milliseconds(async () => {
    await host.addDynamicWorkflow(given);
    host.removeWorkflow(given.id);
  });
}
