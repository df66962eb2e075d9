// A schema of zod, or of any library that speaks Standard Schema, checks inputs and types them: those of a run, and those
// of a tool.
import { defineTool, defineWorkflow, isToolweaveError, runToEnd } from "toolweave";
import { z } from "zod";

const convert = defineTool({
  name: "convert",
  effect: "read",
  inputSchema: z.strictObject({ amount: z.number(), to: z.enum(["NOK", "SEK"]).default("NOK") }),
  // `amount` is a number here and `to` one of two texts: the schema's default is filled in.
  execute: ({ amount, to }) => ({ amount: amount * (to === "NOK" ? 11.5 : 11.2), currency: to }),
});

const quote = defineWorkflow({
  name: "quote",
  input_schema: z.object({ price: z.number().positive(), customer: z.string().trim().min(1) }),
  steps: [{ id: "convert", tool: "convert", inputs: { amount: "{{input.price}}" } }],
  output: { customer: "{{input.customer}}", quote: "{{steps.convert.result}}" },
});

const { output } = await runToEnd(quote, { tools: convert, input: { price: 20, customer: "  Ada " } });
console.log(JSON.stringify(output));

try {
  // @ts-expect-error the price is text
  await runToEnd(quote, { tools: convert, input: { price: "twenty", customer: "Ada" } });
} catch (error) {
  if (isToolweaveError(error)) console.log(`${error.code}: ${error.message}`);
}
