import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/apply.js";
import { planOf } from "../../src/core/define.js";
import { beginRun } from "../../src/core/fold.js";
import type { JournalRecord } from "../../src/core/record.js";
import type { RunState } from "../../src/core/state.js";
import { Drive } from "../../src/driver/drive.js";
import { settingsOf } from "../../src/driver/options.js";
import { type Start, startRun, takeRun } from "../../src/driver/take-run.js";
import { listTools } from "../../src/driver/tool-list.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import {
  attend,
  deadly,
  finish,
  journalOf,
  modes,
  open,
  runId,
  type Trial,
  trial,
  uninterrupted,
} from "./drive-sample.js";
import { atPlace } from "./judge.js";
import { answerTo, approveAll } from "./person.js";
import { projectionOf } from "./projection.js";
import type { Sample } from "./sample.js";
import { samples } from "./samples.js";
import { places } from "./thorough.js";
import { Life } from "./world.js";

function foldOf(sample: Sample, journal: readonly JournalRecord[], settings: RunState["settings"]): RunState {
  const [first, ...rest] = journal;
  if (first === undefined) throw new Error("The journal is empty.");
  const plans = new Map([sample.workflow, ...sample.workflows].map((workflow) => [workflow.name, planOf(workflow)]));
  const state = beginRun(first, plans, settings);
  for (const record of rest) apply(state, record);
  return state;
}

/** Drives a run with its state in sight, and compares it with a fold at every event. */
async function driveInSight(run: Trial): Promise<number> {
  const { sample, mode, store, world } = run;
  const { workflow, workflows, input } = sample;
  const clock = fakeClock({ now: run.now });
  const tools = world.tools(new Life());
  const settings = settingsOf({ tools, workflows, clock, ...(mode === "approve" ? { policy: approveAll } : {}) });
  const isKnown = (await store.head(runId)) !== undefined;
  const start: Start = { workflow, runId, input, identity: "" };
  const owned = isKnown
    ? await takeRun(store, runId, settings, { takeOver: true })
    : await startRun(store, start, settings, await listTools(tools));
  if (owned === undefined || "untaken" in owned) return 0;
  const { state } = owned;
  const drive = new Drive(owned, settings);
  let compared = 0;
  for (let event = await drive.nextEvent(); event !== undefined; event = await drive.nextEvent()) {
    const journal = await journalOf(run);
    // What is applied and about to be appended is not yet to be seen in the journal.
    if (journal.length === state.seq) {
      compared++;
      await atPlace(`event ${event.type}, seq ${event.seq}`, run, () => {
        const folded = foldOf(sample, journal, { ...state.settings, emits: false });
        expect(projectionOf(folded, clock.now())).toEqual(projectionOf(state, clock.now()));
        const reread = foldOf(sample, JSON.parse(JSON.stringify(journal)), { ...state.settings, emits: false });
        expect(projectionOf(reread, clock.now())).toEqual(projectionOf(state, clock.now()));
      });
    }
    if (event.type === "question") await event.answer(answerTo(event, world));
  }
  return compared;
}

describe.each(modes)("folding the journal gives the state of the driver, writes: %s", (mode) => {
  test.each(samples.map((sample) => [sample.name, sample] as const))(
    "%s",
    { timeout: 20_000 },
    async (_name, sample) => {
      const { appends } = await uninterrupted(sample, mode);
      expect(await driveInSight(trial(sample, mode))).toBeGreaterThan(appends / 4);
      // Resumed runs, too.
      for (const at of places(2, appends, 5)) {
        const run = trial(sample, mode);
        const life = new Life();
        await attend(run, await open(run, life, { through: deadly(run.store, life, at, "after", true) }), life);
        await driveInSight(run);
        await finish(run);
      }
    },
  );
});
