// Runs every `verify:` script of package.json in its order, also those behind one that failed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const checks = Object.keys(scripts).filter((name) => name.startsWith("verify:"));
const deadline = Date.now() + 18 * 60_000;

const outcomes = checks.map((script) => {
  const name = script.slice("verify:".length);
  console.log(`\n== ${name}: ${scripts[script]}`);
  const start = Date.now();
  const { status } = spawnSync("npm", ["run", "--silent", script], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: Math.max(1, deadline - start),
  });
  return { name, passed: status === 0, seconds: (Date.now() - start) / 1000 };
});

console.log();
for (const { name, passed, seconds } of outcomes) {
  console.log(`${passed ? "pass" : "FAIL"}  ${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = outcomes.filter(({ passed }) => !passed).length;
console.log(`\n${outcomes.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
