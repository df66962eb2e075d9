import { describe, expect, it, test } from "vitest";
import { calledWorkflows } from "../../src/core/call-sites.js";
import { defineWorkflow, planOf } from "../../src/core/define.js";
import type { StepDocument, Workflow } from "../../src/core/document.js";
import { beginRun, plansOf, plansToRead, readSettings } from "../../src/core/fold.js";
import { inputMismatch } from "../../src/core/mismatch.js";
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

function codeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

describe("a journal that is none", () => {
  const plans = new Map([["plain", planOf(plain)]]);
  it.each<[name: string, record: JournalRecord]>([
    ["that does not begin with a start", { kind: "begun", path: "a", at: 0 }],
    ["of another version", JSON.parse(JSON.stringify({ ...started(snapshot(plain)), version: 2 }))],
    ["without a workflow", started()],
    ["of a workflow that is not there", started(snapshot(coded))],
  ])("is refused: one %s", (_name, record) => {
    expect(codeOf(() => beginRun(record, plans, readSettings))).toBe("INVALID_JOURNAL");
  });
});

describe("the plans of a journal", () => {
  const names = (plans: ReadonlyMap<string, unknown>) => [...plans.keys()];
  it("are those that the run began with", () => {
    expect(names(plansOf(started(snapshot(plain)), []))).toEqual(["plain"]);
    expect(plansOf(started(snapshot(plain), snapshot(coded, true)), [coded]).get("coded")).toBe(planOf(coded));
  });

  it.each<[name: string, documents: DocumentSnapshot[], given: Workflow[], code: string]>([
    ["code that is not given", [snapshot(coded, true)], [], "CODE_REQUIRED"],
    ["code of another document", [snapshot(coded, true)], [other], "CODE_REQUIRED"],
    ["a document that does not check", [{ name: "plain", document: {} }], [], "INVALID_JOURNAL"],
    ["a document that is none", [{ name: "plain", document: 1 }], [], "INVALID_JOURNAL"],
  ])("are refused for %s", (_name, documents, given, code) => {
    expect(codeOf(() => plansOf(started(...documents), given))).toBe(code);
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

test("an input that does not fit is told with five of its faults", () => {
  const issues = ["", "/b", "/c", "/d", "/e", "/f", "/g"].map((pointer) => ({ pointer, message: "no" }));
  const few = "Tool t: the input does not fit its schema: /: no; /b: no";
  expect(inputMismatch("Tool t", issues.slice(0, 2)).message).toBe(few);
  expect(inputMismatch("Tool t", issues).message).toBe(`${few}; /c: no; /d: no; /e: no; and 2 more`);
});
