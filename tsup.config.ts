import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    testing: "src/testing/index.ts",
    sqlite: "src/stores/sqlite.ts",
    postgres: "src/stores/postgres.ts",
  },
  format: ["esm", "cjs"],
  target: "es2022",
  dts: true,
  // What two entries share, the error classes above all, exists once for each format.
  splitting: true,
  treeshake: true,
  removeNodeProtocol: false,
  clean: true,
});
