// Workflows as data
export type { Check } from "./core/check.js";
export { defineWorkflow } from "./core/define.js";
export { type DispatchEntry, ToolDispatchError, type ToolMessage } from "./core/dispatch.js";
export type {
  DispatchConfig,
  RunContext,
  RunFunction,
  RunScope,
  StepDocument,
  Workflow,
  WorkflowDocument,
} from "./core/document.js";
// Errors
export {
  ConflictError,
  DefinitionError,
  type ErrorCode,
  type ErrorData,
  errorCodes,
  errorFromJson,
  isToolweaveError,
  type Problem,
  ToolError,
  ToolweaveError,
} from "./core/errors.js";
export { formatQuestion } from "./core/format-question.js";
// JSON
export type { JsonArray, JsonObject, JsonValue } from "./core/json.js";
// People
export type {
  Answer,
  ApprovalAnswer,
  ApprovalQuestion,
  DoubtAnswer,
  DoubtQuestion,
  InputAnswer,
  InputQuestion,
  Question,
} from "./core/question.js";
export type { JournalRecord } from "./core/record.js";
export { resolveReference } from "./core/reference.js";
export type { RunResult } from "./core/result.js";
export type { StepEvent, StepStatus } from "./core/run-event.js";
export type { JsonSchema, Schema } from "./core/schema.js";
export { resolveTemplate } from "./core/template.js";
export type { NormalizedCall } from "./core/tool-call.js";
export type { WriteEntry } from "./core/write-entry.js";
// Runs
export { type AnswerOptions, answerQuestion, cancelRun } from "./driver/answer.js";
export { type AuditEntry, auditLog } from "./driver/audit-log.js";
export { checkWorkflow } from "./driver/check-workflow.js";
export { systemClock } from "./driver/clock.js";
export { type ToolDispatchOptions, type ToolDispatchResult, toolDispatch } from "./driver/dispatch.js";
export { type Inspection, type InspectOptions, inspectRun } from "./driver/inspect-run.js";
export { listQuestions, type QuestionFilter } from "./driver/list-questions.js";
export type { RunSelection } from "./driver/list-runs.js";
export { listWrites } from "./driver/list-writes.js";
export type {
  DriveOptions,
  Limits,
  Observer,
  QuestionEvent,
  ResultEvent,
  ResumeOptions,
  RunEvent,
  RunOptions,
} from "./driver/options.js";
export { type ResumeAbandonedOptions, type ResumedRun, resumeAbandoned } from "./driver/resume-abandoned.js";
export { resumeRun, runToEnd, runWorkflow } from "./driver/run.js";
export type { RunStream } from "./driver/stream.js";
export type { Clock } from "./ports/clock.js";
export type { Policy, PolicyDecision, PolicyVerdict, PolicyWrite } from "./ports/policy.js";
export type { RunFilter, RunHead, RunLease, RunStatus, RunStore } from "./ports/run-store.js";
export type { Tool, ToolAdapter, ToolCallContext, ToolInfo, ToolPreview, Tools } from "./ports/tool-adapter.js";
// Tool calls of a model
export {
  type AssistantMessage,
  normalizeToolCalls,
  type ProviderName,
  type ToolMessages,
  toAssistantMessage,
  toToolMessages,
} from "./providers/index.js";
// Stores and time
export { memoryStore } from "./stores/memory.js";
// Tools
export { defineTool } from "./tools/define-tool.js";
