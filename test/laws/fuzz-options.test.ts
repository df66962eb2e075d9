import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/core/define.js";
import { toolDispatch } from "../../src/driver/dispatch.js";
import { runToEnd } from "../../src/driver/run.js";
import type { RunStore } from "../../src/ports/run-store.js";
import { memoryStore } from "../../src/stores/memory.js";
import { fakeClock } from "../../src/testing/fake-clock.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { foreign, oddJson, settleLate, tries } from "./hostile.js";

/** Law: whatever stands in an option, the run ends, or it is refused by an error of ours before anything is recorded. */

const tool = defineTool({ name: "put", effect: "write", execute: () => null });
const workflow = defineWorkflow({ name: "put", steps: [{ id: "put", tool: "put", retries: 1 }] });
const calls = [{ type: "tool_use", id: "c", name: "put", input: {} }];

const odd: fc.Arbitrary<() => unknown> = fc.oneof(
  foreign,
  oddJson.map((value) => () => value),
);

/** A value that throws when it is looked at says so itself. */
const isItsOwn = (error: unknown) => error instanceof TypeError && error.message === "Nobody may look.";

async function isRefusedOrRuns(
  drive: (given: { store: RunStore; runId: string }) => Promise<{ status: string }>,
): Promise<void> {
  const store = memoryStore();
  const outcome = await settleLate(() =>
    drive({ store, runId: "run" }).catch((error: unknown) => {
      if (isItsOwn(error)) return "its own" as const;
      throw error;
    }),
  );
  if (typeof outcome === "object") {
    expect(outcome.status).toMatch(/^(completed|failed|cancelled|waiting)$/);
    return;
  }
  for await (const { runId } of store.list()) expect(`${runId} was recorded`).toBe(outcome);
}

const driving = [
  "tools",
  "workflows",
  "policy",
  "onQuestion",
  "inDoubt",
  "signal",
  "stop",
  "secrets",
  "limits",
  "clock",
  "observer",
] as const;
const limits = ["maxValueBytes", "maxDepth", "maxRecords", "gracePeriodMs"] as const;
const base = () => ({ tools: tool, policy: () => "approve" as const, clock: fakeClock() });

describe("an odd option of runWorkflow", { timeout: 60_000 }, () => {
  it.each([...driving, "input", "runId", "store"] as const)("%s is refused, or harms nothing", async (name) => {
    await fc.assert(
      fc.asyncProperty(odd, (make) =>
        isRefusedOrRuns((given) => runToEnd(workflow, { ...base(), ...given, ...{ [name]: make() as never } })),
      ),
      tries(60),
    );
  });

  it.each(limits)("limits.%s is refused, or harms nothing", async (name) => {
    await fc.assert(
      fc.asyncProperty(odd, (make) =>
        isRefusedOrRuns((given) => runToEnd(workflow, { ...base(), ...given, limits: { [name]: make() as never } })),
      ),
      tries(60),
    );
  });

  it("as a whole is refused", async () => {
    await fc.assert(
      fc.asyncProperty(odd, (make) => isRefusedOrRuns(() => runToEnd(workflow, make() as never))),
      tries(60),
    );
  });
});

describe("an odd option of toolDispatch", { timeout: 60_000 }, () => {
  const config = { tools: { put: { tool: "put" } } };

  it.each([...driving, "calls", "context", "runId", "store"] as const)(
    "%s is refused, or harms nothing",
    async (name) => {
      await fc.assert(
        fc.asyncProperty(odd, (make) =>
          isRefusedOrRuns((given) =>
            toolDispatch(config, { ...base(), calls, ...given, ...{ [name]: make() as never } }),
          ),
        ),
        tries(60),
      );
    },
  );

  it("as a whole is refused, as is an odd configuration", async () => {
    await fc.assert(
      fc.asyncProperty(odd, async (make) => {
        await isRefusedOrRuns(() => toolDispatch(config, make() as never));
        await isRefusedOrRuns((given) => toolDispatch(make() as never, { ...base(), calls, ...given }));
      }),
      tries(60),
    );
  });
});
