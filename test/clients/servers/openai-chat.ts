import type OpenAI from "openai";
import { z } from "zod";
import { bracketed, events, isObjectText, json, pieces, Refusal, type Wire } from "./model-server.js";

type Message = OpenAI.Chat.ChatCompletionMessage;

/** What the model says. */
export interface ChatTurn {
  readonly message: Pick<Message, "content"> & Partial<Message>;
  readonly finish_reason?: OpenAI.Chat.ChatCompletion.Choice["finish_reason"];
}

const name = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);
const id = z.string().min(1).max(40);
const calledFunction = z.strictObject({ name, arguments: z.string().refine(isObjectText, "the JSON of an object") });
const text = z.union([z.string(), z.array(z.strictObject({ type: z.literal("text"), text: z.string() })).min(1)]);

const toolCall = z.discriminatedUnion("type", [
  z.strictObject({ id, type: z.literal("function"), function: calledFunction }),
  z.strictObject({ id, type: z.literal("custom"), custom: z.strictObject({ name, input: z.string() }) }),
]);

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "developer", "user"]), content: text }),
  z.strictObject({
    role: z.literal("assistant"),
    content: text.nullish(),
    refusal: z.string().nullish(),
    annotations: z.array(z.unknown()).optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
    function_call: calledFunction.nullish(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: id, content: text }),
  z.strictObject({ role: z.literal("function"), name, content: z.string().nullable() }),
]);

const body = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
});

type Body = z.infer<typeof body>;

/** OpenAI chat completions: `POST /chat/completions`. */
export const openaiChatWire: Wire<Body, ChatTurn> = {
  shape: body,

  misshapen: ({ path, message }) => new Refusal(`Invalid '${bracketed(path)}': ${message}.`, path),

  check({ messages }) {
    // The ids, or of the older kind the names, that the next messages have to answer.
    let open: string[] = [];
    let role = "tool";
    messages.forEach((message, index) => {
      const place = ["messages", index, "role"];
      if (message.role === "tool" || message.role === "function") {
        const answered = message.role === "tool" ? message.tool_call_id : message.name;
        if (message.role !== role || !open.includes(answered)) {
          throw new Refusal(
            `Invalid parameter: messages with role '${message.role}' must be a response to a preceding message with calls.`,
            place,
          );
        }
        open = open.filter((id) => id !== answered);
        return;
      }
      if (open.length > 0) throw unanswered(open, place);
      if (message.role !== "assistant") return;
      if (message.content == null && message.tool_calls === undefined && message.function_call == null) {
        throw new Refusal("Invalid value for 'content': expected a string, got null.", ["messages", index, "content"]);
      }
      role = message.tool_calls === undefined ? "function" : "tool";
      open = message.tool_calls?.map(({ id }) => id) ?? (message.function_call ? [message.function_call.name] : []);
      if (new Set(open).size < open.length) throw new Refusal("Duplicate value for 'tool_call_id'.", place);
    });
    if (open.length > 0) throw unanswered(open, ["messages", messages.length, "role"]);
  },

  refusalBody({ message, place }) {
    const type = "invalid_request_error";
    return { error: { message, type, param: bracketed(place), code: null } };
  },

  reply({ message, finish_reason = message.tool_calls ? "tool_calls" : "stop" }, { model, stream }) {
    const head = { id: "chatcmpl-1", created: 1_700_000_000, model };
    if (stream !== true) {
      const whole = { role: "assistant", refusal: null, ...message };
      const choices = [{ index: 0, message: whole, logprobs: null, finish_reason }];
      return json({ ...head, object: "chat.completion", choices });
    }
    const deltas = [{ role: "assistant", content: message.content }, ...(message.tool_calls ?? []).flatMap(callDeltas)];
    const choices = [
      ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
      { index: 0, delta: {}, finish_reason },
    ];
    const chunks = choices.map((choice) => ({ ...head, object: "chat.completion.chunk", choices: [choice] }));
    return events([...chunks, "[DONE]"]);
  },
};

function unanswered(ids: readonly string[], place: readonly PropertyKey[]): Refusal {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  return new Refusal(`${rule} The following tool_call_ids did not have response messages: ${ids.join(", ")}`, place);
}

function callDeltas(call: OpenAI.Chat.ChatCompletionMessageToolCall, index: number): object[] {
  if (call.type !== "function") throw new Error("Custom calls are not streamed here.");
  const { id, type, function: called } = call;
  const first = { index, id, type, function: { name: called.name, arguments: "" } };
  return [first, ...pieces(called.arguments).map((piece) => ({ index, function: { arguments: piece } }))].map(
    (piece) => ({ tool_calls: [piece] }),
  );
}
