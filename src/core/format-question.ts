import type { JsonValue } from "./json.js";
import type { ApprovalQuestion, DoubtQuestion, InputQuestion, Question } from "./question.js";
import { visible, visibleJson, visibleLines, visibleName } from "./visible-text.js";

/**
 * A question as text for a person: what is asked about with every field and its whole value, what undoes it or that
 * nothing does, why it is asked, when the question ends, and how to answer.
 *
 * Text that comes from elsewhere can't pretend: each line begins with a word of this function, or is indented below one;
 * control, bidi and zero-width characters, unusual blanks and long runs of blanks are written as escapes (`\u{202e}`).
 * Where lines are wrapped for showing, indent what is wrapped.
 */
export function formatQuestion(question: Question): string {
  return `${linesOf(question).join("\n")}\n`;
}

function linesOf(question: Question): string[] {
  if (question.kind === "approval") return approvalLines(question);
  return question.kind === "input" ? inputLines(question) : doubtLines(question);
}

const headings = {
  step: "May this write be made?",
  undo: "May this undo be made?",
  fallback: "May this write be made, in place of one that failed?",
} as const;

function approvalLines(question: ApprovalQuestion): string[] {
  const { purpose, reason, supersedes, schema } = question;
  const edits = schema === undefined ? "" : ', with "fields": { … } for those that are to change';
  return [
    headings[purpose],
    "",
    ...writeLines(question),
    ...(supersedes === undefined ? [] : [line("Again", `what would run has changed since ${visible(supersedes)}`)]),
    ...(reason === undefined ? [] : [prose("Why", reason)]),
    ending(question, "it then expires, and the write is not made"),
    line("Answer", `{ "decision": "approve" }${edits}, or { "decision": "reject" }`),
    ...places(question),
    line("Bound to", visible(question.fingerprint)),
  ];
}

function doubtLines(question: DoubtQuestion): string[] {
  const { error, attempt } = question;
  return [
    "Was this write made? Nobody knows: look at the site.",
    "",
    ...writeLines(question),
    prose("Why", `attempt ${attempt} ended with ${error.code}: ${error.message}`),
    ending(question, "it then expires"),
    line("Answer", '{ "decision": "done", "result": … } if it was made; "not_applied" if it was not;'),
    `${indent}"retry" to make it again; "fail" if it can't be found out`,
    ...places(question),
    line("Bound to", visible(question.fingerprint)),
  ];
}

function inputLines(question: InputQuestion): string[] {
  const { prompt, schema, default: value } = question;
  const end = value === undefined ? "the step then fails" : "the default is then taken";
  return [
    "A value is wanted.",
    "",
    typeof prompt === "string" ? prose("Prompt", prompt) : line("Prompt", visibleJson(prompt, 1)),
    ...(schema === undefined ? [] : [line("Schema", visibleJson(schema, 1))]),
    ...(value === undefined ? [] : [line("Default", visibleJson(value, 1))]),
    ending(question, end),
    line("Answer", '{ "value": … }'),
    ...places(question),
  ];
}

function writeLines({ page, action, tool, site, fields, labels, undo }: ApprovalQuestion | DoubtQuestion): string[] {
  const names = Object.keys(fields);
  return [
    ...(page === undefined ? [] : [line("Page", visible(page))]),
    line("Action", visible(action)),
    line("Tool", visible(tool)),
    ...(site === undefined ? [] : [line("Site", visible(site))]),
    names.length === 0 ? line("Fields", "none") : "Fields:",
    ...Object.entries(fields).map(([name, value]) => field(name, labels, value)),
    line("Undo", undo === null ? "nothing undoes it" : `${visibleName(undo.tool)} undoes it`),
  ];
}

function field(name: string, labels: Readonly<Record<string, string>> | undefined, value: JsonValue): string {
  const label = labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined;
  const shown = label === undefined ? visibleName(name) : `${visibleName(name)} (${visibleName(label)})`;
  if (typeof value === "string" && value.includes("\n")) return `  ${shown}:\n${visibleLines(value, "    ")}`;
  return `  ${shown}: ${visibleJson(value, 1)}`;
}

function ending({ expiresAt }: Question, then: string): string {
  return line(
    "Ends",
    expiresAt === undefined ? "it stays open until it is answered" : `${visible(expiresAt)}: ${then}`,
  );
}

function places({ id, runId, path, askedAt }: Question): string[] {
  return [
    line("Step", visible(path)),
    line("Question", visible(id)),
    line("Asked", visible(askedAt)),
    line("Run", visible(runId)),
  ];
}

const indent = " ".repeat(10);

function line(label: string, text: string): string {
  return `${`${label}:`.padEnd(indent.length)}${text}`;
}

function prose(label: string, text: string): string {
  return text.includes("\n") ? `${label}:\n${visibleLines(text, "  ")}` : line(label, visible(text));
}
