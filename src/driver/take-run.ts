import { apply } from "../core/apply.js";
import { calledWorkflows } from "../core/call-sites.js";
import { embeddedWorkflows, planOf } from "../core/define.js";
import type { Workflow } from "../core/document.js";
import { ToolweaveError } from "../core/errors.js";
import { beginRun, plansOf } from "../core/fold.js";
import type { JsonObject } from "../core/json.js";
import { maskedBy } from "../core/mask.js";
import { type JournalRecord, journalVersion } from "../core/record.js";
import type { RunSettings, RunState } from "../core/state.js";
import type { RunHead, RunStore } from "../ports/run-store.js";
import { digest, digestOf, documentDigest, snapshotOf } from "./fingerprint.js";
import { headOf } from "./head.js";
import { Journal, reachStore } from "./journal.js";
import { LeaseKeeper } from "./lease.js";
import type { Settings } from "./options.js";
import { OwnedRun } from "./owned-run.js";
import { readKnownRun } from "./read-run.js";
import type { Route } from "./route.js";
import { refuseSecrets, scrubber } from "./scrub.js";
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

/**
 * Makes the start of a run durable.
 *
 * @returns `undefined` when the run exists already.
 */
export async function startRun(
  store: RunStore,
  start: Start,
  settings: Settings,
  tools: ToolList,
): Promise<OwnedRun | undefined> {
  const { workflow, runId, input, identity } = start;
  const driver = crypto.randomUUID();
  const workflows = calledBy(workflow, settings.workflows);
  const record: JournalRecord = {
    kind: "run_started",
    version: journalVersion,
    runId,
    documents: workflows.map(snapshotOf),
    input,
    ...maskedBy(planOf(workflow).input?.json, input),
    identity,
    driver,
    at: settings.clock.now(),
  };
  const scrub = scrubber(settings.secrets);
  for (const { name, document } of record.documents) refuseSecrets(scrub, document, `Workflow ${name}`);
  refuseSecrets(scrub, input, "The run's input, as its schema gives it,");
  const lease = new LeaseKeeper(store, runId, driver);
  if (!(await lease.claim())) throw busy(runId);
  const plans = new Map(workflows.map((one) => [one.name, planOf(one)]));
  const state = beginRun(record, plans, driveSettings(settings));
  const journal = new Journal(store, runId, driver, 0);
  const others = await journal.append([record], headOf(state)).catch(async (error) => {
    await lease.release();
    throw error;
  });
  if (others === undefined) return ownedRun(state, journal, lease, settings, tools);
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
  const driver = crypto.randomUUID();
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
        return ownedRun(known, journal, lease, settings, tools);
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

function ownedRun(
  state: RunState,
  journal: Journal,
  lease: LeaseKeeper,
  settings: Settings,
  tools: ToolList,
): OwnedRun {
  return new OwnedRun(state, journal, lease, routeOf(state, settings, tools), settings.clock);
}

function driveSettings({ inDoubt, limits }: Settings): RunSettings {
  return { emits: true, inDoubt, maxRecords: limits.maxRecords, maxWrites: 1_000 };
}

function routeOf(state: RunState, settings: Settings, tools: ToolList): Route {
  const { policy, limits, clock, secrets } = settings;
  return {
    runId: state.runId,
    workflow: state.root.plan.name,
    documents: digestOf(state.documents),
    policy,
    limits: { maxBytes: limits.maxValueBytes, maxDepth: limits.maxDepth },
    clock,
    scrub: scrubber(secrets),
    tools,
    listAgain: () => listTools(settings.tools),
  };
}

/** A workflow, and every workflow that it can call, through others too. */
export function calledBy(workflow: Workflow, given: readonly Workflow[]): Workflow[] {
  const byName = new Map(given.map((one) => [one.name, one]));
  const found = new Map<string, Workflow>([[workflow.name, workflow]]);
  for (const one of found.values()) {
    for (const embedded of embeddedWorkflows(one)) byName.set(embedded.name, embedded);
    for (const name of calledWorkflows(planOf(one))) {
      const called = byName.get(name);
      if (called !== undefined && !found.has(name)) found.set(name, called);
    }
  }
  return [...found.values()];
}

function busy(runId: string): ToolweaveError {
  return new ToolweaveError(
    "RUN_BUSY",
    `Run ${runId} is being driven elsewhere. Wait for it, or resume it with takeOver.`,
  );
}
