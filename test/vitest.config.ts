import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  // "toolweave" is the source, by the paths of tsconfig.json, as it is for the compiler and for the examples.
  resolve: { tsconfigPaths: true },
  test: {
    silent: "passed-only",
    projects: [
      {
        extends: true,
        test: {
          name: "source",
          include: ["test/**/*.test.ts"],
          // The peers that are measured bring tests of their own.
          exclude: ["test/dist/**", "test/bench/**"],
          typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], ignoreSourceErrors: true },
        },
      },
      {
        // The packed tarball; `npm run build` comes first.
        extends: true,
        test: { name: "dist", include: ["test/dist/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: [["text", { skipFull: true }], "html"],
      thresholds: {
        lines: 85,
        functions: 85,
        branches: 80,
        "src/core/**": { branches: 100, functions: 100, lines: 100 },
        "src/providers/**": { branches: 90 },
      },
    },
  },
});
