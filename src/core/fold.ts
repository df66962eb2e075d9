import { enterFlow } from "./advance.js";
import { readDefinition } from "./define.js";
import type { Workflow } from "./document.js";
import { DefinitionError, ToolweaveError } from "./errors.js";
import { isoTime } from "./event.js";
import { canonicalJson } from "./json.js";
import { newRoot } from "./new-node.js";
import type { WorkflowPlan } from "./plan.js";
import { Queue } from "./queue.js";
import { type DocumentSnapshot, type JournalRecord, journalVersion, type RunStarted } from "./record.js";
import type { RunSettings, RunState } from "./state.js";
import { documentJson, storedDocument, withoutCode } from "./stored-document.js";
import { Timers } from "./timers.js";

/** How a journal is read when nobody drives it. */
export const readSettings: RunSettings = {
  emits: false,
  inDoubt: "ask",
  maxRecords: Number.POSITIVE_INFINITY,
  maxWrites: 1_000,
};

/** The state that a run begins with. */
export function beginRun(
  record: JournalRecord,
  plans: ReadonlyMap<string, WorkflowPlan>,
  settings: RunSettings,
): RunState {
  const started = asRunStarted(record);
  const plan = plans.get(started.documents[0]?.name ?? "");
  if (plan === undefined) throw new ToolweaveError("INVALID_JOURNAL", "The journal's first record holds no workflow.");
  const root = newRoot(plan);
  const state: RunState = {
    runId: started.runId,
    plans,
    settings,
    identity: started.identity,
    documents: started.documents,
    masked: started.masked,
    createdAt: isoTime(record.at),
    root,
    nodes: new Map(),
    ready: new Queue(),
    seq: 0,
    updatedAt: record.at,
    intended: new Set(),
    questions: new Map(),
    closed: new Map(),
    timers: new Timers(),
    clocks: new Set(),
    standing: new Set(),
    writes: [],
    writesTotal: 0,
    warnings: [],
    undoErrors: [],
    cancelRequested: false,
    cancelBegun: false,
    ended: undefined,
    stops: 0,
    events: [],
  };
  enterFlow(state, root, started.input);
  state.seq = 1;
  return state;
}

function asRunStarted(record: JournalRecord): RunStarted {
  if (record.kind !== "run_started") {
    throw new ToolweaveError("INVALID_JOURNAL", "The journal does not begin with the start of a run.");
  }
  if (record.version !== journalVersion) {
    throw new ToolweaveError(
      "INVALID_JOURNAL",
      `The journal has version ${String(record.version)}; this version of the library reads version ${journalVersion}.`,
    );
  }
  return record;
}

/**
 * The plans of the workflows as the run began with them; those with code are taken from what is given.
 *
 * @throws ToolweaveError `CODE_REQUIRED` where one with code is not given.
 */
export function plansOf(record: JournalRecord, workflows: readonly Workflow[]): Map<string, WorkflowPlan> {
  const given = new Map(workflows.map((workflow) => [workflow.name, workflow]));
  return eachPlan(record, (snapshot) => planOfDocument(snapshot.name, codeOf(snapshot, given.get(snapshot.name))));
}

/** The plans to read a run by, not to drive it: code in them is not needed. */
export function plansToRead(record: JournalRecord): Map<string, WorkflowPlan> {
  return eachPlan(record, ({ name, document }) => planOfDocument(name, withoutCode(document)));
}

/** Plans of documents without code, as they were stored: what a store hands out again is not compiled again. */
const storedPlans = new WeakMap<DocumentSnapshot, WorkflowPlan>();

function eachPlan(
  record: JournalRecord,
  planWithCode: (snapshot: DocumentSnapshot) => WorkflowPlan,
): Map<string, WorkflowPlan> {
  return new Map(
    asRunStarted(record).documents.map((snapshot) => {
      const { name, document, code } = snapshot;
      if (code) return [name, planWithCode(snapshot)];
      const plan = storedPlans.get(snapshot) ?? planOfDocument(name, storedDocument(document));
      storedPlans.set(snapshot, plan);
      return [name, plan];
    }),
  );
}

function planOfDocument(name: string, document: object): WorkflowPlan {
  const definition = readDefinition(document);
  if (!(definition instanceof DefinitionError)) return definition.plan;
  throw new ToolweaveError("INVALID_JOURNAL", `The journal holds a workflow ${name} that does not check.`, {
    cause: definition,
  });
}

function codeOf(snapshot: DocumentSnapshot, given: Workflow | undefined): Workflow {
  if (given !== undefined && canonicalJson(documentJson(given)) === canonicalJson(snapshot.document)) return given;
  const why = given === undefined ? "was not given" : "was given with another document than the run began with";
  throw new ToolweaveError(
    "CODE_REQUIRED",
    `Workflow ${snapshot.name} holds code, which a journal can't keep, and ${why}. Pass it in options.workflows.`,
  );
}
