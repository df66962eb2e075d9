import { maskAt } from "./mask.js";
import type { Call, Step } from "./node.js";
import type { Completed, Failed, WriteIntended } from "./record.js";
import { compensationOf } from "./settle.js";
import type { RunState } from "./state.js";
import { markUndo } from "./undo.js";
import type { WriteState } from "./write-entry.js";

/** What the journal says of writes, as `writes` shows it, and what of them is to be undone if a scope fails. */

/** Says in `writes` what was decided last, whoever decided before. */
export function decideWrite(
  state: RunState,
  call: Call,
  { tool, inputs, masked, decision }: Pick<WriteIntended, "tool" | "inputs" | "masked" | "decision">,
  writeState: WriteState,
): void {
  const { stepId, path } = call;
  const decided = { tool, fields: maskAt(inputs, masked), decidedBy: decision.by, decidedAt: decision.at };
  if (call.write === undefined) {
    call.write = { stepId, path, ...decided, state: writeState };
    state.writesTotal++;
    if (state.writes.length < state.settings.maxWrites) state.writes.push(call.write);
  } else {
    Object.assign(call.write, decided, { state: writeState });
  }
  if (decision.by === undefined) delete call.write.decidedBy;
}

/** The attempt that was intended came to nothing: the write stands as it did before. */
export function notApplied(call: Call): void {
  if (call.purpose === "undo") markUndo(call.entry, call.doubt === undefined ? "done" : "undo_in_doubt");
  else if (call.write !== undefined) call.write.state = call.doubt === undefined ? "failed" : "in_doubt";
}

/** Remembers what a call did, to be undone if a scope above fails. */
export function keepUndo(state: RunState, call: Call, step: Step | undefined, record: Completed | Failed): void {
  const plan = record.undo === undefined ? undefined : compensationOf(call);
  if (call.write === undefined && plan === undefined) return;
  const writes = call.write === undefined ? [] : [call.write];
  const scope = step ?? call.owner;
  scope.undo.push({ seq: state.seq, path: call.path, stepId: call.stepId, plan, undo: record.undo, writes });
}
