import type OpenAI from "openai";
import { z } from "zod";
import { bracketed, events, isObjectText, json, pieces, Refusal, type Wire } from "./model-server.js";

export type ResponseItem = OpenAI.Responses.ResponseOutputItem;

const name = z
  .string()
  .max(128)
  .regex(/^[a-zA-Z0-9_-]+$/);
const callId = z.string().min(1).max(64);
const status = z.enum(["in_progress", "completed", "incomplete"]).nullish();
const itemId = (prefix: string) => z.string().startsWith(prefix).optional();
const output = z.union([z.string(), z.array(z.looseObject({ type: z.enum(["input_text", "input_image"]) }))]);

const item = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("message"),
    id: itemId("msg_"),
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    status,
  }),
  z.strictObject({ type: z.literal("reasoning"), id: z.string().startsWith("rs_"), summary: z.array(z.unknown()) }),
  z.strictObject({
    type: z.literal("function_call"),
    id: itemId("fc_"),
    call_id: callId,
    name,
    arguments: z.string().refine(isObjectText, "the JSON of an object"),
    status,
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: callId, output, status }),
  z.strictObject({ type: z.literal("custom_tool_call"), id: itemId("ctc_"), call_id: callId, name, input: z.string() }),
  z.strictObject({ type: z.literal("custom_tool_call_output"), call_id: callId, output }),
]);

const body = z.looseObject({ model: z.string(), input: z.array(item).min(1), stream: z.boolean().optional() });

type Body = z.infer<typeof body>;

/** OpenAI Responses: `POST /responses`, without state on the server. */
export const openaiResponsesWire: Wire<Body, readonly ResponseItem[]> = {
  shape: body,

  misshapen: ({ path, message }) => new Refusal(`Invalid '${bracketed(path)}': ${message}.`, path),

  check({ input }, told) {
    const open = new Map<string, "function call" | "custom tool call">();
    for (const item of input) {
      if (item.type === "function_call" || item.type === "custom_tool_call") {
        if (open.has(item.call_id)) throw new Refusal(`Duplicate call_id ${item.call_id}.`, ["input"]);
        open.set(item.call_id, item.type === "function_call" ? "function call" : "custom tool call");
        const reasoning = item.id === undefined ? undefined : reasoningBefore(item.id, told);
        if (reasoning !== undefined && !input.some((other) => "id" in other && other.id === reasoning)) {
          const needed = `was provided without its required 'reasoning' item: '${reasoning}'.`;
          throw new Refusal(`Item '${item.id}' of type '${item.type}' ${needed}`, ["input"]);
        }
      }
      if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") continue;
      const kind = item.type === "function_call_output" ? "function call" : "custom tool call";
      if (open.get(item.call_id) !== kind) {
        throw new Refusal(`No tool call found for ${kind} output with call_id ${item.call_id}.`, ["input"]);
      }
      open.delete(item.call_id);
    }
    for (const [id, kind] of open) throw new Refusal(`No tool output found for ${kind} ${id}.`, ["input"]);
  },

  refusalBody({ message, place }) {
    return { error: { message, type: "invalid_request_error", param: bracketed(place), code: null } };
  },

  reply(output, { model, stream }) {
    const head = { id: "resp_1", object: "response", created_at: 1_700_000_000, model, error: null };
    const whole = { ...head, status: "completed", incomplete_details: null, output };
    if (stream !== true) return json(whole);
    const started = { type: "response.created", response: { ...head, status: "in_progress", output: [] } };
    const all = [started, ...output.flatMap(itemEvents), { type: "response.completed", response: whole }];
    return events(all.map((event, sequence_number) => ({ ...event, sequence_number })));
  },
};

/** The reasoning that the model had right before it made this item. */
function reasoningBefore(id: string, told: readonly (readonly ResponseItem[])[]): string | undefined {
  const turn = told.find((items) => items.some((item) => item.id === id)) ?? [];
  return turn.find((item) => item.type === "reasoning")?.id;
}

function itemEvents(item: ResponseItem, output_index: number): object[] {
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type !== "function_call") return [{ type: "response.output_item.added", output_index, item }, done];
  const part = { item_id: item.id, output_index };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, arguments: "", status: "in_progress" } },
    ...pieces(item.arguments).map((delta) => ({ type: "response.function_call_arguments.delta", ...part, delta })),
    { type: "response.function_call_arguments.done", ...part, name: item.name, arguments: item.arguments },
    done,
  ];
}
