const isQuick = process.env.TOOLWEAVE_BENCH_QUICK === "1";
const warmMs = isQuick ? 500 : 1_500;
const windowMs = isQuick ? 70 : 300;
const windows = 3;

/** How many of something a quick run, or a full one, needs. */
export function count(quick, full) {
  return isQuick ? quick : full;
}

/** Milliseconds of processor time that this process has taken: other processes on the machine do not count. */
export function processor() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds that have passed, for work that waits for a disk or another process. */
export function wall() {
  return performance.now();
}

/** Microseconds that one of the `units` of `work` costs: the median of three windows, once it is warm. */
export async function microseconds(units, work, clock = processor) {
  await repeat(work, warmMs, clock);
  const costs = [];
  for (let index = 0; index < windows; index++) costs.push((await repeat(work, windowMs, clock)) / units);
  return median(costs) * 1_000;
}

/** Milliseconds that `work` takes, repeated for at least `ms`. */
async function repeat(work, ms, clock) {
  const start = clock();
  let times = 0;
  let elapsed = 0;
  while (elapsed < ms) {
    await work();
    times++;
    elapsed = clock() - start;
  }
  return elapsed / times;
}

/** Microseconds that `work` takes on each of the things that `prepare` makes, whose making is not counted. */
export async function microsecondsOnEach(times, prepare, work) {
  const costs = [];
  // The first ones are to get warm.
  for (let index = 0; index < times + 2; index++) {
    const prepared = await prepare();
    const start = processor();
    await work(prepared);
    costs.push(processor() - start);
  }
  return median(costs.slice(2)) * 1_000;
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Kilobytes that `make` leaves on the heap, for each of `many`. */
export async function kilobytes(many, make) {
  await make(Math.ceil(many / 10));
  const before = liveBytes();
  const kept = await make(many);
  const after = liveBytes();
  if (kept === undefined) throw new Error("What is measured has to be kept.");
  return (after - before) / many / 1_000;
}

function liveBytes() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
