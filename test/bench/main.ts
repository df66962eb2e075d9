import {
  defineTool,
  defineWorkflow,
  memoryStore,
  type RunStore,
  resumeRun,
  runToEnd,
  runWorkflow,
  toolDispatch,
  type Workflow,
} from "toolweave";

/**
 * What things cost as they grow, measured in one run and told as ratios, since machines differ. Each row is the median of
 * five rounds, in which both sizes take turns.
 */
const rounds = 5;

const add = defineTool({ name: "add", effect: "read", execute: ({ x }) => ({ x: Number(x) + 1 }) });
const put = defineTool({ name: "put", effect: "write", execute: ({ x }) => ({ x: Number(x) + 1 }) });

function chain(tool: string, steps: number): Workflow<{ x: number }> {
  return defineWorkflow({
    name: `chain_${steps}`,
    input_schema: { type: "object", properties: { x: { type: "number" } } },
    steps: Array.from({ length: steps }, (_, index) => ({
      id: `s${index}`,
      tool,
      inputs: { x: index === 0 ? "{{input.x}}" : `{{steps.s${index - 1}.result.x}}` },
    })),
  }) as Workflow<{ x: number }>;
}

/** Counts appends. */
function countedStore(): { store: RunStore; appends(): number } {
  const store = memoryStore();
  let appends = 0;
  const counted: RunStore = {
    ...store,
    append(...given) {
      appends++;
      return store.append(...given);
    },
  };
  return { store: counted, appends: () => appends };
}

async function drive(workflow: Workflow<{ x: number }>, store: RunStore): Promise<void> {
  const { status } = await runToEnd(workflow, { input: { x: 0 }, tools: [add, put], policy: () => "approve", store });
  if (status !== "completed") throw new Error(`The run is ${status}.`);
}

async function perUnit(units: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return ((performance.now() - start) * 1_000) / units;
}

/** Microseconds for a unit of the small and of the large work, and how many times more the large one costs. */
async function compare(what: string, small: [number, () => Promise<void>], large: [number, () => Promise<void>]) {
  const costs: [number, number][] = [];
  await small[1]();
  for (let round = 0; round < rounds; round++) costs.push([await perUnit(...small), await perUnit(...large)]);
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const [less, more] = [median(costs.map(([one]) => one)), median(costs.map(([, two]) => two))];
  const ratio = median(costs.map(([one, two]) => two / one));
  console.log(
    `${what.padEnd(52)} ${less.toFixed(1).padStart(8)} us ${more.toFixed(1).padStart(8)} us   x${ratio.toFixed(2)}`,
  );
}

async function times(count: number, work: () => Promise<void>): Promise<void> {
  for (let index = 0; index < count; index++) await work();
}

const short = chain("add", 100);
const long = chain("add", 10_000);
await compare(
  "a step of a run of 100, of 10,000 steps",
  [5_000, () => times(50, () => drive(short, memoryStore()))],
  [10_000, () => drive(long, memoryStore())],
);

for (const [tool, workflow] of [["read", short] as const, ["write", chain("put", 100)] as const]) {
  const { store, appends } = countedStore();
  await drive(workflow, store);
  console.log(`appends of a run of 100 ${tool} steps, its start left out: ${appends() - 1}`);
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: "add", arguments: { x: index } }));

async function dispatch(count: number): Promise<void> {
  const config = { tools: { add: { tool: "add" } }, max_calls: count };
  const { status } = await toolDispatch(config, { calls: calls(count), tools: add, store: memoryStore() });
  if (status !== "completed") throw new Error(`The dispatch is ${status}.`);
}

await compare(
  "a call of a set of 10, of 1,000 calls",
  [1_000, () => times(100, () => dispatch(10))],
  [1_000, () => dispatch(1_000)],
);

/** A run of so many steps that waits for a person behind them. */
async function waiting(steps: number): Promise<{ store: RunStore; runId: string }> {
  const store = memoryStore();
  const { steps: reads } = chain("add", steps);
  const workflow = defineWorkflow({ name: "waits", steps: [...reads, { id: "ask", ask: { prompt: "Go on?" } }] });
  const { runId } = await runToEnd(workflow, { input: { x: 0 }, tools: add, store });
  return { store, runId };
}

async function resume({ store, runId }: { store: RunStore; runId: string }): Promise<void> {
  for await (const _ of resumeRun(store, runId, { tools: add }));
}

const [fewDone, manyDone] = [await waiting(1_000), await waiting(10_000)];
await compare(
  "a done step of a run of 1,000, of 10,000, resumed",
  [10_000, () => times(10, () => resume(fewDone))],
  [10_000, () => resume(manyDone)],
);

const item = defineWorkflow({ name: "item", steps: [{ id: "add", tool: "add", inputs: { x: "{{input.x}}" } }] });
const each = defineWorkflow({
  name: "each",
  steps: [
    {
      id: "all",
      for_each: { items: "{{input.items}}", workflow: "item", inputs: { x: "{{item}}" }, max_concurrent: 8 },
    },
  ],
});
/** A store that keeps nothing, so that what grows is the run. */
const nowhere: RunStore = { ...memoryStore(), append: async () => undefined };
const items = Array.from({ length: 100_000 }, (_, index) => index);
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
let peak = 0;
let events = 0;
for await (const event of runWorkflow(each, { input: { items }, tools: add, workflows: item, store: nowhere })) {
  if (++events % 20_000 === 0 || event.type === "result") {
    globalThis.gc?.();
    peak = Math.max(peak, process.memoryUsage().heapUsed - before);
  }
}
console.log(`for_each of 100,000 items, 8 at once: at most ${(peak / 2 ** 20).toFixed(0)} MiB live, results included`);
