import { describe, expect, it, test } from "vitest";
import { calledWorkflows } from "../../src/core/call-sites.js";
import { defineWorkflow, planOf } from "../../src/core/define.js";
import type { StepDocument, Workflow } from "../../src/core/document.js";
import { DefinitionError, isToolweaveError } from "../../src/core/errors.js";
import { beginRun, plansOf, plansToRead, readSettings } from "../../src/core/fold.js";
import type { DocumentSnapshot, JournalRecord } from "../../src/core/record.js";
import { documentJson } from "../../src/core/stored-document.js";

const plain = defineWorkflow({ name: "plain", steps: [{ id: "a", tool: "t" }] });
const coded = defineWorkflow({ name: "coded", steps: [{ id: "a", run: () => 1 }] });
const other = defineWorkflow({ name: "coded", steps: [{ id: "b", run: () => 1 }] });

function started(...documents: DocumentSnapshot[]): JournalRecord {
  return { kind: "run_started", version: 1, runId: "r", documents, input: {}, identity: "i", driver: "d", at: 0 };
}

function snapshot(workflow: Workflow, code?: true): DocumentSnapshot {
  return { name: workflow.name, document: documentJson(workflow), ...(code && { code }) };
}

function refusal(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return isToolweaveError(error) ? `${error.code}: ${error.message}` : error;
  }
}

describe("a journal that is none", () => {
  const plans = new Map([["plain", planOf(plain)]]);
  it.each<[name: string, record: JournalRecord, message: string]>([
    [
      "that does not begin with a start",
      { kind: "begun", path: "a", at: 0 },
      "The journal does not begin with the start of a run.",
    ],
    [
      "of another version",
      JSON.parse(JSON.stringify({ ...started(snapshot(plain)), version: 2 })),
      "The journal has version 2; this version of the library reads version 1.",
    ],
    ["without a workflow", started(), "The journal's first record holds no workflow."],
    ["of a workflow that is not there", started(snapshot(coded)), "The journal's first record holds no workflow."],
  ])("is refused: one %s", (_name, record, message) => {
    expect(refusal(() => beginRun(record, plans, readSettings))).toBe(`INVALID_JOURNAL: ${message}`);
  });
});

describe("the plans of a journal", () => {
  const names = (plans: ReadonlyMap<string, unknown>) => [...plans.keys()];
  it("are those that the run began with", () => {
    expect(names(plansOf(started(snapshot(plain)), []))).toEqual(["plain"]);
    expect(plansOf(started(snapshot(plain), snapshot(coded, true)), [coded]).get("coded")).toBe(planOf(coded));
  });

  const needed = (why: string) =>
    `CODE_REQUIRED: Workflow coded holds code, which a journal can't keep, and ${why}. Pass it in options.workflows.`;
  const unchecked = "INVALID_JOURNAL: The journal holds a workflow plain that does not check.";
  it.each<[name: string, documents: DocumentSnapshot[], given: Workflow[], refused: string]>([
    ["code that is not given", [snapshot(coded, true)], [], needed("was not given")],
    [
      "code of another document",
      [snapshot(coded, true)],
      [other],
      needed("was given with another document than the run began with"),
    ],
    ["a document that does not check", [{ name: "plain", document: {} }], [], unchecked],
    [
      "a document that is none",
      [{ name: "plain", document: 1 }],
      [],
      "INVALID_JOURNAL: The journal holds a workflow document that is no object.",
    ],
  ])("are refused for %s", (_name, documents, given, refused) => {
    expect(refusal(() => plansOf(started(...documents), given))).toBe(refused);
  });

  it("say what does not check", () => {
    const read = () => plansOf(started({ name: "plain", document: {} }), []);
    expect(read).toThrowError(expect.objectContaining({ cause: expect.any(DefinitionError) }));
  });

  it("need no code to be read by", () => {
    expect(names(plansToRead(started(snapshot(plain), snapshot(coded, true))))).toEqual(["plain", "coded"]);
  });
});

test("the workflows that a workflow's own steps call", () => {
  const steps: StepDocument[] = [
    { id: "a", workflow: "one" },
    { id: "b", parallel: [{ id: "c", repeat: { workflow: "two", state: 0, max_iterations: 1 } }] },
    { id: "d", for_each: { items: [], workflow: "three" } },
    { id: "e", tool_dispatch: { source_key: "x", tools: { t: { tool: "t" }, f: { flow: "four" } } } },
    { id: "f", tool: "t" },
  ];
  expect([...calledWorkflows(planOf(defineWorkflow({ name: "w", steps })))]).toEqual(["one", "two", "three", "four"]);
});
