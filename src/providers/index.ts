export type { DispatchEntry } from "../core/dispatch.js";
export type { NormalizedCall } from "../core/tool-call.js";
export { type AssistantMessage, type ToolMessages, toAssistantMessage, toToolMessages } from "./answer.js";
export type { ProviderName } from "./list.js";
export { normalizeToolCalls } from "./normalize.js";
