/** What one process measures: `measure` of `sides/<file>.mjs`, which gives a cost in the comparison's unit. */
export interface Side {
  /** Who it is, as the table says it. */
  readonly who: string;
  readonly file: string;
  readonly measure: string;
  readonly argument?: number | string;
}

export type Target =
  /** How many times less our cost is than theirs. */
  | { readonly atLeast: number }
  /** Our cost as a part of theirs. */
  | { readonly atMost: number }
  /** Our cost in itself. */
  | { readonly costAtMost: number };

export interface Comparison {
  readonly what: string;
  readonly unit: "µs" | "ns" | "ms" | "kB";
  readonly ours: Side;
  readonly theirs?: Side;
  readonly target: Target;
}

export interface Row {
  /** What `--only` names. */
  readonly name: string;
  readonly comparisons: readonly Comparison[];
  /** What each side does and does not do. */
  readonly does: string;
  readonly needsPostgres?: true;
}

const sideOf =
  (file: string) =>
  (who: string, measure: string, argument?: number | string): Side => ({
    who,
    file,
    measure,
    ...(argument !== undefined && { argument }),
  });

const memoryRun = sideOf("memory-run");
const sqlite = sideOf("sqlite");
const postgres = sideOf("postgres");
const dispatch = sideOf("dispatch");
const resume = sideOf("resume");
const template = sideOf("template");
const define = sideOf("define");
const waiting = sideOf("waiting");
const forEach = sideOf("for-each");
const size = sideOf("size");
const start = sideOf("start");

export const rows: readonly Row[] = [
  {
    name: "memory-run",
    comparisons: [
      ...[100, 10_000].map(
        (steps): Comparison => ({
          what: `a step of a run of ${steps.toLocaleString("en")} in memory`,
          unit: "µs",
          ours: memoryRun("toolweave", "toolweave", steps),
          theirs: memoryRun("TanStack", "tanstack", steps),
          target: { atLeast: 1.25 },
        }),
      ),
      {
        what: "a step of a run of 100 from JSON, in memory",
        unit: "µs",
        ours: memoryRun("toolweave", "toolweave", 100),
        theirs: memoryRun("Mastra", "mastra", 100),
        target: { atLeast: 15 },
      },
    ],
    does: `Ours resolves the template of each step, checks the inputs against the tool's JSON Schema, makes the result JSON,
and keeps it frozen. TanStack's step is a closure: no document, no templates, nothing checked, results kept by reference
and never made JSON. Mastra's is a JSON definition whose steps hand their whole result on; it checks each tool's input
and output by zod, and has no storage here.`,
  },
  {
    name: "growth",
    comparisons: [
      {
        what: "a step of a run of 10,000, against one of 100",
        unit: "µs",
        ours: memoryRun("of 10,000", "toolweave", 10_000),
        theirs: memoryRun("of 100", "toolweave", 100),
        target: { atMost: 1.2 },
      },
      {
        what: "a call of a set of 1,000, against one of 10",
        unit: "µs",
        ours: dispatch("of 1,000", "toolweaveCall", 1_000),
        theirs: dispatch("of 10", "toolweaveCall", 10),
        target: { atMost: 1.2 },
      },
      {
        what: "a done step of a run of 10,000 that is resumed, against one of 1,000",
        unit: "µs",
        ours: resume("of 10,000", "toolweaveStep", 10_000),
        theirs: resume("of 1,000", "toolweaveStep", 1_000),
        target: { atMost: 1.2 },
      },
      {
        what: "memory for an item of a for_each over 100,000, 8 at once, against one over 10,000",
        unit: "kB",
        ours: forEach("of 100,000", "toolweave", 100_000),
        theirs: forEach("of 10,000", "toolweave", 10_000),
        target: { atMost: 1.2 },
      },
    ],
    does: "Both are ours. The memory is what lives at most, the results included, with a store that keeps nothing.",
  },
  {
    name: "sqlite",
    comparisons: [
      {
        what: "a read step on SQLite, against a commit",
        unit: "µs",
        ours: sqlite("toolweave", "toolweave", "read"),
        theirs: sqlite("raw commit", "commits", 1),
        target: { atLeast: 0.85 },
      },
      {
        what: "a write step on SQLite, against two commits",
        unit: "µs",
        ours: sqlite("toolweave", "toolweave", "write"),
        theirs: sqlite("raw commits", "commits", 2),
        target: { atLeast: 0.85 },
      },
    ],
    does: `libsql, a file, WAL and synchronous = FULL on both sides. A raw commit is a prepared insert of one row with the
text of one of our records; ours also moves the run's head, and holds a lease.`,
  },
  {
    name: "postgres",
    needsPostgres: true,
    comparisons: [
      {
        what: "a read step on PostgreSQL, against a commit",
        unit: "µs",
        ours: postgres("toolweave", "toolweave", 1),
        theirs: postgres("raw commit", "commits", 1),
        target: { atLeast: 0.85 },
      },
      {
        what: "a read step on PostgreSQL, 16 runs at once",
        unit: "µs",
        ours: postgres("toolweave", "toolweave", 16),
        theirs: postgres("raw commit, 16 connections", "commits", 16),
        target: { atLeast: 0.7 },
      },
    ],
    does: `The same server for both, with fsync off: what is compared is work, not a disk. A raw commit is a prepared
insert of one row with the text of one of our records; ours also moves the run's head and tells those who watch.`,
  },
  {
    name: "dispatch",
    comparisons: [
      ...[1, 10, 100].map(
        (calls): Comparison => ({
          what: `a set of ${calls === 1 ? "1 call" : `${calls} calls`} to a tool`,
          unit: "µs",
          ours: dispatch("toolweave", "toolweave", calls),
          theirs: dispatch("ToolNode", "toolNode", calls),
          target: { atLeast: 5 },
        }),
      ),
      {
        what: "a further call of a set",
        unit: "µs",
        ours: dispatch("toolweave", "toolweaveFurther"),
        theirs: dispatch("ai", "aiSdkFurther"),
        target: { atMost: 0.5 },
      },
      {
        what: "a set of 100 calls to workflows of one step",
        unit: "µs",
        ours: dispatch("toolweave, workflows", "toolweave", "100 workflow"),
        theirs: dispatch("ToolNode", "toolNode", 100),
        target: { atLeast: 2 },
      },
    ],
    does: `All parse the arguments, and check them by the same zod schema. Ours keeps each call as a run of its own in a
store in memory. LangGraph's ToolNode and the AI SDK (one generateText step with its mock model; what a set costs at all
is left out by counting from 10 calls to 100) keep nothing.`,
  },
  {
    name: "resume",
    comparisons: [
      {
        what: "resuming and ending a run of 10,000 steps",
        unit: "µs",
        ours: resume("toolweave", "toolweave", 10_000),
        theirs: resume("TanStack", "tanstack", 10_000),
        target: { atLeast: 5 },
      },
    ],
    does: `The run waits for a person behind its steps, in memory; it is resumed, answered and ended. Ours folds the
journal and checks the answer; TanStack runs the workflow's function again, with what it kept.`,
  },
  {
    name: "template",
    comparisons: [
      {
        what: "a template that is a whole value",
        unit: "ns",
        ours: template("resolveTemplate", "toolweaveValue"),
        theirs: template("lodash.get", "lodash"),
        target: { atLeast: 1 },
      },
      {
        what: "a text with four templates",
        unit: "ns",
        ours: template("resolveTemplate", "toolweaveText"),
        theirs: template("mustache", "mustache"),
        target: { atLeast: 1 },
      },
    ],
    does: `Parsed once, on all sides. Ours reads own properties only, and fails where a path leads nowhere; lodash and
mustache walk prototypes, and give nothing. Mustache does not escape here.`,
  },
  {
    name: "define",
    comparisons: [
      {
        what: "defining and checking 1,000 steps",
        unit: "ms",
        ours: define("toolweave", "toolweave", 1_000),
        target: { costAtMost: 16 },
      },
      {
        what: "the same, against validating and adding",
        unit: "ms",
        ours: define("toolweave", "toolweave", 1_000),
        theirs: define("Mastra add", "mastraAdd", 1_000),
        target: { atLeast: 1 },
      },
      {
        what: "the same, against validating alone",
        unit: "ms",
        ours: define("toolweave", "toolweave", 1_000),
        theirs: define("Mastra validate", "mastraValidate", 1_000),
        target: { atLeast: 1 },
      },
    ],
    does: `Ours copies and freezes the document, compiles its 1,000 templates and checks them against the steps before,
and the inputs against the tool. Mastra's definition has no templates: addDynamicWorkflow checks it and makes it ready to
run, validateDynamicWorkflow checks alone.`,
  },
  {
    name: "waiting",
    comparisons: [
      {
        what: "memory of a waiting run of 10 steps",
        unit: "kB",
        ours: waiting("toolweave", "toolweave"),
        theirs: waiting("TanStack", "tanstack"),
        target: { atMost: 1 },
      },
    ],
    does: `10,000 runs that wait for a person, in a store in memory: what is on the heap once the garbage is collected.
Ours keeps the document, each result and when it came; TanStack each result and when it came.`,
  },
  {
    name: "size",
    comparisons: [
      {
        what: "the main entry, our own code",
        unit: "kB",
        ours: size("toolweave", "toolweave", "alone"),
        target: { costAtMost: 20 },
      },
      {
        what: "the main entry with what it depends on but zod",
        unit: "kB",
        ours: size("toolweave", "toolweave", "whole"),
        target: { costAtMost: 32 },
      },
    ],
    does: "Bundled and minified by esbuild, then gzipped; 1 kB is 1,000 bytes.",
  },
  {
    name: "start",
    comparisons: [
      {
        what: "importing it, over an empty script",
        unit: "ms",
        ours: start("toolweave", "toolweave"),
        theirs: start("TanStack and zod", "tanstackAndZod"),
        target: { atMost: 1 },
      },
    ],
    does: "Processor time of a new process, less that of one whose script is empty. Ours imports zod, too.",
  },
];
