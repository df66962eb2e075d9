/** The layers of docs/architecture.md: an import points down, never up or across, and never in a circle. */

const adapters = "stores|tools|serve|engines";

/** @param {string} layer @param {string} allowed paths that files of the layer may import, as a pattern */
const onlyTo = (layer, allowed) => ({
  name: `${layer}-direction`,
  comment: `src/${layer} imports nothing of src but ${allowed}.`,
  severity: "error",
  from: { path: `^src/${layer}/` },
  to: { path: "^src/", pathNot: allowed },
});

module.exports = {
  forbidden: [
    {
      name: "no-circles",
      comment: "Type imports count: a circle of types is one subject in two files.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    onlyTo("core", "^src/core/"),
    onlyTo("ports", "^src/(ports|core)/"),
    onlyTo("providers", "^src/(providers|core)/"),
    onlyTo("driver", "^src/(driver|providers|ports|core)/|^src/stores/memory[.]ts$"),
    {
      name: "adapter-direction",
      comment: "An adapter imports core, ports and its own folder (sqlite.ts and sqlite/), never another adapter.",
      severity: "error",
      from: { path: `^src/(${adapters})/([^/.]+)` },
      to: { path: "^src/", pathNot: "^src/(core|ports)/|^src/$1/$2[/.]" },
    },
    {
      name: "nobody-imports-testing",
      comment: "src/testing imports anything, and ships apart from the rest.",
      severity: "error",
      from: { pathNot: "^src/testing/" },
      to: { path: "^src/testing/" },
    },
    {
      name: "nobody-imports-index",
      comment: "Inside the library each file imports the very file that holds what it needs.",
      severity: "error",
      from: {},
      to: { path: "^src/index[.]ts$" },
    },
    {
      name: "packages-of-core",
      comment: "core imports pure packages alone; they are listed here.",
      severity: "error",
      from: { path: "^src/core/" },
      to: {
        path: "node_modules/",
        pathNot: "node_modules/(zod|@cfworker/json-schema|@standard-schema/spec|@noble/hashes)/",
      },
    },
    {
      name: "runs-anywhere",
      comment: "The main entry runs in Node, browsers and workers alike.",
      severity: "error",
      from: { path: "^src/(index[.]ts$|(core|ports|providers|driver)/|stores/memory[.]|tools/define-tool[.])" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "runtime-packages-only",
      comment: "A package that src imports is a dependency, or an optional peer.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], pathNot: "node_modules/@types/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
