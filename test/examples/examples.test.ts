import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const examples = readdirSync(`${root}examples`).filter((file) => /^\d\d-.+\.ts$/.test(file));

describe("every numbered example", () => {
  it.each(examples)("%s runs to its end and prints what its .out file says", { timeout: 60_000 }, (example) => {
    const file = `examples/${example}`;
    const node = ["--import", "tsx", file];
    const run = spawnSync(process.execPath, node, { cwd: root, encoding: "utf8", timeout: 50_000 });
    expect(run.status, run.stderr).toBe(0);

    const expected = `${root}${file.replace(/ts$/, "out")}`;
    if (existsSync(expected)) expect(run.stdout).toBe(readFileSync(expected, "utf8"));
  });

  it("is there", () => {
    expect(examples).not.toEqual([]);
  });
});
