import type Anthropic from "@anthropic-ai/sdk";
import { z } from "zod";
import { events, json, pieces, Refusal, type Wire } from "./model-server.js";

/** What the model says. */
export interface AnthropicTurn {
  readonly content: readonly Anthropic.ContentBlock[];
  readonly stop_reason?: Anthropic.StopReason;
}

const id = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const textBlock = z.strictObject({ type: z.literal("text"), text: z.string().min(1), citations: z.null().optional() });

const block = z.discriminatedUnion("type", [
  textBlock,
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().min(1) }),
  z.strictObject({
    type: z.literal("tool_use"),
    id,
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    input: z.record(z.string(), z.unknown()),
    caller: z.strictObject({ type: z.literal("direct") }).optional(),
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: id,
    content: z.union([z.string(), z.array(textBlock)]).optional(),
    is_error: z.boolean().optional(),
  }),
]);

const message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.union([z.string().min(1), z.array(block).min(1)]),
});

const body = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
});

type Body = z.infer<typeof body>;
type Block = z.infer<typeof block>;

/** Anthropic Messages: `POST /v1/messages`. */
export const anthropicWire: Wire<Body, AnthropicTurn> = {
  shape: body,

  misshapen: ({ path, message }) => new Refusal(`${path.join(".")}: ${message}`),

  check({ messages }) {
    const seen = new Set<string>();
    let open: readonly string[] = [];
    messages.forEach(({ role, content }, index) => {
      const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
      checkResults(blocks, role, open, index);
      open = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      if (open.length > 0 && role !== "assistant") {
        throw new Refusal(`messages.${index}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      }
      for (const id of open) {
        if (seen.has(id)) throw new Refusal("messages: `tool_use` ids must be unique");
        seen.add(id);
      }
    });
    if (open.length > 0) throw unanswered(open, messages.length - 1);
  },

  refusalBody({ message }) {
    return { type: "error", error: { type: "invalid_request_error", message }, request_id: "req_1" };
  },

  reply({ content, stop_reason = content.some(isCall) ? "tool_use" : "end_turn" }, { model, stream }) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const whole = { id: "msg_1", type: "message", role: "assistant", model, content, stop_reason, usage };
    if (stream !== true) return json({ ...whole, stop_sequence: null });
    return events([
      { type: "message_start", message: { ...whole, content: [], stop_reason: null, stop_sequence: null } },
      ...content.flatMap(blockEvents),
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  },
};

/** What has to be answered are the calls of the message before; the results come first, each once. */
function checkResults(blocks: readonly Block[], role: string, open: readonly string[], index: number): void {
  const answered: string[] = [];
  blocks.forEach((block, position) => {
    if (block.type !== "tool_result") return;
    const place = `messages.${index}.content.${position}`;
    if (role !== "user") throw new Refusal(`${place}: \`tool_result\` blocks can only be in \`user\` messages`);
    if (!open.includes(block.tool_use_id)) {
      const rule = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
      throw new Refusal(
        `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. ${rule}`,
      );
    }
    if (answered.includes(block.tool_use_id)) {
      throw new Refusal(`${place}: each tool_use must have a single result.`);
    }
    if (block.is_error === true && (block.content === undefined || block.content.length === 0)) {
      throw new Refusal(`${place}: content cannot be empty if \`is_error\` is true`);
    }
    answered.push(block.tool_use_id);
  });
  const first = blocks.slice(0, open.length);
  if (answered.length < open.length || first.some((block) => open.length > 0 && block.type !== "tool_result")) {
    throw unanswered(
      open.filter((id) => !answered.includes(id)),
      index - 1,
    );
  }
}

function unanswered(ids: readonly string[], index: number): Refusal {
  const found = `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}.`;
  return new Refusal(
    `${found} Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function isCall({ type }: Anthropic.ContentBlock): boolean {
  return type === "tool_use";
}

function blockEvents(block: Anthropic.ContentBlock, index: number): object[] {
  const delta = (delta: object) => ({ type: "content_block_delta", index, delta });
  const stop = { type: "content_block_stop", index };
  const start = (content_block: object) => ({ type: "content_block_start", index, content_block });
  if (block.type === "tool_use") {
    const deltas = pieces(JSON.stringify(block.input)).map((piece) =>
      delta({ type: "input_json_delta", partial_json: piece }),
    );
    return [start({ ...block, input: {} }), ...deltas, stop];
  }
  if (block.type === "text") {
    const deltas = pieces(block.text).map((text) => delta({ type: "text_delta", text }));
    return [start({ ...block, text: "" }), ...deltas, stop];
  }
  return [start(block), stop];
}
