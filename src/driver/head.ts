import { isActive, nextTimer } from "../core/clock.js";
import { isoTime } from "../core/event.js";
import type { JournalRecord } from "../core/record.js";
import type { Node, RunState } from "../core/state.js";
import type { RunHead, RunStatus } from "../ports/run-store.js";

/**
 * The head that goes with an append.
 *
 * @param begun records of the append that are applied only once it is durable, with their nodes.
 */
export function headOf(state: RunState, begun: readonly { node: Node; record: JournalRecord }[] = []): RunHead {
  let openQuestions = state.questions.size;
  let wakeAt = nextTimer(state);
  const asked = new Set<Node>();
  for (const { node, record } of begun) {
    if (record.kind === "question_expired") openQuestions--;
    if (record.kind !== "question_asked") continue;
    openQuestions++;
    asked.add(node);
    if (record.expiresAfterMs === undefined) continue;
    wakeAt = Math.min(wakeAt ?? Number.POSITIVE_INFINITY, record.at + record.expiresAfterMs);
  }
  const expires = begun.some(({ record }) => record.kind === "question_expired");
  const waits = openQuestions > 0 && !expires && !isActive(state.root, asked);
  return {
    runId: state.runId,
    workflow: state.root.plan.name,
    status: statusOf(state, waits),
    ...(state.root.failing === undefined ? {} : { phase: "undoing" }),
    openQuestions,
    ...(wakeAt === undefined || state.ended !== undefined ? {} : { wakeAt: isoTime(wakeAt) }),
    createdAt: isoTime(state.createdAt),
    updatedAt: isoTime(state.updatedAt),
  };
}

function statusOf(state: RunState, waits: boolean): RunStatus {
  return state.ended?.status ?? (waits ? "waiting" : "running");
}
