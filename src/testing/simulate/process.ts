import type { JsonObject } from "../../core/json.js";
import type { Answer, Question } from "../../core/question.js";
import type { RunResult } from "../../core/result.js";
import type { RunStream } from "../../driver/stream.js";
import type { ToolCallContext } from "../../ports/tool-adapter.js";
import type { FakeTool } from "../fake-tool.js";

/** One process that drives the run. What it does when it is dead comes to nothing, and nothing comes back to it. */
export interface Process {
  readonly index: number;
  isDead: boolean;
  /** Whether the store no longer tells it what others append. */
  isDeaf: boolean;
  /** Whether the store was out of reach for it. */
  isCutOff: boolean;
  hasLeft: boolean;
  /** The questions that its host has answered. */
  readonly given: Set<string>;
  stream: RunStream | undefined;
  end: End | undefined;
}

/** How a stream ended; without a result where its host left it. */
export type End = { readonly result: RunResult | undefined } | { readonly error: unknown };

export function newProcess(index: number): Process {
  return {
    index,
    isDead: false,
    isDeaf: false,
    isCutOff: false,
    hasLeft: false,
    given: new Set(),
    stream: undefined,
    end: undefined,
  };
}

/** A call that is on its way. */
export interface Flight {
  readonly kind: "call";
  readonly process: Process;
  readonly place: string;
  readonly tool: FakeTool;
  readonly inputs: JsonObject;
  readonly context: ToolCallContext;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** A question that a host is asked. */
export interface Asked {
  readonly kind: "question";
  readonly process: Process;
  readonly place: string;
  readonly question: Question;
  /** `undefined` leaves it for later. */
  resolve(answer: Answer | undefined): void;
}

export type Pending = Flight | Asked;

/** A promise that never settles. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
