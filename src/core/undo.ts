import { startClock } from "./clock.js";
import type { ErrorData } from "./errors.js";
import { emit } from "./event.js";
import { newUndo } from "./new-node.js";
import type { Failing, Scope } from "./node.js";
import { queue } from "./queue.js";
import type { RunState } from "./state.js";
import { attach } from "./tree.js";
import type { UndoEntry, UndoReason, WriteState } from "./write-entry.js";

/**
 * A scope's undo:
 * 1. It begins once nothing below the scope is in flight.
 * 2. Newest first, by the seq of the outcomes, one at a time, each once.
 * 3. One that fails, or can't be tried, is reported; the others still run.
 */
export function beginUndo(state: RunState, scope: Scope, failing: Failing): void {
  failing.undoing = true;
  scope.undo.sort((a, b) => a.seq - b.seq);
  for (const entry of scope.undo) if (entry.plan === undefined) leaveDone(scope, entry);
  nextUndo(state, scope);
}

/** Starts the newest undo that is left. A scope with none left is asked what follows. */
export function nextUndo(state: RunState, scope: Scope): void {
  for (let entry = scope.undo.pop(); entry !== undefined; entry = scope.undo.pop()) {
    const { plan, undo, path, stepId } = entry;
    if (plan === undefined || undo === undefined) continue;
    if ("error" in undo) {
      undoFailed(state, scope, entry, "undo_failed", "unresolved", undo.error);
      emit(state, { stepId, path: `${path}~undo`, attempt: 1 }, "undo_failed", { error: undo.error });
      continue;
    }
    const call = newUndo(scope, entry, plan, undo.inputs);
    call.clock = startClock(state, call, plan.timeoutMs);
    scope.undoCall = call;
    attach(state, call);
    return queue(state, call);
  }
  queue(state, scope);
}

/** Says of the writes of an entry what its undo came to. */
export function markUndo(entry: UndoEntry, state: WriteState, reason?: UndoReason): void {
  for (const write of entry.writes) {
    write.state = state;
    if (reason === undefined) delete write.reason;
    else write.reason = reason;
  }
}

export function undoFailed(
  state: RunState,
  scope: Scope,
  entry: UndoEntry,
  outcome: "undo_failed" | "undo_in_doubt",
  reason: UndoReason,
  error: ErrorData,
): void {
  markUndo(entry, outcome, reason);
  scope.residue = true;
  state.undoErrors.push({ ...error, stepId: entry.stepId, path: `${entry.path}~undo` });
}

function leaveDone(scope: Scope, entry: UndoEntry): void {
  scope.residue = true;
  for (const write of entry.writes) write.reason = "no_compensation";
}
