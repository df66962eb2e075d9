import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Question } from "../../src/core/question.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import { listQuestions, type QuestionFilter } from "../../src/driver/list-questions.js";
import { runToEnd } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { drain, flow, options, rejection, resume, write } from "./harness.js";

const open = write("open");
const door = flow([{ id: "open", tool: "open", inputs: { door: "north" } }], { name: "door" });
const who = flow([{ id: "who", ask: { prompt: "Who comes?" } }], { name: "who" });

async function start(store: RunStore, workflow: typeof door, runId: string) {
  const clock = fakeClock({ now: Date.UTC(2031, 4, Number(runId.replace(/\D/g, ""))) });
  return runToEnd(workflow, options({ store, runId, clock, tools: open, policy: undefined }));
}

async function listed(store: RunStore, filter?: QuestionFilter): Promise<string[]> {
  const questions: Question[] = [];
  for await (const question of listQuestions(store, filter)) questions.push(question);
  return questions.map(({ runId, id }) => `${runId} ${id}`);
}

async function threeRuns(): Promise<RunStore> {
  const store = memoryStore();
  await start(store, who, "run-2");
  await start(store, door, "run-1");
  await start(store, door, "run-3");
  return store;
}

describe("open questions are listed", () => {
  it("of all runs, oldest run first", async () => {
    expect(await listed(await threeRuns())).toEqual(["run-1 open?1", "run-2 who?1", "run-3 open?1"]);
  });

  it.each<[QuestionFilter, string[]]>([
    [{ runId: "run-2" }, ["run-2 who?1"]],
    [{ runId: "run-9" }, []],
    [{ workflow: "door" }, ["run-1 open?1", "run-3 open?1"]],
    [{ workflow: "door", runId: "run-2" }, []],
    [{ kind: "input" }, ["run-2 who?1"]],
    [{ kind: "in_doubt" }, []],
    [{ kind: "approval", runId: "run-3", workflow: "door" }, ["run-3 open?1"]],
  ])("of those that match %j", async (filter, expected) => {
    expect(await listed(await threeRuns(), filter)).toEqual(expected);
  });

  it("as the result shows them", async () => {
    const store = memoryStore();
    const { questions } = await start(store, door, "run-1");
    const seen: Question[] = [];
    for await (const question of listQuestions(store)) seen.push(question);
    expect(seen).toEqual(questions);
  });

  it("no more once they are answered, or their run is cancelled", async () => {
    const store = await threeRuns();
    await answerQuestion(store, "run-1", "open?1", { decision: "approve" });
    await cancelRun(store, "run-3");
    await drain(resume(store, { tools: open }, "run-3"));
    expect(await listed(store)).toEqual(["run-2 who?1"]);
  });

  it("of a workflow with code, by who has not the code", async () => {
    const store = memoryStore();
    const coded = flow(
      [
        { id: "count", run: () => 4 },
        { id: "age", ask: { prompt: "Age?", schema: z.number().int() } },
      ],
      { name: "coded", input_schema: z.object({}) },
    );
    await start(store, coded, "run-1");
    expect(await listed(store)).toEqual(["run-1 age?1"]);
    expect(await rejection(answerQuestion(store, "run-1", "age?1", { value: 1.5 }))).toMatchObject({
      code: "INVALID_ANSWER",
    });
    await answerQuestion(store, "run-1", "age?1", { value: 41 });
    expect(await listed(store)).toEqual([]);
  });

  it("also when a run is deleted on the way", async () => {
    const store = await threeRuns();
    const seen: string[] = [];
    for await (const { runId } of listQuestions(store)) {
      seen.push(runId);
      await store.delete("run-2");
    }
    expect(seen).toEqual(["run-1", "run-3"]);
  });
});

describe("a store that falters", () => {
  it("is read on behind what came", async () => {
    const store = await threeRuns();
    let faults = 0;
    const faulty: RunStore = {
      ...store,
      async *list(filter) {
        for await (const head of store.list(filter)) {
          if (head.runId === "run-2" && faults++ === 0) throw new Error("connection lost");
          yield head;
        }
      },
    };
    expect(await listed(faulty)).toEqual(["run-1 open?1", "run-2 who?1", "run-3 open?1"]);
    expect(faults).toBe(2);
  });

  it("is STORE_UNAVAILABLE when it stays away", async () => {
    const away: RunStore = {
      ...memoryStore(),
      // biome-ignore lint/correctness/useYield: it fails before it gives anything
      async *list() {
        throw new Error("no route");
      },
    };
    expect(await rejection(listed(away))).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { message: "no route" } });
  });
});
