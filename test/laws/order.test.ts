import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { RunResult } from "../../src/core/result.js";
import { answerQuestion } from "../../src/driver/answer.js";
import type { QuestionEvent } from "../../src/driver/options.js";
import { attend, finish, journalOf, open, runId, type Trial, trial } from "./drive-sample.js";
import { judge, outcomeOf } from "./judge.js";
import type { Sample } from "./sample.js";
import { Life } from "./world.js";

const letters = ["a", "b", "c", "d"] as const;

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

const orders = permutations(letters).map((order) => [order.join(""), order] as const);

const asks: Sample = {
  name: "asks",
  workflow: defineWorkflow({
    name: "asks",
    steps: [
      { id: "all", parallel: letters.map((id) => ({ id, ask: { prompt: `What is ${id}?` } })) },
      { id: "end", tool: "look", inputs: { give: "{{steps.all.result}}" } },
    ],
  }),
  workflows: [],
  input: {},
  races: false,
};

const writes = (fails: boolean): Sample => ({
  name: "writes",
  workflow: defineWorkflow({
    name: "writes",
    steps: [
      {
        id: "all",
        parallel: letters.map((id) => ({
          id,
          tool: id < "c" ? "put" : "post",
          inputs: { give: id },
          compensate: { tool: "erase", inputs: { of: `{{steps.${id}.result.id}}` } },
        })),
      },
      { id: "end", tool: "look", inputs: { give: "{{steps.all.result}}", b: fails ? "fail" : "ok" } },
    ],
  }),
  workflows: [],
  input: {},
  races: false,
});

describe.each([false, true])("four writes side by side, what follows fails: %s", (fails) => {
  test("come to the same, in whatever order they settle", async () => {
    const expected = trial(writes(fails), "approve");
    const outcome = outcomeOf(await finish(expected), expected.world);
    for (const [name, order] of orders) {
      const run = trial(writes(fails), "approve");
      const result = await inOrder(
        run,
        order.map((id) => `all/${id}`),
      );
      judge(result, run.world, await journalOf(run));
      expect(outcomeOf(result, run.world), name).toEqual(outcome);
      if (!fails) continue;
      const undone = run.world.effects.map(({ key }) => key).filter((key) => key.endsWith("~undo"));
      expect(undone, name).toEqual([...order].reverse().map((id) => `${runId}:all/${id}~undo`));
    }
  });
});

const items: Sample = {
  name: "items",
  workflow: defineWorkflow({
    name: "items",
    steps: [
      {
        id: "each",
        for_each: { items: letters, workflow: "one", inputs: { give: "{{item}}" }, max_concurrent: letters.length },
      },
    ],
  }),
  workflows: [
    defineWorkflow({
      name: "one",
      steps: [{ id: "write", tool: "put", inputs: { give: "{{input.give}}" } }],
      output: "{{steps.write.result.given}}",
    }),
  ],
  input: {},
  races: false,
};

test("items give their results in their own order, in whatever order they settle", async () => {
  for (const [name, order] of orders) {
    const result = await inOrder(
      trial(items, "approve"),
      order.map((letter) => `each[${letters.indexOf(letter)}]/write`),
    );
    expect(result.output, name).toEqual(letters);
  }
});

describe("four questions side by side come to the same, in whatever order they are answered", () => {
  const expected = letters.map((id) => [id, `value ${id}`]);
  const given = { id: "look:end", given: Object.fromEntries(expected) };

  test.each(orders)("%s, by their events", async (_name, order) => {
    const run = trial(asks, "approve");
    const life = new Life();
    const stream = await open(run, life);
    const questions = new Map<string, QuestionEvent>();
    for await (const event of stream) {
      if (event.type === "question") questions.set(event.stepId, event);
      if (event.type === "result") expect(event.output).toEqual(given);
      if (questions.size < letters.length) continue;
      for (const id of order) await questions.get(id)?.answer({ value: `value ${id}` });
      questions.clear();
    }
    expect((await journalOf(run)).at(-1)).toMatchObject({ kind: "run_ended", status: "completed" });
  });

  test.each(orders)("%s, each by its id, before a resume each", async (_name, order) => {
    const run = trial(asks, "approve");
    for (const id of [undefined, ...order]) {
      if (id !== undefined) await answerQuestion(run.store, runId, `all/${id}?1`, { value: `value ${id}` });
      const stream = await open(run, new Life());
      for await (const event of stream) {
        if (event.type !== "result") continue;
        const isLast = id === order.at(-1);
        expect(event.status).toBe(isLast ? "completed" : "waiting");
        if (isLast) expect(event.output).toEqual(given);
      }
    }
  });

  test.each(orders)("%s, each by its id, while the run is driven", async (_name, order) => {
    const run = trial(asks, "approve");
    const stream = await open(run, new Life());
    let asked = 0;
    for await (const event of stream) {
      if (event.type === "question") asked++;
      if (event.type === "result") expect(event.output).toEqual(given);
      if (asked < letters.length) continue;
      for (const id of order) await answerQuestion(run.store, runId, `all/${id}?1`, { value: `value ${id}` });
      asked = 0;
    }
  });

  test("two answers to one question at the same moment: one stands, the other is told", async () => {
    const run = trial(asks, "approve");
    const stream = await open(run, new Life());
    for await (const event of stream) {
      if (event.type !== "question") continue;
      const answers = await Promise.allSettled([
        event.answer({ value: "first" }),
        answerQuestion(run.store, runId, event.id, { value: "second" }),
        event.answer({ value: "third" }),
      ]);
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason.code] : []));
      expect(refused).toEqual(["ALREADY_ANSWERED", "ALREADY_ANSWERED"]);
    }
    const kept = (await journalOf(run)).filter(({ kind }) => kind === "question_answered");
    expect(kept).toHaveLength(letters.length);
  });
});

/** Drives a run whose writes, which are in flight together, settle in the order of their paths. */
async function inOrder(run: Trial, paths: readonly string[]): Promise<RunResult> {
  const opens = new Map<string, () => void>();
  for (const path of paths) run.world.gates.set(path, new Promise((resolve) => opens.set(path, resolve)));
  const life = new Life();
  const done = attend(run, await open(run, life), life);
  await untilTrue(() => life.flights.size === paths.length);
  for (const path of paths) {
    opens.get(path)?.();
    await untilTrue(() => run.world.has(`${runId}:${path}`));
  }
  const result = await done;
  if (result === undefined) throw new Error("A run that nothing happened to gave no result.");
  return result;
}

async function untilTrue(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
