import { parseArgs } from "node:util";
import { startPostgres } from "../stores/postgres-server.js";
import { writeChart } from "./chart.js";
import { type Measured, measureRow } from "./measure.js";
import { prepare } from "./prepare.js";
import { heading, lineOf, machine, paddedText } from "./report.js";
import { rows } from "./rows.js";
import { writeReadme } from "./write.js";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    chart: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const unknown = given.only.find((name) => !rows.some((row) => row.name === name));
if (unknown !== undefined) throw new Error(`No row is named ${unknown}: ${rows.map(({ name }) => name).join(", ")}.`);
const wanted = rows.filter(({ name }) => given.only.length === 0 || given.only.includes(name));
if ((given.chart || given.write) && (given.quick || given.only.length > 0)) {
  throw new Error("What is written holds every row, measured in full: leave --quick and --only out.");
}

prepare();
console.log(`${machine()}\n`);
console.log(paddedText(heading));
const quickMs = 55_000;
const settings = {
  isQuick: given.quick,
  rounds: given.quick ? 1 : 5,
  deadline: given.quick ? performance.now() + quickMs : Number.POSITIVE_INFINITY,
};
const all: Measured[] = [];
for (const row of wanted) {
  const server = row.needsPostgres && (await startPostgres());
  const measured = await measureRow(row, { ...settings, ...(server && { postgres: server.connectionString }) });
  await server?.stop();
  for (const each of measured) console.log(paddedText(lineOf(each)));
  all.push(...measured);
}
console.log();
for (const { name, does } of wanted) console.log(`${name}: ${does.replaceAll("\n", " ")}`);

if (given.chart) writeChart(all);
if (given.write) writeReadme(all);
