import { apply } from "../core/apply.js";
import { planOf } from "../core/define.js";
import type { Workflow } from "../core/document.js";
import { ToolweaveError } from "../core/errors.js";
import { beginRun, plansOf } from "../core/fold.js";
import type { JsonObject } from "../core/json.js";
import { maskedBy } from "../core/mask.js";
import { type JournalRecord, journalVersion } from "../core/record.js";
import type { RunSettings, RunState } from "../core/state.js";
import type { RunHead, RunStore } from "../ports/run-store.js";
import { bundleOf } from "./bundle.js";
import { digest, digestOf, documentDigest, snapshotOf } from "./fingerprint.js";
import { headOf } from "./head.js";
import { Journal, reachStore } from "./journal.js";
import { LeaseKeeper } from "./lease.js";
import { newId } from "./new-id.js";
import type { Settings } from "./options.js";
import { OwnedRun } from "./owned-run.js";
import { readKnownRun } from "./read-run.js";
import type { Route } from "./route.js";
import { refuseSecrets } from "./scrub.js";
import { listTools, type ToolList } from "./tool-list.js";

/** What a run id stands for: the document and the input as it was given. */
export function identityOf(workflow: Workflow, given: JsonObject): string {
  return digest({ document: documentDigest(snapshotOf(workflow)), input: given });
}

export interface Start {
  readonly workflow: Workflow;
  readonly runId: string;
  /** As the schema gave it. */
  readonly input: JsonObject;
  readonly identity: string;
}

/** A run that nothing is recorded of yet. */
export interface NewRun {
  readonly state: RunState;
  readonly start: JournalRecord;
  readonly driver: string;
}

/** @throws ToolweaveError `SECRET_IN_DATA` for what would be recorded */
export function newRun({ workflow, runId, input, identity }: Start, settings: Settings): NewRun {
  const driver = newId();
  const { documents, plans } = bundleOf(workflow, settings.workflows);
  const start: JournalRecord = {
    kind: "run_started",
    version: journalVersion,
    runId,
    documents,
    input,
    ...maskedBy(planOf(workflow).input?.json, input),
    identity,
    driver,
    at: settings.clock.now(),
  };
  const { scrub } = settings;
  for (const { name, document } of documents) refuseSecrets(scrub, document, `Workflow ${name}`);
  refuseSecrets(scrub, input, "The run's input, as its schema gives it,");
  return { state: beginRun(start, plans, driveSettings(settings)), start, driver };
}

/**
 * Makes the start of a run durable.
 *
 * @returns `undefined` when the run exists already.
 */
export function startRun(
  store: RunStore,
  start: Start,
  settings: Settings,
  tools: ToolList,
): Promise<OwnedRun | undefined> {
  const fresh = newRun(start, settings);
  return storeRun(store, fresh, [fresh.start], routeOf(fresh.state, settings, tools));
}

/**
 * Makes the first records of a run durable: its start, and what came of it.
 *
 * @returns `undefined` when the run exists already.
 */
export async function storeRun(
  store: RunStore,
  { state, driver }: NewRun,
  records: JournalRecord[],
  route: Route,
): Promise<OwnedRun | undefined> {
  const { runId } = state;
  const lease = new LeaseKeeper(store, runId, driver);
  // Nobody drives a run that has ended.
  if (state.ended === undefined && !(await lease.claim())) throw busy(runId);
  const journal = new Journal(store, runId, driver, 0);
  const others = await journal.append(records, headOf(state)).catch(async (error) => {
    await lease.release();
    throw error;
  });
  if (others === undefined) return new OwnedRun(state, journal, lease, route);
  await lease.release();
  return undefined;
}

export interface Taking {
  /** Whether a driver that still lives is no hindrance. */
  readonly takeOver: boolean;
  /** Whether the run is to be taken, asked once nobody else can take it. It may spoil the state that it is given. */
  readonly wants?: (state: RunState) => boolean;
}

/**
 * Makes the takeover of a run durable. A run that has ended is not taken: only to be read, it needs no code.
 *
 * @throws ToolweaveError `UNKNOWN_RUN`, `RUN_BUSY`, `CODE_REQUIRED`, `INVALID_JOURNAL`, `STORE_UNAVAILABLE`
 */
export async function takeRun(
  store: RunStore,
  runId: string,
  settings: Settings,
  { takeOver, wants }: Taking,
): Promise<OwnedRun | { untaken: RunState }> {
  const reading = { settings: driveSettings(settings) };
  const head = await reachStore(runId, () => store.head(runId));
  if (head === undefined || hasEnded(head)) return { untaken: await readKnownRun(store, runId, reading) };
  const driver = newId();
  const lease = new LeaseKeeper(store, runId, driver);
  if (!(await lease.claim()) && !takeOver) throw busy(runId);
  // A long journal takes its time.
  lease.keep();
  try {
    const seen = wants && (await readKnownRun(store, runId));
    if (seen !== undefined && !wants?.(seen)) {
      await lease.release();
      return { untaken: seen };
    }
    const tools = await listTools(settings.tools);
    const plans = (record: JournalRecord) => plansOf(record, settings.workflows);
    const known = await readKnownRun(store, runId, { ...reading, plans });
    const journal = new Journal(store, runId, driver, known.seq);
    for (;;) {
      if (known.ended !== undefined) {
        await lease.release();
        return { untaken: known };
      }
      const record: JournalRecord = { kind: "run_taken", driver, at: settings.clock.now() };
      const others = await journal.append([record], headOf(known, [record]));
      if (others === undefined) {
        apply(known, record);
        return new OwnedRun(known, journal, lease, routeOf(known, settings, tools));
      }
      for (const other of others) apply(known, other);
    }
  } catch (error) {
    await lease.release();
    throw error;
  }
}

function hasEnded({ status }: RunHead): boolean {
  return status !== "running" && status !== "waiting";
}

function driveSettings({ inDoubt, limits }: Settings): RunSettings {
  return { emits: true, inDoubt, maxRecords: limits.maxRecords, maxWrites: 1_000 };
}

export function routeOf(state: RunState, settings: Settings, tools: ToolList): Route {
  const { policy, limits, clock, scrub } = settings;
  return {
    runId: state.runId,
    workflow: state.root.plan.name,
    documents: digestOf(state.documents),
    policy,
    limits: { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth },
    clock,
    scrub,
    tools,
    listAgain: () => listTools(settings.tools),
  };
}

function busy(runId: string): ToolweaveError {
  return new ToolweaveError(
    "RUN_BUSY",
    `Run ${runId} is being driven elsewhere. Wait for it, or resume it with takeOver.`,
  );
}
