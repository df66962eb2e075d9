// A process that drives, answers and cancels runs, one job after another, until it is killed.
import { isToolweaveError, ToolError } from "../../src/core/errors.js";
import type { RunResult } from "../../src/core/result.js";
import { answerQuestion, cancelRun } from "../../src/driver/answer.js";
import { resumeAbandoned } from "../../src/driver/resume-abandoned.js";
import { resumeRun, runWorkflow } from "../../src/driver/run.js";
import type { Policy } from "../../src/ports/policy.js";
import type { RunStore } from "../../src/ports/run-store.js";
import type { Tool } from "../../src/ports/tool-adapter.js";
import { postgresStore } from "../../src/stores/postgres.js";
import { sqliteStore } from "../../src/stores/sqlite.js";
import { defineTool } from "../../src/tools/define-tool.js";
import type { DriveJob, How, Job, Reply, RescueJob, WorkerSetup } from "./jobs.js";
import { type Hold, Ledger } from "./ledger-client.js";
import { answerTo } from "./person.js";
import { deadly, die, hasty, Points } from "./points.js";
import { shapeNamed } from "./shapes.js";

const setup: WorkerSetup = JSON.parse(process.argv[2] ?? "{}");
const ledger = new Ledger(setup.ledgerPort);
const store = await openStore(setup);

process.on("message", async (job: Job) => process.send?.(await perform(job)));
process.on("disconnect", () => process.exit());
process.send?.("ready");

async function openStore({ store, location }: WorkerSetup): Promise<RunStore> {
  // Loading the client that is not used would take its time in every process.
  if (store === "sqlite") {
    const { default: Database } = await import("libsql");
    return sqliteStore(new Database(location));
  }
  const { default: pg } = await import("pg");
  return postgresStore(new pg.Pool({ connectionString: location, max: 3 }));
}

async function perform(job: Job): Promise<Reply> {
  const points = new Points(job.dieAt);
  const through = deadly(store, points);
  try {
    if (job.kind === "drive")
      return { kind: "result", result: await drive(job, points, through), points: points.passed };
    if (job.kind === "rescue")
      return { kind: "rescued", runs: await rescue(job, points, through), points: points.passed };
    if (job.kind === "cancel") await cancelRun(through, job.runId);
    else {
      const answer = await answerTo(job.question, ledger, job.notApplied);
      await answerQuestion(through, job.runId, job.question.id, answer);
    }
    return { kind: "done", points: points.passed };
  } catch (error) {
    const code = isToolweaveError(error) ? error.code : "NO_CODE";
    return { kind: "error", code, message: String(error), points: points.passed };
  } finally {
    points.disarm();
  }
}

async function drive(job: DriveJob & { runId: string }, points: Points, through: RunStore): Promise<RunResult> {
  const { workflow, workflows, input } = shapeNamed(job.shape);
  const { runId, takeOver } = job;
  const leased = leasedAs(job, through);
  const isKnown = (await leased.head(runId)) !== undefined;
  const options = { ...optionsOf(job, points), workflows };
  const stream = isKnown
    ? resumeRun(leased, runId, { ...options, takeOver })
    : runWorkflow(workflow, { ...options, store: leased, input, runId });
  for (;;) {
    const turn = await stream.next();
    if (turn.done) {
      if (turn.value === undefined) throw new Error("The stream ended without a result.");
      return turn.value;
    }
    if (turn.value.type === "question" && job.answersHere) {
      await turn.value.answer(await answerTo(turn.value, ledger, job.notApplied));
    }
  }
}

/** @returns the runs that were carried on to where they end or wait */
async function rescue(job: RescueJob, points: Points, through: RunStore): Promise<string[]> {
  const runs: string[] = [];
  for await (const run of resumeAbandoned(leasedAs(job, through), optionsOf(job, points))) {
    if ("error" in run) throw run.error;
    runs.push(run.runId);
  }
  return runs;
}

function leasedAs({ leaseMs }: How, through: RunStore): RunStore {
  return leaseMs === undefined ? through : hasty(through, leaseMs);
}

function optionsOf(job: How, points: Points) {
  const policy: Policy = ({ purpose }) =>
    job.asks === "all" || (job.asks === "steps" && purpose !== "undo") ? "ask" : "approve";
  return { tools: tools(job, points), policy, inDoubt: job.inDoubt };
}

function tools(job: How, points: Points): readonly Tool[] {
  function ledgerTool(name: string, effect: "read" | "write", idempotent: boolean): Tool {
    return defineTool({
      name,
      inputSchema: { type: "object" },
      effect,
      idempotent,
      async execute(inputs, { idempotencyKey: memo, signal }) {
        const death = points.reserve(4);
        if (death === 0) die();
        const hold: Hold | undefined =
          death === 1 ? (job.isLate ? "late" : "unapplied") : death === 2 ? "applied" : undefined;
        const sent = { tool: name, memo, inputs, paceMs: job.paceMs, ...(hold && { hold }) };
        const never = new AbortController().signal;
        const said = await ledger.call(sent, { signal: job.heedsSignal ? signal : never, onHeld: die });
        if (death === 3) die();
        if ("refused" in said) throw new ToolError(said.refused, { outcome: "refused" });
        if ("unavailable" in said) throw new ToolError(said.unavailable);
        return said.result;
      },
    });
  }
  return [
    ledgerTool("find", "read", false),
    ledgerTool("pay", "write", false),
    ledgerTool("pay_once", "write", true),
    ledgerTool("void", "write", false),
    ledgerTool("void_once", "write", true),
  ];
}
