import { isActive, nextTimer } from "../core/clock.js";
import { isoTime } from "../core/event.js";
import type { Node } from "../core/node.js";
import type { JournalRecord } from "../core/record.js";
import type { RunState } from "../core/state.js";
import type { RunHead } from "../ports/run-store.js";

/**
 * The head that goes with an append.
 *
 * @param coming records of the append that are applied only once they are durable.
 */
export function headOf(state: RunState, coming: readonly JournalRecord[] = []): RunHead {
  const ahead = lookAhead(state, coming);
  const openQuestions = state.questions.size + ahead.questions;
  const waits = openQuestions > 0 && !ahead.goesOn && !isActive(state.root, ahead.asked);
  const wakeAt = state.ended === undefined ? earlier(nextTimer(state), ahead.wakeAt) : undefined;
  return {
    runId: state.runId,
    workflow: state.root.plan.name,
    status: state.ended?.status ?? (waits ? "waiting" : "running"),
    ...(state.root.failing === undefined ? {} : { phase: "undoing" }),
    openQuestions,
    ...(wakeAt === undefined ? {} : { wakeAt: isoTime(wakeAt) }),
    createdAt: state.createdAt,
    updatedAt: isoTime(coming[0]?.at ?? state.updatedAt),
  };
}

interface Ahead {
  /** By how many the open questions change. */
  questions: number;
  readonly asked: Set<Node>;
  /** Whether the run has something to do then. */
  goesOn: boolean;
  wakeAt: number | undefined;
}

function lookAhead(state: RunState, coming: readonly JournalRecord[]): Ahead {
  const ahead: Ahead = { questions: 0, asked: new Set(), goesOn: false, wakeAt: undefined };
  for (const record of coming) {
    switch (record.kind) {
      case "question_asked": {
        const node = state.nodes.get(record.path);
        const call = node?.kind === "step" ? node.call : node;
        if (call !== undefined) ahead.asked.add(call);
        ahead.questions++;
        if (record.expiresAfterMs !== undefined)
          ahead.wakeAt = earlier(ahead.wakeAt, record.at + record.expiresAfterMs);
        break;
      }
      case "question_answered":
      case "question_expired":
        ahead.questions--;
        ahead.goesOn = true;
        break;
      case "sleep_started":
        ahead.wakeAt = earlier(ahead.wakeAt, record.at + record.ms);
        ahead.goesOn = true;
        break;
      case "run_taken":
        ahead.goesOn ||= state.intended.size > 0 || (state.cancelRequested && !state.cancelBegun);
        break;
      default:
        ahead.goesOn = true;
    }
  }
  return ahead;
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
