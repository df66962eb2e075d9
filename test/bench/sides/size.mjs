import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const { dependencies } = JSON.parse(readFileSync(path("../../../package.json"), "utf8"));

/** Kilobytes of the main entry, minified and gzipped, with its dependencies or, "alone", without any. */
export async function toolweave(which) {
  const external = which === "alone" ? Object.keys(dependencies) : ["zod"];
  const { outputFiles } = await build({
    entryPoints: [path("../dist/index.js")],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external,
    write: false,
    logLevel: "silent",
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length / 1_000;
}
