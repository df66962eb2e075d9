import type { JsonObject } from "../core/json.js";
import type { Masked } from "../core/mask.js";
import type { UndoView } from "../core/question.js";

/** A write that is about to be made, as the policy sees it: unmasked. `masked` says what of `fields` people are not shown. */
export interface PolicyWrite extends Masked {
  purpose: "step" | "undo" | "fallback";
  runId: string;
  workflow: string;
  stepId: string;
  path: string;
  tool: string;
  site?: string;
  page?: string;
  action: string;
  /** The inputs that will be sent, each one. */
  fields: JsonObject;
  idempotent: boolean;
  /** What undoes the write; absent where nothing does. */
  undo?: UndoView;
}

export type PolicyDecision = "approve" | "reject" | "ask";

export interface PolicyVerdict {
  decision: PolicyDecision;
  /** Recorded with the decision, and shown when a person is asked. */
  reason?: string;
  /** How long a question stays open, in milliseconds; it then expires, which never approves. @default for ever */
  expiresAfterMs?: number;
}

/** Decides a write before it is made. One that throws, or says something else, asks. @default "ask" */
export type Policy = (write: PolicyWrite) => PolicyDecision | PolicyVerdict | Promise<PolicyDecision | PolicyVerdict>;
