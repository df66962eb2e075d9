import { type CallSite, callSites, stepSites } from "./call-sites.js";
import { type Definition, definitionOf, readDefinition } from "./define.js";
import type { Workflow } from "./document.js";
import { DefinitionError, type ErrorCode, type Problem } from "./errors.js";
import { inputProblems } from "./input-reads.js";
import { literalIssues } from "./literal-inputs.js";
import { nearest } from "./nearest.js";
import { inDocumentOrder } from "./problem-order.js";
import type { Validator } from "./schema.js";
import { warningsOf } from "./warnings.js";
import { type Effect, type Effects, effectOfSteps, noEffect } from "./write-effects.js";

/** What a check knows of a published tool. */
export interface PublishedTool {
  readonly name: string;
  readonly effect: "read" | "write";
  /** Of its inputs. Absent: any object will do. */
  readonly schema?: Validator;
}

/** What a check against tools and workflows found. */
export interface Check {
  /** In the order of the document; none: the workflow is fine to save. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Whether any step, compensation or fallback writes, also in workflows that it calls. */
  readonly writes: boolean;
}

/** Checks a workflow, and each that it calls, against what is published. */
export function checkAgainst(
  workflow: Workflow,
  tools: ReadonlyMap<string, PublishedTool>,
  workflows: ReadonlyMap<string, Workflow>,
): Check {
  const definition = definitionOf(workflow);
  const checker = new Checker(definition, tools, workflows);
  const { problems, writes } = checker.inspect(definition);
  return {
    problems: inDocumentOrder(problems, workflow),
    warnings: inDocumentOrder(warningsOf(definition, checker), workflow),
    writes,
  };
}

interface Inspection {
  readonly problems: readonly Problem[];
  readonly writes: boolean;
  readonly effect: Effect;
}

/** The deepest calls of workflows by workflows, so that a check ends on the stack that it has. */
const maxDepth = 200;
/** So many problems of a workflow are told where it is called. */
const maxToldProblems = 10;
/** Messages stop naming the nearest known name when there are so many problems. */
const maxHints = 100;

class Checker implements Effects {
  private readonly inspections = new Map<Definition, Inspection>();
  /** The workflows being inspected, each called by the one before. */
  private readonly trail: Definition[] = [];
  private hints = 0;

  constructor(
    private readonly root: Definition,
    private readonly tools: ReadonlyMap<string, PublishedTool>,
    private readonly workflows: ReadonlyMap<string, Workflow>,
  ) {}

  inspect(definition: Definition): Inspection {
    const known = this.inspections.get(definition);
    if (known !== undefined) return known;
    this.trail.push(definition);
    const problems = inputProblems(definition);
    let writes = false;
    for (const step of stepSites(definition.plan.steps)) {
      for (const call of callSites(step)) {
        const found = call.kind === "tool" ? this.toolProblems(call) : this.workflowProblems(call, definition);
        for (const problem of found) problems.push(problem);
        writes ||= call.kind === "tool" ? this.isWrite(call.name) : this.called(call.name, definition).writes;
      }
    }
    this.trail.pop();
    const inspection = { problems, writes, effect: effectOfSteps(definition, definition.plan.steps, this) };
    this.inspections.set(definition, inspection);
    return inspection;
  }

  /** One that is not known is read as a tool is that does not say: as a write. */
  isWrite(tool: string): boolean {
    return this.tools.get(tool)?.effect !== "read";
  }

  effectOfWorkflow(name: string, caller: Definition): Effect {
    return this.called(name, caller).effect;
  }

  /** What is known of a workflow that has been inspected; nothing of one that is not there, or calls itself. */
  private called(name: string, caller: Definition): Pick<Inspection, "writes" | "effect"> {
    const definition = this.find(name, caller);
    const inspection =
      definition instanceof DefinitionError || definition === undefined ? undefined : this.inspections.get(definition);
    return inspection ?? { writes: false, effect: noEffect };
  }

  private find(name: string, caller: Definition): Definition | DefinitionError | undefined {
    if (!caller.embedded.has(name) && name === this.root.plan.name) return this.root;
    const workflow = caller.embedded.get(name) ?? this.workflows.get(name);
    return workflow === undefined ? undefined : readDefinition(workflow);
  }

  private toolProblems(call: CallSite): Problem[] {
    const tool = this.tools.get(call.name);
    if (tool === undefined) return [this.unknown("UNKNOWN_TOOL", "Tool", call, this.tools.keys())];
    return inputIssues(call, tool.schema);
  }

  private workflowProblems(call: CallSite, caller: Definition): Problem[] {
    const { name, pointer } = call;
    const subject = `Workflow ${JSON.stringify(name)}`;
    const called = this.find(name, caller);
    if (called === undefined) return [this.unknown("UNKNOWN_WORKFLOW", "Workflow", call, this.workflows.keys())];
    if (called instanceof DefinitionError) return told(subject, called.problems, pointer);
    const start = this.trail.indexOf(called);
    if (start !== -1) {
      const circle = [...this.trail.slice(start), called].map(({ plan }) => plan.name).join(" → ");
      return [
        {
          code: "WORKFLOW_CYCLE",
          message: `${subject} calls itself in a circle: ${circle}. Break it, or use repeat.`,
          pointer,
        },
      ];
    }
    if (this.trail.length >= maxDepth) {
      return [
        {
          code: "LIMIT_REACHED",
          message: `${subject} lies more than ${maxDepth} calls deep: call it more directly.`,
          pointer,
        },
      ];
    }
    const issues = inputIssues(call, called.plan.input);
    return [...told(subject, this.inspect(called).problems, pointer), ...issues];
  }

  private unknown(code: ErrorCode, noun: string, { name, pointer }: CallSite, known: Iterable<string>): Problem {
    this.hints++;
    const near = this.hints > maxHints ? undefined : nearest(name, known);
    const hint =
      near === undefined ? "Publish it, or name one that is there." : `Did you mean ${JSON.stringify(near)}?`;
    return { code, message: `${noun} ${JSON.stringify(name)} is not there. ${hint}`, pointer };
  }
}

/** The problems of a workflow that is called, at the place that calls it. */
function told(subject: string, problems: readonly Problem[], pointer: string): Problem[] {
  return problems.slice(0, maxToldProblems).map((problem) => {
    return {
      code: problem.code,
      message: `${subject} has a problem at ${problem.pointer || "/"}: ${problem.message}`,
      pointer,
    };
  });
}

function inputIssues({ kind, name, inputs, inputsPointer, laid }: CallSite, schema: Validator | undefined): Problem[] {
  if (schema === undefined || inputs === undefined) return [];
  return literalIssues(schema, inputs.node, laid).map(({ message, pointer }) => {
    return {
      code: "INVALID_INPUT",
      message: `What is given to the ${kind} ${JSON.stringify(name)} does not fit: ${message}`,
      pointer: inputsPointer + pointer,
    };
  });
}
