import type { RunFunction } from "./document.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Call, Flow, Node, Step } from "./node.js";
import type { Fact } from "./record.js";

/** What the run wants from the world. An effect is named by its node's path; what comes of it settles as a fact. */
export type Effect = CallTool | RunCode | CheckInput | ReadCalls | Commit;

/** Call a tool; where it is a write, ask for it first, unless `approved`. */
export interface CallTool {
  readonly kind: "call_tool";
  readonly node: Call;
  readonly tool: string;
  readonly inputs: JsonObject;
  readonly attempt: number;
}

export interface RunCode {
  readonly kind: "run_code";
  readonly node: Call;
  readonly run: RunFunction;
  readonly attempt: number;
}

/** Check a child workflow's input with a schema that is code. */
export interface CheckInput {
  readonly kind: "check_input";
  readonly node: Flow;
  readonly input: JsonObject;
}

/** Read a model's tool calls from whatever shape they have. */
export interface ReadCalls {
  readonly kind: "read_calls";
  readonly node: Step;
  readonly raw: JsonValue;
  /** The context that mappings read. */
  readonly context: JsonObject;
}

/** A fact that begins something: it is appended when the consumer asks for more, before it is applied, and never twice. */
export interface Commit {
  readonly kind: "commit";
  readonly node: Node;
  readonly fact: Fact;
}

export function commit(node: Node, fact: Fact): Commit {
  return { kind: "commit", node, fact };
}
