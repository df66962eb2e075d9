import { describe, expect, it, test, vi } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import type { StepDocument } from "../../src/core/document.js";
import { ToolError } from "../../src/core/errors.js";
import { fakeState } from "../../src/testing/fake-state.js";
import { fakeTool } from "../../src/testing/fake-tool.js";
import { SimulationError, simulate, type Violation } from "../../src/testing/simulate.js";
import { defineTool } from "../../src/tools/define-tool.js";

vi.setConfig({ testTimeout: 60_000 });

const bank = fakeState<{ paid: string[]; keys: string[] }>({ paid: [], keys: [] });

const find = fakeTool({ name: "find", effect: "read", execute: () => ({ number: "INV-1" }) });
const pay = fakeTool({
  name: "pay",
  execute({ invoice }) {
    bank.value.paid.push(String(invoice));
    return { id: `PAY-${bank.value.paid.length}` };
  },
});
const unpay = fakeTool({
  name: "unpay",
  execute() {
    bank.value.paid.pop();
    return null;
  },
});
const mail = fakeTool({ name: "mail", execute: () => null });

/** Says that it is idempotent; whether its system looks at the key is another matter. */
const payByKey = (looks: boolean) =>
  fakeTool({
    name: "pay",
    idempotent: true,
    execute({ invoice }, { idempotencyKey }) {
      const { paid, keys } = bank.value;
      if (!looks || !keys.includes(idempotencyKey)) paid.push(String(invoice));
      if (!keys.includes(idempotencyKey)) keys.push(idempotencyKey);
      return { id: "PAY-1" };
    },
  });

const paying: StepDocument = {
  id: "pay",
  tool: "pay",
  inputs: { invoice: "{{steps.find.result.number}}" },
  compensate: { tool: "unpay", inputs: { payment: "{{steps.pay.result.id}}" } },
};
const steps = (...given: StepDocument[]) => defineWorkflow({ name: "steps", steps: given });
const payOne = steps({ id: "find", tool: "find" }, paying);
const payAndMail = steps({ id: "find", tool: "find" }, paying, { id: "mail", tool: "mail" });

async function violationOf(simulation: Promise<unknown>): Promise<Violation> {
  const error = await simulation.then(
    () => undefined,
    (thrown) => thrown,
  );
  if (error instanceof SimulationError) return error.violation;
  throw error ?? new Error("Nothing was violated.");
}

describe("a workflow that is sound", () => {
  const options = { tools: [find, pay, unpay, mail] };

  test("is proven, exhaustively where the limit allows", async () => {
    const report = await simulate(payOne, { ...options, maxFaults: 1 });
    expect(report).toMatchObject({ exhaustive: true, completeTo: 1 });
    expect(report.schedules).toBeGreaterThan(50);
    expect(await simulate(payOne, { ...options, maxFaults: 1 })).toEqual(report);
  });

  test("is tried up to the limit, by a seed, where there are more schedules", async () => {
    const report = await simulate(payAndMail, { ...options, limit: 150, seed: 7 });
    expect(report).toEqual({ schedules: 150, exhaustive: false, plainly: "completed", completeTo: 1, seed: 7 });
  });

  test("without faults has one schedule", async () => {
    expect(await simulate(payOne, { ...options, maxFaults: 0 })).toEqual({
      schedules: 1,
      exhaustive: true,
      plainly: "completed",
      completeTo: 0,
      seed: 1,
    });
  });

  test("keeps what its author asks for, whatever happens", async () => {
    const ends = new Set<string>();
    await simulate(payAndMail, {
      ...options,
      limit: 150,
      check({ writes }, { status }) {
        ends.add(status);
        const payments = writes.filter(({ tool }) => tool === "pay").length;
        const undone = writes.filter(({ tool }) => tool === "unpay").length;
        expect(bank.value.paid).toHaveLength(payments - undone);
        expect(payments).toBeLessThan(2);
      },
    });
    expect([...ends].sort()).toEqual(["cancelled", "completed", "failed"]);
  });
});

describe("a tool that says it is idempotent", () => {
  test.each(["with", "without"])("and is so: called twice with one key is no violation, %s a policy", async (how) => {
    const policy = how === "with" ? { policy: () => "approve" as const } : {};
    await simulate(payOne, { tools: [find, payByKey(true), unpay], limit: 100, ...policy });
  });

  test("and is not: the shortest schedule that pays twice comes back, in words and to be replayed", async () => {
    const options = { tools: [find, payByKey(false), unpay], policy: () => "approve" as const };
    const violation = await violationOf(simulate(payOne, options));
    expect(violation.problem).toContain("pay: pay was made twice with one idempotency key.");
    expect(violation.schedule).toHaveLength(1);
    expect(violation.story.join("\n")).toContain('pay, attempt 2 (pay {"invoice":"INV-1"}): the call arrived');

    const schedule = JSON.parse(JSON.stringify(violation.schedule));
    const again = await violationOf(simulate(payOne, { ...options, replay: schedule }));
    expect(again).toMatchObject({ problem: violation.problem, schedule, story: violation.story });
    await simulate(payOne, { ...options, tools: [find, payByKey(true), unpay], replay: schedule });
  });
});

describe("what a check throws", () => {
  test("is a violation, and two faults are told where one is not enough", async () => {
    const violation = await violationOf(
      simulate(payAndMail, {
        tools: [find, pay, unpay, mail],
        limit: 20_000,
        faults: { fail: 2, crash: 0, leave: 0, takeover: 0, outage: 0, cancel: 0, slow: 0, answer: 0, order: 0 },
        check(_world, { undoErrors = [] }) {
          if (undoErrors.length > 0) throw new Error("Somebody has to look after the books.");
        },
      }),
    );
    expect(violation.problem).toBe("The check failed: Somebody has to look after the books.");
    expect(violation.schedule.map(({ at }) => at)).toEqual(["call mail", "call pay~undo"]);
    expect(violation.result?.status).toBe("failed");
    expect(violation.journal.at(-1)?.kind).toBe("run_ended");
  });

  test("is found also where schedules are drawn, and shrunk", async () => {
    const violation = await violationOf(
      simulate(payAndMail, {
        tools: [find, pay, unpay, mail],
        limit: 600,
        check(_world, { status, writes }) {
          if (status === "failed" && writes.some(({ decidedBy, state }) => decidedBy && state === "in_doubt")) {
            throw new Error("It is not known.");
          }
        },
      }),
    );
    expect(violation.schedule).toHaveLength(2);
  });
});

describe("people", () => {
  const order = defineWorkflow({
    name: "order",
    steps: [
      {
        id: "size",
        ask: { prompt: "Which size?", schema: { type: "integer", minimum: 30 }, expires_after_ms: 60_000 },
      },
      { id: "buy", tool: "buy", inputs: { size: "{{steps.size.result}}" } },
    ],
  });
  const sizes = fakeState<number[]>([]);
  const buy = fakeTool({
    name: "buy",
    inputSchema: { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
    execute({ size }) {
      sizes.value.push(Number(size));
      return null;
    },
  });

  test("give each of the answers, and change what they approve", async () => {
    const bought = new Set<number>();
    const check = () => {
      for (const size of sizes.value) bought.add(size);
    };
    await simulate(order, { tools: [buy], answers: { size: [40, 41], buy: [{ size: 50 }] }, maxFaults: 1, check });
    expect([...bought].sort()).toEqual([40, 41, 50]);
  });

  test("reject, come later, and come too late", async () => {
    const errors = new Set<string | undefined>();
    const check = (_world: unknown, { error }: { error?: { code: string } }) => errors.add(error?.code);
    await simulate(order, {
      tools: [buy],
      answers: { size: [40] },
      faults: { fail: 0, doubt: 0, cancel: 0 },
      maxFaults: 1,
      check,
    });
    expect([...errors].sort()).toEqual(["QUESTION_EXPIRED", "REJECTED", undefined]);
  });

  test("are told what does not fit", async () => {
    await expect(simulate(order, { tools: [buy], answers: { size: ["large"] } })).rejects.toThrow("answers");
    await expect(simulate(order, { tools: [buy] })).rejects.toThrow("Give it: answers: { size: [value] }");
  });
});

describe("side by side", () => {
  const both = steps({
    id: "both",
    parallel: [
      { id: "a", tool: "put", inputs: { name: "a" } },
      { id: "b", tool: "put", inputs: { name: "b" } },
      { id: "c", tool: "put", inputs: { name: "c" } },
    ],
  });
  const order = fakeState<unknown[]>([]);
  const put = fakeTool({ name: "put", execute: ({ name }) => void order.value.push(name) });

  test("calls settle in every order", async () => {
    const seen = new Set<string>();
    const report = await simulate(both, {
      tools: [put],
      policy: () => "approve",
      faults: { order: 2 },
      maxFaults: 0,
      check: () => seen.add(order.value.join("")),
    });
    expect(report.exhaustive).toBe(true);
    expect([...seen].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
  });
});

describe("a fake tool", () => {
  test("whose system refuses by itself is believed", async () => {
    const full = fakeTool({
      name: "mail",
      execute: () => {
        throw new ToolError("The box is full.", { outcome: "refused" });
      },
    });
    const ends = new Set<string>();
    await simulate(payAndMail, {
      tools: [find, pay, unpay, full],
      limit: 60,
      check: (_world, { status }) => ends.add(status),
    });
    expect(ends).not.toContain("completed");
  });

  test("has to do its work at once", async () => {
    const slow = fakeTool({ name: "find", effect: "read", execute: async () => null });
    const violation = await violationOf(simulate(payOne, { tools: [slow, pay, unpay] }));
    expect(violation.problem).toContain("execute returned a promise");
  });

  test("is the one kind that is taken", async () => {
    const real = defineTool({ name: "find", effect: "read", execute: () => null });
    // @ts-expect-error: it is no fake
    await expect(simulate(payOne, { tools: [real, pay, unpay] })).rejects.toThrow("made by fakeTool");
  });

  test("that is missing is told before anything runs", async () => {
    await expect(simulate(payOne, { tools: [find, pay] })).rejects.toMatchObject({ code: "INVALID_DEFINITION" });
  });
});

test("a replay that names what never comes is refused", async () => {
  const replay = [{ at: "call nobody", take: "fails" }];
  await expect(simulate(payOne, { tools: [find, pay, unpay], replay })).rejects.toThrow("call nobody");
});

test("simulations at once do not meet in their states", async () => {
  const check = () => expect(bank.value.paid.length).toBeLessThan(2);
  const simulation = () => simulate(payOne, { tools: [find, pay, unpay], maxFaults: 1, check });
  const [first, second] = await Promise.all([simulation(), simulation()]);
  expect(first).toEqual(second);
});

describe("what would prove nothing", () => {
  const state = fakeState({ made: 0 });
  const pay = defineWorkflow({ name: "pay", steps: [{ id: "pay", tool: "pay" }] });
  const once = fakeTool({ name: "pay", execute: () => ++state.value.made });

  it.each<[string, object, string]>([
    ["a limit that is no number", { limit: Number.NaN }, "limit has to be a whole number, not below 1"],
    ["a limit of nothing", { limit: 0 }, "limit has to be a whole number, not below 1"],
    ["faults that are no number", { maxFaults: Number.NaN }, "maxFaults has to be a whole number, not below 0"],
    ["a fault that there is not", { faults: { crashes: 1 } }, "there is no fault crashes"],
    ["a part of a fault", { faults: { crash: 0.5 } }, "faults.crash has to be a whole number"],
    ["an option that there is not", { maxFault: 1 }, "there is no option maxFault"],
    ["answers to no step", { answers: { paid: [1] } }, "answers names paid, which is no step"],
    ["a replay as text", { replay: JSON.parse('"[]"') }, "replay has to be a schedule"],
  ])("%s is refused", async (_what, more, message) => {
    await expect(simulate(pay, { tools: [once], ...more })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining(message),
    });
  });

  it("a state that is no JSON is refused", () => {
    expect(() => fakeState(new Map())).toThrow("the state has to be plain JSON");
  });

  it("a run that does not come to its writes by itself is told of", async () => {
    const lost = defineWorkflow({ name: "lost", steps: [{ id: "pay", tool: "pay", inputs: { to: "{{input.to}}" } }] });
    expect(await simulate(lost, { tools: [once], maxFaults: 0 })).toMatchObject({ plainly: "failed" });
    expect(await simulate(pay, { tools: [once], maxFaults: 0 })).toMatchObject({ plainly: "completed" });
  });

  it.each([
    ["a read that changes its state", "read" as const, () => ++state.value.made, "says that it is a read"],
    [
      "a write that throws what it has done",
      "write" as const,
      () => {
        state.value.made++;
        throw new Error("no");
      },
      "what throws must have changed nothing",
    ],
  ])("%s is a violation", async (_what, effect, execute, message) => {
    const tools = [fakeTool({ name: "pay", effect, execute })];
    await expect(simulate(pay, { tools, maxFaults: 0 })).rejects.toThrow(message);
  });
});
