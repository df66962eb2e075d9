import type { JsonObject } from "../core/json.js";
import type { Schema } from "../core/schema.js";

/** A tool as it is published: what a workflow may call, and what people are shown of it. */
export interface ToolInfo {
  /** Unique among all tools of a run. */
  name: string;
  /** For people; never part of what an approval is bound to. */
  title?: string;
  description?: string;
  /** JSON Schema (2020-12) or any Standard Schema. Without one, any object will do. */
  inputSchema?: Schema;
  /** When given, an approval is bound to it instead of to the schema. */
  version?: string;
  /** @default "write", the safe reading */
  effect?: "read" | "write";
  /** Whether the same idempotency key makes the same effect once. @default false */
  idempotent?: boolean;
  /** The site or system that the tool works on. */
  site?: string;
  /** How the call looks to a person. It can't change or hide an input; one that throws is left out. */
  preview?(inputs: JsonObject): ToolPreview;
}

export interface ToolPreview {
  /** The page or record that is changed. @default the site */
  page?: string;
  /** What is done there. @default the title, else the name */
  action?: string;
  /** Labels of the fields, by property name. */
  labels?: Readonly<Record<string, string>>;
}

/** What a tool is told of the call that it serves. */
export interface ToolCallContext {
  runId: string;
  stepId: string;
  path: string;
  /** From 1. */
  attempt: number;
  /** `runId:path`: the same on every attempt and after a restart, another for every other call. */
  idempotencyKey: string;
  /**
   * Aborted when the call's result is no longer awaited: a cancel, a time-out, or a driver that leaves. Made when it is
   * first read, so that a call which never looks at it costs nothing: hand on the context itself, or name `signal` in a
   * copy; a spread leaves it out.
   */
  readonly signal: AbortSignal;
}

/** Publishes tools and calls them. What `call` returns is normalized to JSON; what it throws is read by `readFailure`. */
export interface ToolAdapter {
  list(): Promise<readonly ToolInfo[]> | readonly ToolInfo[];
  call(name: string, inputs: JsonObject, context: ToolCallContext): Promise<unknown>;
}

/** One tool, made by `defineTool`: an adapter of itself. */
export interface Tool extends ToolInfo {
  execute(inputs: JsonObject, context: ToolCallContext): Promise<unknown> | unknown;
}

/** Wherever tools are wanted: one tool, one adapter, or an array of both. */
export type Tools = Tool | ToolAdapter | readonly (Tool | ToolAdapter)[];
