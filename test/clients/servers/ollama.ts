import type { Message } from "ollama";
import { z } from "zod";
import { json, Refusal, type Wire } from "./model-server.js";

/** A call as newer servers send it: with an id. */
export type OllamaCall = NonNullable<Message["tool_calls"]>[number] & { readonly id?: string };

/** What the model says. */
export interface OllamaTurn {
  readonly content: string;
  readonly tool_calls?: readonly OllamaCall[];
  readonly done_reason?: string;
}

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "user"]), content: z.string() }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    thinking: z.string().optional(),
    tool_calls: z
      .array(
        z.strictObject({
          id: z.string().optional(),
          function: z.strictObject({
            index: z.number().optional(),
            name: z.string().min(1),
            arguments: z.record(z.string(), z.unknown()),
          }),
        }),
      )
      .min(1)
      .optional(),
  }),
  z.strictObject({
    role: z.literal("tool"),
    content: z.string(),
    tool_name: z.string().min(1),
    tool_call_id: z.string().optional(),
  }),
]);

const body = z.looseObject({ model: z.string(), messages: z.array(message).min(1), stream: z.boolean().optional() });

type Body = z.infer<typeof body>;

/**
 * Ollama: `POST /api/chat`. The server itself checks shapes only, and a template of a model may then drop or misplace
 * what is out of order; so this one wants each call answered right behind it, in order, by its name and id.
 */
export const ollamaWire: Wire<Body, OllamaTurn> = {
  shape: body,

  misshapen: ({ path, message }) =>
    new Refusal(`json: cannot unmarshal into Go struct field ChatRequest.${path.join(".")}: ${message}`),

  check({ messages }) {
    let open: readonly { readonly id?: string | undefined; readonly function: { readonly name: string } }[] = [];
    for (const message of messages) {
      if (message.role === "tool") {
        const [call, ...rest] = open;
        if (call === undefined) throw new Refusal(`tool ${message.tool_name} was not called`);
        if (call.function.name !== message.tool_name || call.id !== message.tool_call_id) {
          throw new Refusal(`the result of ${message.tool_name} stands where ${call.function.name} is to be answered`);
        }
        open = rest;
        continue;
      }
      if (open.length > 0) throw new Refusal(`${open.length} calls are not answered`);
      open = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    }
    if (open.length > 0) throw new Refusal(`${open.length} calls are not answered`);
  },

  refusalBody: ({ message }) => ({ error: message }),

  reply({ content, tool_calls, done_reason = "stop" }, { model, stream }) {
    const head = { model, created_at: "2025-01-01T00:00:00Z" };
    const end = { done: true, done_reason };
    const calls = tool_calls === undefined ? {} : { tool_calls };
    if (stream !== true) return json({ ...head, message: { role: "assistant", content, ...calls }, ...end });
    const said = [
      { role: "assistant", content },
      ...(tool_calls ?? []).map((call) => ({ role: "assistant", content: "", tool_calls: [call] })),
    ];
    const lines = [
      ...said.map((message) => ({ ...head, message, done: false })),
      { ...head, message: { role: "assistant", content: "" }, ...end },
    ];
    return { type: "application/x-ndjson", text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") };
  },
};
