import { isToolweaveError } from "../../src/core/errors.js";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunResult } from "../../src/core/result.js";
import type { QuestionEvent, RunEvent } from "../../src/driver/options.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { RunStream } from "../../src/driver/stream.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { judge, type Outcome, outcomeOf } from "./judge.js";
import { answerTo, approveAll } from "./person.js";
import type { Sample } from "./sample.js";
import { Life, World } from "./world.js";

export const runId = "run";

/** `"approve"`: a policy lets writes be made. `"ask"`: a person is asked about each. */
export type Mode = "approve" | "ask";

export const modes: readonly Mode[] = ["approve", "ask"];

/** A sample that is run by one process after another. */
export interface Trial {
  readonly sample: Sample;
  readonly mode: Mode;
  /** Holds the journal, whoever drives. */
  readonly store: RunStore;
  readonly world: World;
  /** When the latest process began. */
  now: number;
}

export function trial(sample: Sample, mode: Mode, world = new World(), store = plainStore()): Trial {
  return { sample, mode, store, world, now: Date.UTC(2030, 0, 1) };
}

/** A memory store without leases: whoever resumes takes over. */
export function plainStore({ watch = true }: { watch?: boolean } = {}): RunStore {
  const { lease, ...store } = memoryStore();
  if (!watch) delete store.watch;
  return store;
}

/** One process takes the run on, or begins it where nothing of it is stored. */
export async function open(
  { sample, mode, store, world, now }: Trial,
  life: Life,
  { through = store, stop }: { through?: RunStore; stop?: AbortSignal } = {},
): Promise<RunStream> {
  const { workflow, workflows, input } = sample;
  const options = {
    tools: world.tools(life),
    workflows,
    clock: fakeClock({ now }),
    ...(mode === "approve" ? { policy: approveAll } : {}),
    ...(stop === undefined ? {} : { stop }),
  };
  const isKnown = (await store.head(runId)) !== undefined;
  if (isKnown) return resumeRun(through, runId, { ...options, takeOver: true });
  return runWorkflow(workflow, { ...options, store: through, input, runId });
}

export type Attend = (event: RunEvent, index: number) => Promise<void> | undefined;

/** Drives a stream to its end, answering what is asked. `undefined`: the process died. */
export async function attend(
  { world }: Trial,
  stream: RunStream,
  life: Life,
  look: Attend = () => undefined,
): Promise<RunResult | undefined> {
  for (let index = 1; ; index++) {
    const turn = await Promise.race([stream.next(), life.death]);
    if (turn === undefined || turn.done) return turn?.value;
    const event = turn.value;
    await look(event, index);
    if (event.type === "question") await Promise.race([reply(event, world), life.death]);
  }
}

/** Answers a question, unless what it asks was settled meanwhile. */
async function reply(event: QuestionEvent, world: World): Promise<void> {
  await event.answer(answerTo(event, world)).catch((error) => {
    if (!isToolweaveError(error) || error.code !== "QUESTION_CLOSED") throw error;
  });
}

/** Carries a run on in a process that nothing happens to. */
export async function finish(run: Trial, look?: Attend): Promise<RunResult> {
  const life = new Life();
  const result = await attend(run, await open(run, life), life, look);
  if (result === undefined) throw new Error("A run that nothing happened to gave no result.");
  return result;
}

/** What a sample comes to when nothing happens, and in how many appends and events. */
export async function uninterrupted(
  sample: Sample,
  mode: Mode,
): Promise<{ appends: number; events: number; outcome: Outcome }> {
  const run = trial(sample, mode);
  let appends = 0;
  let events = 0;
  const life = new Life();
  // In the time that a meddler takes: what meets in one append depends on it.
  const through = meddled(run.store, async (count, append) => {
    await append();
    appends = count;
  });
  const result = await attend(run, await open(run, life, { through }), life, (_event, index) => {
    events = index;
    return undefined;
  });
  if (result === undefined) throw new Error("A run that nothing happened to gave no result.");
  judge(result, run.world, await journalOf(run));
  return { appends, events, outcome: outcomeOf(result, run.world) };
}

export async function journalOf({ store }: Pick<Trial, "store">): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of store.read(runId)) records.push(record);
  return records;
}

/** A store as one process sees it, with something that happens at each of its appends, counted from 1. */
export function meddled(
  store: RunStore,
  meddle: (count: number, append: () => Promise<void>) => Promise<void>,
): RunStore {
  let count = 0;
  return {
    ...store,
    append: (id, expectedSeq, records, head) => meddle(++count, () => store.append(id, expectedSeq, records, head)),
  };
}

/** A store through which a process dies at its append number `at`. */
export function deadly(store: RunStore, life: Life, at: number, when: "before" | "after", reaches: boolean): RunStore {
  return meddled(store, async (count, append) => {
    if (life.isDead) return new Promise(() => undefined);
    if (count < at) return append();
    if (when === "after") await append();
    life.die(reaches);
    return new Promise(() => undefined);
  });
}
