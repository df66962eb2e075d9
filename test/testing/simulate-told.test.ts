import { describe, expect, it, test } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { JsonObject } from "../../src/core/json.js";
import { fakeState } from "../../src/testing/fake-state.js";
import { fakeTool } from "../../src/testing/fake-tool.js";
import { type SimulateOptions, SimulationError, simulate } from "../../src/testing/simulate.js";

const tools = [fakeTool({ name: "record_payment", execute: () => null })];

const pay = defineWorkflow({
  name: "pay",
  steps: [
    { id: "amount", ask: { prompt: "How much?", schema: { type: "integer" } } },
    { id: "pay", tool: "record_payment", inputs: { amount: "{{steps.amount.result}}", note: "{{input.note ?? 1}}" } },
  ],
});

async function errorOf(simulation: Promise<unknown>): Promise<SimulationError> {
  const error = await simulation.catch((thrown: unknown) => thrown);
  if (error instanceof SimulationError) return error;
  throw error ?? new Error("Nothing was violated.");
}

describe("the story of a violation", () => {
  const wrong = new Error("wrong");
  const check = () => {
    throw wrong;
  };

  async function storyOf(options: Partial<SimulateOptions<JsonObject>>): Promise<readonly string[]> {
    const { violation } = await errorOf(simulate(pay, { tools, check, replay: [], ...options }));
    return violation.story;
  }

  it("shows of a call its tool and its inputs, and of an answer what was given", async () => {
    expect(await storyOf({ answers: { amount: [40] } })).toEqual([
      "amount?1: a person gave 40.",
      "pay?1: a person approved.",
      'pay (record_payment {"amount":40,"note":1}): the call arrived and was answered.',
      "The run ended: completed; pay done.",
    ]);
  });

  it("shows what a person changed, and which of the values was given", async () => {
    const answers = { amount: [40, 41], pay: [{ amount: 50 }] };
    const replay = [
      { at: "question amount?1", take: "value 2" },
      { at: "question pay?1", take: "edit 1" },
    ];
    expect((await storyOf({ answers, replay })).slice(0, 3)).toEqual([
      "amount?1: a person gave 41.",
      'pay?1: a person approved, with {"amount":50} instead.',
      'pay (record_payment {"amount":50,"note":1}): the call arrived and was answered.',
    ]);
  });

  it("says so where a value was made up, and cuts inputs that are long", async () => {
    const [asked, , called = ""] = await storyOf({ input: { note: "x".repeat(10_000) } });
    expect(asked).toBe("amount?1: a person gave a value that fits.");
    expect(called).toMatch(/^pay \(record_payment \{"amount":1,"note":"x+…\): the call arrived and was answered\.$/);
    expect(called.length).toBeLessThan(250);
  });

  it("comes with what the check threw, as the cause", async () => {
    expect((await errorOf(simulate(pay, { tools, check }))).cause).toBe(wrong);
  });

  it("has no cause where nothing was thrown", async () => {
    const twice = fakeTool({ name: "record_payment", execute: () => Promise.resolve() });
    expect("cause" in (await errorOf(simulate(pay, { tools: [twice] })))).toBe(false);
  });
});

test.each([
  ["call pay", "explodes", 'what can be taken there is "returns", "fails", "fails for good", "refused", "reply lost"'],
  ["question pay?1", "edit 1", 'what can be taken there is "approve", "reject", "later"'],
  ["record run_started", "returns", 'what can be taken there is "stored", "dies before"'],
  ["call nobody", "fails", "and the run never comes there"],
])("a replay that takes at %s %s, which can't be, is refused with what can", async (at, take, message) => {
  await expect(simulate(pay, { tools, replay: [{ at, take }] })).rejects.toMatchObject({
    code: "INVALID_OPTIONS",
    message: expect.stringContaining(message),
  });
});

describe("what is kept outside of a fake state", () => {
  let calls = 0;
  const counting = fakeTool({ name: "record_payment", execute: () => ({ id: ++calls }) });

  it("is told where two runs without a fault differ by it", async () => {
    const { message, violation } = await errorOf(simulate(pay, { tools: [counting] }));
    expect(message).toContain("The same schedule, played twice, went two ways.");
    expect(message).toContain("keep it in fakeState");
    expect(violation.schedule).toEqual([]);
  });

  it("is told beside what was found, where a schedule breaks something only once", async () => {
    const seen = new Set<string>();
    const { message } = await errorOf(
      simulate(pay, {
        tools,
        check(_world, { status }) {
          if (status === "cancelled" && seen.size === 0) {
            seen.add(status);
            throw new Error("for once");
          }
        },
      }),
    );
    expect(message).toContain("keep it in fakeState");
    expect(message).toContain("In one of the two: The check failed: for once");
  });

  it("is told of a replay, too", async () => {
    let runs = 0;
    const check = () => {
      if (++runs === 1) throw new Error("for once");
    };
    await expect(simulate(pay, { tools, check, replay: [] })).rejects.toThrow("keep it in fakeState");
  });

  it("is no matter where it is kept in one", async () => {
    const kept = fakeState({ calls: 0 });
    const steady = fakeTool({ name: "record_payment", execute: () => ({ id: ++kept.value.calls }) });
    await simulate(pay, { tools: [steady], limit: 20 });
  });
});
