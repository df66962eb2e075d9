import type { Part } from "@google/genai";
import { z } from "zod";
import { events, json, placesOf, Refusal, type Wire } from "./model-server.js";

/** What the model says. */
export interface GeminiTurn {
  readonly parts: readonly Part[];
  readonly finishReason?: string;
}

const name = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/);
const struct = z.record(z.string(), z.unknown());

const part = z
  .strictObject({
    text: z.string().optional(),
    thought: z.boolean().optional(),
    thoughtSignature: z.base64().optional(),
    functionCall: z.strictObject({ id: z.string().optional(), name, args: struct.optional() }).optional(),
    functionResponse: z.strictObject({ id: z.string().optional(), name, response: struct }).optional(),
  })
  .refine(
    ({ text, functionCall, functionResponse }) =>
      [text, functionCall, functionResponse].filter((data) => data !== undefined).length === 1,
    "required oneof field 'data' must have one initialized field",
  );

const body = z.looseObject({
  contents: z.array(z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(part).min(1) })).min(1),
});

type Body = z.infer<typeof body>;
type Content = Body["contents"][number];

/** Gemini of the third generation, Developer API: `POST /v1beta/models/…:generateContent`. */
export const geminiWire: Wire<Body, GeminiTurn> = {
  shape: body,

  misshapen: ({ path, message }) => new Refusal(`Invalid JSON payload received at '${path.join(".")}': ${message}`),

  check({ contents }) {
    contents.forEach((content, index) => {
      const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? []);
      const responses = content.parts.flatMap(({ functionResponse }) => functionResponse ?? []);
      if (calls.length > 0) checkCalls(content, contents, index);
      if (responses.length > 0) checkResponses(content, contents[index - 1]);
    });
  },

  refusalBody({ message }) {
    return { error: { code: 400, message, status: "INVALID_ARGUMENT" } };
  },

  reply({ parts, finishReason = "STOP" }, _body, path) {
    const chunk = (parts: readonly Part[], end: object) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...end }],
      modelVersion: "gemini-3",
    });
    if (!path.includes(":streamGenerateContent")) return json(chunk(parts, { finishReason }));
    const last = parts.length - 1;
    return events(parts.map((part, index) => chunk([part], index === last ? { finishReason } : {})));
  },
};

function checkCalls({ role, parts }: Content, contents: readonly Content[], index: number): void {
  if (role !== "model") throw new Refusal("Function calls can only be in content with role 'model'.");
  if (contents[index - 1]?.role !== "user") {
    throw new Refusal(
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
  }
  const [first = 0] = placesOf(parts, ({ functionCall }) => functionCall !== undefined);
  const lastQuestion = contents.findLastIndex(({ role, parts }) => role === "user" && parts.some(isText));
  if (index > lastQuestion && parts[first]?.thoughtSignature === undefined) {
    throw new Refusal(
      `Function call is missing a thought_signature in functionCall parts. Content ${index}, position ${first + 1}.`,
    );
  }
  const { length } = parts.filter(({ functionCall }) => functionCall !== undefined);
  const answers = contents[index + 1]?.parts.filter(({ functionResponse }) => functionResponse !== undefined) ?? [];
  if (answers.length !== length) {
    throw new Refusal(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  }
}

function checkResponses({ role, parts }: Content, before: Content | undefined): void {
  if (role !== "user" || parts.some(isText)) {
    throw new Refusal("Function responses can only be in content with role 'user', and without other parts.");
  }
  const calls = before?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
  if (calls.length === 0) {
    throw new Refusal("Please ensure that function response turn comes immediately after a function call turn.");
  }
  parts.forEach(({ functionResponse }, index) => {
    const call = calls[index];
    if (call !== undefined && (call.name !== functionResponse?.name || call.id !== functionResponse.id)) {
      throw new Refusal(`Function response ${index} does not have the name and the id of its function call.`);
    }
  });
}

function isText({ text }: Content["parts"][number]): boolean {
  return text !== undefined;
}
