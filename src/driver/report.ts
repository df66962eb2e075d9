import { errorText, ToolweaveError } from "../core/errors.js";
import type { JsonValue } from "../core/json.js";
import type { Reported } from "../core/record.js";
import type { CallOutcome } from "../core/settle.js";
import type { RunStore } from "../ports/run-store.js";
import { appendToRun } from "./append-to-run.js";
import { hasCode } from "./journal.js";
import type { Settings } from "./options.js";

export interface LateWrite {
  readonly path: string;
  readonly attempt: number;
  readonly outcome: CallOutcome;
}

/**
 * A driver that can't go on tells what became of a write that it had in flight: that is a fact, and settles the doubt in
 * which the write is for whoever carries the run on. Where it can't be told either, the write stays in doubt.
 */
export async function reportWrite(
  store: RunStore,
  runId: string,
  { path, attempt, outcome }: LateWrite,
  settings: Pick<Settings, "clock">,
): Promise<void> {
  const told = toldOf(outcome);
  if (told === undefined) return;
  const fact: Reported = { kind: "reported", path, attempt, outcome: told };
  await appendToRun(store, runId, settings, (state) => (state.ended === undefined ? fact : undefined)).catch(
    () => undefined,
  );
}

function toldOf(outcome: CallOutcome): Reported["outcome"] | undefined {
  if (outcome.kind === "returned") return { result: outcome.result };
  if (outcome.kind === "unkeepable") return { error: outcome.error, outcome: "applied" };
  if (outcome.kind === "failed" && outcome.outcome !== "in_doubt") {
    return { error: outcome.error, outcome: outcome.outcome };
  }
  return undefined;
}

/** What the driver knows and could not make durable: the outcomes of writes. */
export function withUnrecorded(error: unknown, writes: readonly LateWrite[]): unknown {
  if (!hasCode(error, "STORE_UNAVAILABLE")) return error;
  const unrecorded: JsonValue = JSON.parse(JSON.stringify(writes));
  return new ToolweaveError("STORE_UNAVAILABLE", errorText(error), { details: { unrecorded }, cause: error });
}
