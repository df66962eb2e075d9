import type { JsonValue } from "../../core/json.js";
import type { Point } from "./course.js";
import type { Played } from "./play.js";
import type { Option } from "./schedule.js";

/** What happened in a schedule, one line a step. What was stored as it should be goes without saying. */
export function storyOf({ course, result }: Played): string[] {
  const lines = course.points.flatMap((point) => lineOf(point) ?? []);
  if (result === undefined) return lines;
  const { status, error, writes } = result;
  const told = writes.map(({ path, state }) => `${path} ${state}`).join(", ") || "no writes";
  return [...lines, `The run ended: ${status}${error === undefined ? "" : ` (${error.message})`}; ${told}.`];
}

function lineOf({ at, menu, taken, pending }: Point): string | undefined {
  const [kind = "", ...rest] = at.split(" ");
  const place = rest.join(" ");
  const { take } = taken;
  if (kind === "record" && taken === menu[0]) return undefined;
  if (kind === "time") return `${time[take] ?? anywhere[take] ?? take}.`;
  if (take.endsWith(" first")) return `${place}: ${take.slice(0, -" first".length)} came first.`;
  const subject = pending?.kind === "call" ? `${place} (${pending.tool.name} ${shown(pending.inputs)})` : place;
  const words = { call: calls, question: questions, record: records }[kind]?.[take] ?? anywhere[take];
  return `${subject}: ${words ?? gave(taken)}.`;
}

/** What a person gave: a value, or fields that are changed. */
function gave({ take, given }: Option): string {
  if (given === undefined) return "a person gave a value that fits";
  return take.startsWith("edit") ? `a person approved, with ${shown(given)} instead` : `a person gave ${shown(given)}`;
}

const maxShown = 120;

/** As JSON, cut where it is too long to be read. */
function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= maxShown ? text : `${text.slice(0, maxShown).toWellFormed()}…`;
}

type Words = Readonly<Record<string, string>>;

const calls: Words = {
  returns: "the call arrived and was answered",
  fails: "the call failed, nothing was done",
  "fails for good": "the call failed, nothing was done, and it will always fail",
  refused: "the call was refused, nothing was done",
  "reply lost": "the call was made, and its reply was lost",
  "request lost": "the call never arrived, and the connection was cut",
  "aborted, made": "the call was made, and aborted before it returned",
  "aborted, not made": "the call was aborted, nothing was done",
  "hangs, made": "the call was made, and never returned",
  "hangs, not made": "the call never arrived, and never returned",
  "dies, made": "the call was made, and the process died before its outcome was stored; another one carried the run on",
  "dies, not made": "the process died before the call arrived; another one carried the run on",
  lost: "its call never arrived",
  arrives: "its call arrived all the same",
};

const questions: Words = {
  approve: "a person approved",
  reject: "a person rejected",
  later: "nobody answered, and the run was left waiting",
  "two answers": "one person approved, another rejected from elsewhere at the same moment",
  done: "a person looked, and said that it was done",
  not_applied: "a person looked, and said that it was not done",
  retry: "a person looked, saw that it was not done, and said to try again",
  fail: "a person said that nobody knows",
};

const records: Words = {
  "dies before": "the process died before this was stored; another one carried the run on",
  "dies after": "the process died as soon as this was stored; another one carried the run on",
  "out of reach, not stored": "the store was out of reach, and this was not stored",
  "cancelled before": "the run was cancelled just before this could be stored",
  "out of reach, stored": "this was stored, and the store did not say so",
};

const anywhere: Words = {
  cancel: "the run was cancelled here",
  "taken over": "another process took the run over here",
  "taken over, unheard": "another process took the run over here, and the former one did not hear of it",
  leaves: "the host left the run here, and another process carried it on",
  dies: "the process died here; another one carried the run on",
  "time passes": "time passed until the next thing was due",
};

const time: Words = { passes: "Time passed until the next thing was due" };
