import type { z } from "zod";
import { documentSchema, isPlainObject, stepKeys, stepKinds } from "./document.js";
import type { Problem } from "./errors.js";
import { nearest } from "./nearest.js";
import { pointerTo } from "./path.js";

/**
 * What is wrong with the form of a document. Every value at fault is taken out of it (`undefined` stands in its place),
 * so that all else can be read as what its type says, save that a required property may be missing.
 */
export function takeOutFaults(document: unknown): Problem[] {
  const problems: Problem[] = [];
  if (isPlainObject(document)) addStepProblems(problems, document.steps, "/steps");
  const { error } = documentSchema().safeParse(document);
  const faulty: (readonly PropertyKey[])[] = [];
  for (const issue of error?.issues ?? []) {
    for (const problem of issueProblems(issue, document)) problems.push(problem);
    // A name that is text can stay: what refers to it is no fault of its own.
    const isText = typeof at(document, issue.path) === "string" && codeOf(issue) === "INVALID_NAME";
    if (issue.code !== "unrecognized_keys" && !isText) faulty.push(issue.path);
  }
  for (const path of faulty) takeOut(document, path);
  return problems;
}

function issueProblems(issue: z.core.$ZodIssue, document: unknown): Problem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(", ");
    return issue.keys.map((key) => {
      const near = nearest(key, known);
      const hint =
        near === undefined ? `Expected one of ${known.join(", ")}.` : `Did you mean ${JSON.stringify(near)}?`;
      return {
        code: "UNKNOWN_KEY",
        message: `${JSON.stringify(key)} is no key of ${subject(issue.path)}. ${hint}`,
        pointer: pointerTo([...path, key]),
      };
    });
  }
  const isMissing = at(document, issue.path) === undefined;
  const message = `${capitalized(subject(issue.path))} ${isMissing ? "is missing: it " : ""}must be ${issue.message}.`;
  return [{ code: codeOf(issue), message, pointer: pointerTo(path) }];
}

function codeOf(issue: z.core.$ZodIssue): Problem["code"] {
  const code: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return code === "INVALID_NAME" || code === "INVALID_TEMPLATE" ? code : "INVALID_DOCUMENT";
}

function subject(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return "a workflow document";
  return typeof last === "number" ? `element ${last} of ${subject(path.slice(0, -1))}` : JSON.stringify(last);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function at(document: unknown, path: readonly PropertyKey[]): unknown {
  let value = document;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

function takeOut(document: unknown, path: readonly PropertyKey[]): void {
  const holder = at(document, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof holder !== "object" || holder === null || key === undefined || !Object.hasOwn(holder, key)) return;
  Reflect.set(holder, key, undefined);
}

const knownKeys: ReadonlySet<string> = new Set(stepKeys);

/** Keys that a step may have with some kinds only. */
const onlyWith: ReadonlyMap<string, (kind: string) => boolean> = new Map([
  ["inputs", (kind: string) => kind === "tool" || kind === "workflow"],
  ["output_key", (kind: string) => kind !== "tool_dispatch"],
  ...["retries", "timeout_ms", "fallback", "compensate"].map(
    (key) => [key, (kind: string) => kind !== "ask" && kind !== "sleep_ms"] as const,
  ),
]);

function addStepProblems(problems: Problem[], steps: unknown, pointer: string): void {
  if (!Array.isArray(steps)) return;
  steps.forEach((step: unknown, index) => {
    if (!isPlainObject(step)) return;
    const place = `${pointer}/${index}`;
    addKindProblems(problems, step, place);
    const { tool_dispatch, parallel } = step;
    if (isPlainObject(tool_dispatch)) addHandlerProblems(problems, tool_dispatch.tools, `${place}/tool_dispatch/tools`);
    if (parallel !== undefined) addStepProblems(problems, parallel, `${place}/parallel`);
  });
}

function addKindProblems(problems: Problem[], step: Record<string, unknown>, pointer: string): void {
  const kinds = stepKinds.filter((kind) => Object.hasOwn(step, kind));
  const [kind] = kinds;
  if (kind === undefined) {
    const isMisspelt = Object.keys(step).some((key) => !knownKeys.has(key) && nearest(key, stepKinds) !== undefined);
    // A key that is unknown is reported as that, with the kind that it stands for.
    if (isMisspelt) return;
    const message = `${stepName(step)} does nothing: give it exactly one of ${stepKinds.join(", ")}.`;
    problems.push({ code: "INVALID_STEP", message, pointer });
  } else if (kinds.length > 1) {
    const message = `${stepName(step)} has ${kinds.join(" and ")}: give it exactly one of them.`;
    problems.push({ code: "INVALID_STEP", message, pointer });
  } else {
    for (const key of Object.keys(step)) {
      if (onlyWith.get(key)?.(kind) !== false) continue;
      const message = `${stepName(step)} has ${JSON.stringify(key)}, which goes not with ${JSON.stringify(kind)}: remove it.`;
      problems.push({ code: "INVALID_STEP", message, pointer: `${pointer}/${key}` });
    }
  }
}

function stepName({ id }: Record<string, unknown>): string {
  return typeof id === "string" ? `Step ${JSON.stringify(id.slice(0, 64))}` : "A step";
}

/** What the runtime lays beside the mapped input of a handler. */
export const callKeys: readonly string[] = [
  "tool_call",
  "tool_name",
  "tool_arguments",
  "tool_call_id",
  "tool_call_index",
];

function addHandlerProblems(problems: Problem[], handlers: unknown, pointer: string): void {
  if (!isPlainObject(handlers)) return;
  for (const [name, handler] of Object.entries(handlers)) {
    const place = pointer + pointerTo([name]);
    // The document's schema passes over this one name.
    if (name === "__proto__") {
      const message = `A handler can't be named ${JSON.stringify(name)}.`;
      problems.push({ code: "INVALID_NAME", message, pointer: place });
    } else if (isPlainObject(handler)) {
      if (Object.hasOwn(handler, "flow") === Object.hasOwn(handler, "tool")) {
        const message = `Handler ${JSON.stringify(name)} must have exactly one of flow and tool.`;
        problems.push({ code: "INVALID_DOCUMENT", message, pointer: place });
      }
      const { input } = handler;
      for (const key of isPlainObject(input) ? callKeys.filter((reserved) => Object.hasOwn(input, reserved)) : []) {
        const message = `${JSON.stringify(key)} can't be mapped: every handler is given it under that name.`;
        problems.push({ code: "INVALID_NAME", message, pointer: `${place}/input/${key}` });
      }
    }
  }
}
