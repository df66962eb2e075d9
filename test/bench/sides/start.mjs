import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { count, median } from "./timing.mjs";

const cwd = fileURLToPath(new URL("..", import.meta.url));
const times = count(5, 15);

/** Milliseconds of processor time that a script takes which imports these, over those of an empty one. */
function over(imports) {
  const script = imports.map((name) => `await import(${JSON.stringify(name)});`).join("");
  const [empty, full] = [[], []];
  for (let index = 0; index <= times; index++) {
    empty.push(milliseconds(""));
    full.push(milliseconds(script));
  }
  // The first of each fills the caches of the system.
  return median(full.slice(1)) - median(empty.slice(1));
}

function milliseconds(script) {
  const told = `${script}const { user, system } = process.cpuUsage(); console.log(user + system);`;
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", told], { cwd, encoding: "utf8" });
  return Number(text) / 1_000;
}

export const toolweave = () => over(["./dist/index.js"]);
export const tanstackAndZod = () => over(["@tanstack/workflow-core", "zod"]);
