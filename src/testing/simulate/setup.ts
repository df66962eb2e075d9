import type { Workflow } from "../../core/document.js";
import type { JsonObject } from "../../core/json.js";
import type { RunResult } from "../../core/result.js";
import type { Policy } from "../../ports/policy.js";
import type { ToolCallContext, Tools } from "../../ports/tool-adapter.js";
import type { FakeTool } from "../fake-tool.js";
import type { Menus } from "./menus.js";
import type { Alternatives } from "./person.js";
import type { Faults } from "./schedule.js";
import type { SimulatedWrite } from "./witness.js";

/** What all schedules of a simulation have in common. */
export interface Setup {
  readonly workflow: Workflow;
  readonly workflows: readonly Workflow[];
  readonly input: unknown;
  readonly cast: Cast;
  readonly policy: Policy | undefined;
  readonly answers: Alternatives;
  readonly menus: Menus;
  readonly faults: Faults;
  readonly maxFaults: number;
  readonly check: ((world: SimulatedWorld, result: RunResult) => unknown) | undefined;
}

/** What was done to the systems behind the tools. */
export interface SimulatedWorld {
  /** Every write that was made, undos included, in order. */
  readonly writes: readonly SimulatedWrite[];
}

type Call = (tool: FakeTool, inputs: JsonObject, context: ToolCallContext) => Promise<unknown>;

/** The tools as the processes of a schedule see them; the same ones in every schedule, so that they are checked once. */
export class Cast {
  private readonly sets: Tools[] = [];
  private readonly calls: Call[] = [];

  constructor(private readonly tools: readonly FakeTool[]) {}

  /** @param call what a call of a tool comes to, of the process with this index */
  toolsOf(index: number, call: Call): Tools {
    this.calls[index] = call;
    this.sets[index] ??= Object.freeze(this.tools.map((tool) => this.actor(tool, index)));
    return this.sets[index];
  }

  private actor(tool: FakeTool, index: number): FakeTool {
    return Object.freeze({
      ...tool,
      execute: (inputs: JsonObject, context: ToolCallContext) => this.calls[index]?.(tool, inputs, context),
    });
  }
}
