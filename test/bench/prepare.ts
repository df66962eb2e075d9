import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Installs the peers where they are missing, and builds the package where its source is newer. */
export function prepare(): void {
  if (isNewer(`${here}package-lock.json`, `${here}node_modules/.package-lock.json`)) {
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], here);
  }
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" });
  const built = `${here}dist/index.js`;
  if (sources.some((source) => isNewer(`${root}src/${source}`, built)) || isNewer(`${root}tsup.config.ts`, built)) {
    // As it is published, but ES modules alone, and beside the package's own `dist`, which is left as it is.
    run("npx", ["tsup", "--silent", "--no-dts", "--format", "esm", "--out-dir", `${here}dist`], root);
  }
}

function isNewer(source: string, made: string): boolean {
  return !existsSync(made) || statSync(source).mtimeMs > statSync(made).mtimeMs;
}

function run(command: string, args: string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}.`);
}
