import { isToolweaveError, ToolweaveError } from "../../core/errors.js";
import type { Question } from "../../core/question.js";
import type { RunResult } from "../../core/result.js";
import { answerQuestion } from "../../driver/answer.js";
import { renewStates } from "../fake-state.js";
import { callMenu, isBroken, settle } from "./calls.js";
import { Course } from "./course.js";
import { judge } from "./judge.js";
import { questionMenu, withOthers } from "./menus.js";
import type { Asked, End, Flight, Pending, Process } from "./process.js";
import type { Menu, Schedule } from "./schedule.js";
import type { Setup } from "./setup.js";
import { runId, Stage } from "./stage.js";
import type { Witness } from "./witness.js";

/** What one schedule came to. */
export interface Played {
  readonly course: Course;
  readonly witness: Witness;
  /** Of a run that came to its end. */
  readonly result: RunResult | undefined;
  readonly hasRaced: boolean;
}

/** The real one: a test may have put a fake in its place. */
const { setImmediate } = globalThis;

/** A run that has not ended by then never will. */
const maxMoves = 5_000;

/** Plays one schedule from beginning to end. */
export async function play(setup: Setup, schedule: Schedule): Promise<Played> {
  renewStates();
  const course = new Course(schedule);
  const stage = new Stage(setup, course);
  const { witness } = stage;
  stage.open();
  const result = await toTheEnd(stage);
  for (const process of stage.processes) process.isDead = true;
  await allQuiet();
  if (result !== undefined) {
    const problem = judge(result, witness);
    if (problem !== undefined) witness.find(problem);
    await checkBy(setup, witness, result);
  }
  return { course, witness, result, hasRaced: stage.hasRaced };
}

async function checkBy({ check }: Setup, witness: Witness, result: RunResult): Promise<void> {
  try {
    await check?.({ writes: witness.writes }, result);
  } catch (error) {
    witness.find(`The check failed: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** Until nothing goes on by itself: no process of a stage waits for anything but its course. */
function allQuiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function toTheEnd(stage: Stage): Promise<RunResult | undefined> {
  const { witness } = stage;
  for (let moves = 0; moves < maxMoves; moves++) {
    await allQuiet();
    if (witness.problem !== undefined) return undefined;
    const { driver } = stage;
    if (driver === undefined || driver.isDead) stage.open();
    else if (driver.end === undefined) moveOn(stage, driver);
    else if (hasCalls(stage)) moveOn(stage, driver);
    else {
      const result = await afterEnd(stage, driver, driver.end);
      if (result !== undefined) return result;
    }
  }
  witness.find(`The run does not end: it went on ${maxMoves} times.`);
  return undefined;
}

function hasCalls({ pending }: Stage): boolean {
  for (const { kind } of pending) if (kind === "call") return true;
  return false;
}

/** The result of a run that came to its end; else another process carries it on. */
async function afterEnd(stage: Stage, driver: Process, end: End): Promise<RunResult | undefined> {
  for (const process of stage.processes) {
    if (!process.isDead && process.end !== undefined) checkEnd(stage, process, process.end);
  }
  if ("result" in end && end.result !== undefined) {
    if (end.result.status !== "waiting") return end.result;
    for (const question of end.result.questions ?? []) {
      if (driver.given.has(question.id)) throw unfit(question);
      await answerLater(stage, question);
    }
  }
  stage.open();
  return undefined;
}

/** A stream ends in a result, or in an error that says why this process can't go on. */
function checkEnd({ witness, driver }: Stage, process: Process, end: End): void {
  if ("result" in end) {
    if (end.result === undefined && !process.hasLeft) witness.find("A stream ended without a result.");
    return;
  }
  const { error } = end;
  const code = isToolweaveError(error) ? error.code : undefined;
  if (code === "RUN_TAKEN_OVER" && process !== driver) return;
  if (code === "STORE_UNAVAILABLE" && process.isCutOff) return;
  // Nothing has happened yet: it is the simulation that was called in a wrong way.
  if (witness.journal.length === 0) throw error;
  witness.find(`A stream threw ${code ?? "an error"}: ${error instanceof Error ? error.message : String(error)}`);
}

function unfit({ stepId }: Question): ToolweaveError {
  return new ToolweaveError(
    "INVALID_OPTIONS",
    `simulate: what answers holds for step ${stepId} does not fit its question.`,
  );
}

/** Somebody answers from elsewhere, after the run was left waiting. */
async function answerLater(stage: Stage, question: Question): Promise<void> {
  const { person, course, clock, setup } = stage;
  const { expiresAt } = question;
  const menu = person.answersTo(question, true);
  const take = course.choose(`question ${question.id}`, withOthers(menu, [], expiresAt !== undefined, setup.faults));
  if (take === "time passes" && expiresAt !== undefined) return clock.moveTo(Date.parse(expiresAt));
  await answerQuestion(stage.store, runId, question.id, person.answer(question, take), {
    clock: clock.of({ isDead: false }),
  }).catch((error) => stage.witness.find(`Question ${question.id} could not be answered: ${error}`));
}

/** What comes next comes: what has waited longest, unless the course says otherwise. */
function moveOn(stage: Stage, driver: Process): void {
  const { course, clock, setup, witness } = stage;
  const [first, ...others] = readyIn(stage);
  if (first === undefined) {
    if (clock.isAwaited) stage.disturb(driver, course.choose("time", setup.menus.time));
    else witness.find("The run stands still: nothing is on its way, nobody is asked, and no time is awaited.");
    return;
  }
  if (others.some(({ process }) => process === first.process)) stage.hasRaced = true;
  const places = others.map(({ place }) => `${place} first`);
  const take = goOn(stage, driver, first, (menu) => withOthers(menu, places, clock.isAwaited, setup.faults));
  const next = others[places.indexOf(take)];
  if (next !== undefined) goOn(stage, driver, next, (menu) => menu);
}

/** @returns what was taken */
function goOn(stage: Stage, driver: Process, pending: Pending, extend: (menu: Menu) => Menu): string {
  return pending.kind === "call"
    ? goOnWithCall(stage, driver, pending, extend)
    : goOnWithQuestion(stage, driver, pending, extend);
}

function goOnWithCall(stage: Stage, driver: Process, flight: Flight, extend: (menu: Menu) => Menu): string {
  const { setup, course, pending } = stage;
  const { context, tool, process, place } = flight;
  const isDropped = tool.effect === "read" && context.signal.aborted;
  const take = isDropped
    ? "aborted, not made"
    : isBroken(stage, flight)
      ? "fails for good"
      : course.choose(place, extend(callMenu(setup.menus, flight)), flight);
  if (take.endsWith(" first")) return take;
  if (stage.disturb(take === "dies" ? process : driver, take)) return take;
  pending.delete(flight);
  settle(stage, flight, take);
  return take;
}

function goOnWithQuestion(stage: Stage, driver: Process, asked: Asked, extend: (menu: Menu) => Menu): string {
  const { setup, course, person, lastingAnswers, pending } = stage;
  const { question, process, place } = asked;
  const menu = questionMenu(person.answersTo(question), setup.faults);
  const take = lastingAnswers.get(question.id) ?? course.choose(place, extend(menu), asked);
  if (take.endsWith(" first")) return take;
  if (stage.disturb(take === "dies" ? process : driver, take)) return take;
  pending.delete(asked);
  if (menu.some((option) => option.take === take && option.bearing === "lasting"))
    lastingAnswers.set(question.id, take);
  if (take === "two answers") {
    void answerQuestion(stage.store, runId, question.id, person.answer(question, "reject"), {
      clock: stage.clock.of(process),
    }).catch(() => undefined);
  }
  if (take === "later") asked.resolve(undefined);
  else {
    process.given.add(question.id);
    asked.resolve(person.answer(question, take));
  }
  return take;
}

/** What waits for the course and may go on. */
function readyIn({ pending, witness }: Stage): Pending[] {
  const ready: Pending[] = [];
  const keys = new Set<string>();
  for (const one of pending) if (one.kind === "call") keys.add(one.context.idempotencyKey);
  for (const one of pending) {
    if (one.kind === "question") {
      const { question, process } = one;
      if (process.end !== undefined || witness.isAnswered(question.id)) {
        pending.delete(one);
        one.resolve(undefined);
        continue;
      }
      // Whether a write was made is not known to anybody as long as its call is on its way.
      if (question.kind === "in_doubt" && keys.has(`${runId}:${question.path}`)) continue;
    }
    ready.push(one);
  }
  return ready;
}
