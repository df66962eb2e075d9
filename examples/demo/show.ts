import { styleText } from "node:util";
import type { ErrorData, JsonValue, RunResult, StepEvent, StepStatus, WriteEntry } from "toolweave";

type Style = Parameters<typeof styleText>[0];

const hasColors = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const startedAt = Date.now();

export function paint(style: Style, text: string): string {
  return hasColors ? styleText(style, text) : text;
}

export function print(text = ""): void {
  process.stdout.write(`${text}\n`);
}

const looks: Record<StepStatus, { mark: string; style: Style }> = {
  started: { mark: "→", style: "cyan" },
  retrying: { mark: "↻", style: "yellow" },
  completed: { mark: "✓", style: "green" },
  failed: { mark: "✗", style: "red" },
  skipped: { mark: "-", style: "gray" },
  stopped: { mark: "-", style: "gray" },
  undoing: { mark: "←", style: "cyan" },
  undone: { mark: "✓", style: "green" },
  undo_failed: { mark: "✗", style: "red" },
};

/** One line: when, what, where, and what there is to say about it. */
export function showStep(event: StepEvent): void {
  const { mark, style } = looks[event.status];
  showLine(style, mark, event.path, event.status.replace("_", " "), details(event));
}

export function showPolicy(path: string, what: string): void {
  showLine("magenta", "!", path, "approved", `by the policy: ${what}`);
}

function showLine(style: Style, mark: string, path: string, status: string, more: string): void {
  const time = `${((Date.now() - startedAt) / 1000).toFixed(2).padStart(6)}s`;
  const what = more === "" ? status : `${status.padEnd(11)} `;
  print(`${paint("gray", time)}  ${paint(style, `${mark} ${path.padEnd(18)} ${what}`)}${more}`);
}

function details({ attempt, result, error, delayMs, willUndo }: StepEvent): string {
  if (delayMs !== undefined) return `in ${delayMs / 1000} s, since ${reason(error)}`;
  if (error !== undefined) return reason(error) + (willUndo ? " What was done is undone now, newest first." : "");
  if (result !== undefined) return short(result);
  return attempt > 1 ? `attempt ${attempt}` : "";
}

function reason(error: ErrorData | undefined): string {
  return error === undefined ? "" : `${error.code}: ${error.message}`;
}

function short(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 90 ? `${text.slice(0, 89)}…` : text;
}

/** How a run ended, and every write that it made. */
export function showResult({ status, output, error, undoErrors = [], questions = [], writes }: RunResult): void {
  print();
  print(`${paint("bold", status)}${error === undefined ? "" : `, ${reason(error)}`}`);
  for (const { id } of questions) print(`open: question ${id}; once it is answered, resumeRun carries the run on`);
  if (output !== undefined) print(`output: ${JSON.stringify(output)}`);
  for (const undoError of undoErrors) print(paint("red", `left as it is: ${undoError.stepId}, ${reason(undoError)}`));
  if (writes.length > 0) showTable(["step", "tool", "what was sent", "decided by", "state", "undo"], writes.map(row));
  print();
}

function row({ stepId, tool, fields, decidedBy = "somebody", state, undo, reason: why }: WriteEntry): string[] {
  const undone = undo === undefined ? "" : `${undo.tool} ${JSON.stringify(undo.fields)}`;
  return [stepId, tool, JSON.stringify(fields), decidedBy, state, why === undefined ? undone : `${undone} (${why})`];
}

function showTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? title.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  print();
  print(paint("bold", line(head)));
  print(widths.map((width) => "─".repeat(width)).join("  "));
  for (const cells of rows) print(line(cells));
}
