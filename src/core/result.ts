import { nextTimer } from "./clock.js";
import type { ErrorData } from "./errors.js";
import { isoTime } from "./event.js";
import type { JsonValue } from "./json.js";
import type { Question } from "./question.js";
import { questionView } from "./question-view.js";
import type { Warning } from "./record.js";
import type { RunState } from "./state.js";
import type { WriteEntry } from "./write-entry.js";

/** How a run stands when it ends or waits. */
export interface RunResult {
  runId: string;
  status: "completed" | "failed" | "cancelled" | "waiting";
  /** Of a run that waits while it undoes. */
  phase?: "undoing";
  /** Of a completed run. */
  output?: JsonValue;
  /** Of a failed or cancelled run: the first error. */
  error?: ErrorData;
  /** Undos that failed. */
  undoErrors?: readonly ErrorData[];
  warnings?: readonly Warning[];
  /** Of a run that waits: what is open. */
  questions?: readonly Question[];
  /** Of a run that waits: when it can go on by itself, ISO 8601. */
  wakeAt?: string;
  /** The whole effect on the world: one entry for each forward write, the first 1,000. */
  writes: readonly WriteEntry[];
  writesTotal: number;
}

export function resultOf(state: RunState): RunResult {
  const { ended, root, questions, undoErrors, warnings, writes, writesTotal } = state;
  const wakeAt = ended === undefined ? nextTimer(state) : undefined;
  return {
    runId: state.runId,
    status: ended?.status ?? "waiting",
    ...(ended === undefined && root.failing !== undefined ? { phase: "undoing" } : {}),
    ...(ended?.status === "completed" ? { output: ended.output } : {}),
    ...(ended?.error === undefined ? {} : { error: ended.error }),
    ...(undoErrors.length === 0 ? {} : { undoErrors: [...undoErrors] }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(questions.size === 0
      ? {}
      : { questions: Array.from(questions.values(), ({ question }) => questionView(question)) }),
    ...(wakeAt === undefined ? {} : { wakeAt: isoTime(wakeAt) }),
    writes: writes.map((write) => ({ ...write })),
    writesTotal,
  };
}
