import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Measured, median, ratios } from "./measure.js";

const file = fileURLToPath(new URL("../../docs/benchmarks.svg", import.meta.url));
const width = 860;
const lineHeight = 26;
const left = 430;
const right = 60;
const top = 44;

interface Bar {
  readonly label: string;
  readonly times: number;
}

/** Draws how many times less ours costs than the other, on a logarithmic scale: right of the line is better. */
export function writeChart(all: readonly Measured[]): void {
  const bars = all.flatMap(barOf);
  const most = Math.max(2, ...bars.map(({ times }) => Math.max(times, 1 / times)));
  const least = Math.min(1, ...bars.map(({ times }) => times));
  const scale = (width - left - right) / Math.log(most / least);
  const x = (times: number) => left + Math.log(times / least) * scale;
  const height = top + bars.length * lineHeight + 12;
  const drawn = bars.map(({ label, times }, index) => {
    const y = top + index * lineHeight;
    const [from, to] = times < 1 ? [x(times), x(1)] : [x(1), x(times)];
    return [
      `<text x="${left - 12}" y="${y + 14}" text-anchor="end">${escapeXml(label)}</text>`,
      `<rect class="${times < 1 ? "less" : "more"}" x="${fixed(from)}" y="${y + 2}" width="${fixed(Math.max(1, to - from))}" height="16" rx="2"/>`,
      `<text x="${fixed(to + 6)}" y="${y + 14}">${times.toFixed(times < 10 ? 2 : 0)}</text>`,
    ].join("\n");
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="How many times less each costs in Toolweave">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.more { fill: #1a7f5a }
.less { fill: #b35900 }
line { stroke: #57606a; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .more { fill: #3fb98a }
  .less { fill: #e0913d }
  line { stroke: #9198a1 }
}
</style>
<text class="title" x="12" y="22">How many times less each costs in Toolweave (logarithmic)</text>
<line x1="${fixed(x(1))}" x2="${fixed(x(1))}" y1="${top - 8}" y2="${height - 8}"/>
${drawn.join("\n")}
</svg>
`;
  writeFileSync(file, svg);
}

function barOf(measured: Measured): Bar[] {
  const { what, theirs, target } = measured.comparison;
  const ratio = median(ratios(measured));
  if (ratio === undefined || theirs === undefined) return [];
  return [{ label: `${what} (${theirs.who})`, times: "atLeast" in target ? ratio : 1 / ratio }];
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function fixed(value: number): string {
  return value.toFixed(1);
}
