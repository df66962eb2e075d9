import { cpus, release, type } from "node:os";
import { type Cost, type Measured, median, medianCost, ratios } from "./measure.js";
import type { Comparison, Target } from "./rows.js";

export const heading = ["what", "ours", "theirs", "ratio (min, max)", "target", ""] as const;

export type Line = readonly [what: string, ours: string, theirs: string, ratio: string, target: string, met: string];

export function lineOf(measured: Measured): Line {
  const { comparison } = measured;
  const { what, unit, ours, theirs, target } = comparison;
  const cost = medianCost(measured.ours);
  const met = isMet(measured);
  return [
    what,
    `${costText(cost, unit)} ${ours.who}`,
    theirs === undefined ? "" : `${costText(medianCost(measured.theirs), unit)} ${theirs.who}`,
    ratioText(ratios(measured)),
    targetText(target, unit),
    met === undefined ? "not measured" : met ? "met" : "not met",
  ];
}

/** Undefined where one side gave no cost. */
function isMet(measured: Measured): boolean | undefined {
  const { target } = measured.comparison;
  const value = "costAtMost" in target ? medianCost(measured.ours) : median(ratios(measured));
  if (typeof value !== "number") return undefined;
  if ("atLeast" in target) return value >= target.atLeast;
  return value <= ("atMost" in target ? target.atMost : target.costAtMost);
}

const widths = [50, 32, 38, 24, 10] as const;

export function paddedText(line: readonly string[]): string {
  return line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" ");
}

export function markdownTable(lines: readonly Line[]): string {
  const rowsOf = [heading, heading.map(() => "---"), ...lines];
  return rowsOf.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function machine(): string {
  const [first] = cpus();
  const processors = `${cpus().length} x ${first?.model.trim() ?? "unknown processor"}`;
  return `Node ${process.version}, ${type()} ${release()}, ${processors}`;
}

function costText(cost: Cost | undefined, unit: Comparison["unit"]): string {
  if (cost === undefined) return "";
  return typeof cost === "number" ? `${figure(cost)} ${unit}` : `(${cost.fault})`;
}

function ratioText(values: readonly number[]): string {
  const middle = median(values);
  if (middle === undefined) return "";
  return `x${figure(middle)} (${figure(Math.min(...values))}, ${figure(Math.max(...values))})`;
}

function targetText(target: Target, unit: Comparison["unit"]): string {
  if ("atLeast" in target) return `>= x${target.atLeast}`;
  return "atMost" in target ? `<= x${target.atMost}` : `<= ${target.costAtMost} ${unit}`;
}

function figure(value: number): string {
  if (value < 10) return value.toFixed(2);
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}
