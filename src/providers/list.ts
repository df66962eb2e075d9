import { aiSdk } from "./ai-sdk.js";
import { anthropic } from "./anthropic.js";
import { bedrock } from "./bedrock.js";
import { cohere, cohereSdk } from "./cohere.js";
import { gemini } from "./gemini.js";
import { langchain } from "./langchain.js";
import { mcp } from "./mcp.js";
import { mistral, mistralSdk } from "./mistral.js";
import { ollama } from "./ollama.js";
import { openaiAgents } from "./openai-agents.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import type { Provider } from "./provider.js";

/** Every wire shape. The first that knows a value reads it, so the most particular come first. */
const providerList = [
  langchain,
  aiSdk,
  anthropic,
  gemini,
  bedrock,
  mcp,
  openaiAgents,
  openaiResponses,
  mistral,
  mistralSdk,
  cohere,
  cohereSdk,
  ollama,
  openaiChat,
] as const;

export type KnownProvider = (typeof providerList)[number];
export type ProviderName = KnownProvider["name"];

export const providers: readonly (Provider & { readonly name: ProviderName })[] = providerList;
