import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The fast tests alone: each mutant runs those of them that reach it. MUTATION_TESTS names fewer. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { tsconfigPaths: true },
  test: {
    include: [process.env.MUTATION_TESTS ?? "test/{core,providers,containers,driver}/**/*.test.ts"],
    // It puts a list of its own in the place of that of the providers.
    exclude: ["test/providers/page.test.ts"],
  },
});
