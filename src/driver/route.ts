import type { JsonLimits, JsonObject } from "../core/json.js";
import type { QuestionAsked, WriteIntended } from "../core/record.js";
import type { CallOutcome } from "../core/settle.js";
import type { Clock } from "../ports/clock.js";
import type { Policy } from "../ports/policy.js";
import type { Scrubber } from "./scrub.js";
import type { ListedTool, ToolList } from "./tool-list.js";

/** What every call of a run's tools goes by. */
export interface Route {
  readonly runId: string;
  readonly workflow: string;
  /** Digest of the run's documents. */
  readonly documents: string;
  readonly policy: Policy | undefined;
  readonly limits: JsonLimits;
  readonly clock: Clock;
  readonly scrub: Scrubber;
  /** The tools as they were listed when driving began. */
  readonly tools: ToolList;
  listAgain(): Promise<ToolList>;
}

/** What preparing a call comes to: a read is sent at once, a write once its intent is durable. */
export type Prepared =
  | { readonly kind: "read"; readonly tool: ListedTool; readonly inputs: JsonObject }
  | { readonly kind: "intent"; readonly tool: ListedTool; readonly fact: WriteIntended }
  | { readonly kind: "ask"; readonly fact: QuestionAsked }
  | { readonly kind: "outcome"; readonly outcome: CallOutcome };

export function outcome(given: CallOutcome): Prepared {
  return { kind: "outcome", outcome: given };
}

export function unpublished(name: string): CallOutcome {
  const message = `Tool ${name} is not published. Publish it, or change the workflow.`;
  return { kind: "failed", outcome: "not_applied", error: { code: "UNKNOWN_TOOL", message } };
}
