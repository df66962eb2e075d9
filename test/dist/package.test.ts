import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const root = fileURLToPath(new URL("../../", import.meta.url));
const consumer = mkdtempSync(join(tmpdir(), "toolweave-consumer-"));
const installed = join(consumer, "node_modules", manifest.name);

/** Packs the built package and installs it, with the dependencies that it names and no others, as a consumer would. */
beforeAll(() => {
  run("npm", ["pack", "--ignore-scripts", "--offline", "--pack-destination", consumer], root);
  mkdirSync(installed, { recursive: true });
  run("tar", ["-xzf", `${manifest.name}-${manifest.version}.tgz`, "--strip-components=1", "-C", installed], consumer);
  for (const dependency of Object.keys(manifest.dependencies)) {
    const link = join(consumer, "node_modules", dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), link);
  }
  cpSync(join(root, "test/dist/consumer"), consumer, { recursive: true });
});

afterAll(() => rmSync(consumer, { recursive: true }));

function run(command: string, args: string[], cwd = consumer): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 50_000 });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

describe("the packed tarball", () => {
  it("holds what is built and what people read, and nothing else", () => {
    expect(readdirSync(installed).sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "dist", "package.json"]);
  });

  it.each([".js", ".cjs"])("defines the error classes once among its %s files, whatever the entry", (extension) => {
    const files = readdirSync(join(installed, "dist")).filter((file) => file.endsWith(extension));
    const text = (file: string) => readFileSync(join(installed, "dist", file), "utf8");
    const defining = files.filter((file) => text(file).includes('Symbol.for("toolweave.error")'));
    expect(defining).toHaveLength(1);
  });

  it.each(["esm.mjs", "cjs.cjs"])("runs a workflow in %s", (program) => {
    expect(JSON.parse(run(process.execPath, [program]))).toEqual({
      status: "completed",
      output: "Hello, Ada",
      subpaths: ["function", "function", "function"],
    });
  });

  it("knows the errors of its other format by their brand", () => {
    expect(JSON.parse(run(process.execPath, ["both.mjs"]))).toEqual({
      sameClass: false,
      importedIsKnown: true,
      requiredIsKnown: true,
      otherIsNot: false,
    });
  });

  it.each([
    ["node16", "node16"],
    ["preserve", "bundler"],
  ])("type-checks in a project with module %s and moduleResolution %s, with no types but its own", (module, moduleResolution) => {
    const compilerOptions = {
      module,
      moduleResolution,
      target: "es2022",
      lib: ["es2022", "dom"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      allowJs: true,
      checkJs: true,
      noEmit: true,
    };
    const project = join(consumer, `tsconfig.${moduleResolution}.json`);
    writeFileSync(project, JSON.stringify({ compilerOptions, files: ["esm.mjs", "cjs.cjs"] }));
    run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
  });
});
