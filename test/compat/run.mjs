// The conformance suite on SQLite clients that the project's own install does without: better-sqlite3 under this Node,
// node:sqlite under Node 22 and 24 (their packages are for Linux on x64).
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  return status === 0;
}

if (!run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], here)) process.exit(1);

const clients = [
  ["better-sqlite3", process.execPath],
  ["node:sqlite", `${here}node_modules/node-22/bin/node`],
  ["node:sqlite", `${here}node_modules/node-24/bin/node`],
];
const results = clients.map(([client, node]) => run(node, ["--import", "tsx", `${here}conform.ts`, client], root));
process.exit(results.every(Boolean) ? 0 : 1);
