import {
  type CompensateDocument,
  type DispatchConfig,
  type FallbackDocument,
  type HandlerDocument,
  isName,
  isPlainObject,
  type StepDocument,
  type WorkflowDocument,
} from "./document.js";
import { errorText, type Problem } from "./errors.js";
import { property } from "./foreign.js";
import { isJsonObject } from "./json.js";
import { toJson } from "./json-literal.js";
import { pointerTo } from "./path.js";
import {
  type ActionPlan,
  type AskPlan,
  type CompensationPlan,
  type DispatchPlan,
  defaultUndoTimeoutMs,
  type FallbackPlan,
  type ForEachPlan,
  type HandlerPlan,
  type RepeatPlan,
  type StepPlan,
  type WorkflowPlan,
} from "./plan.js";
import { below, type Place, type Read, Reading } from "./reading.js";
import { compileSchema, type Schema, type Validator } from "./schema.js";
import type { Root } from "./template.js";

export interface Compiled {
  /** With a problem, it is not to be used. */
  readonly plan: WorkflowPlan;
  /** Every template of the document. */
  readonly reads: readonly Read[];
  readonly problems: readonly Problem[];
}

/** Gives the name of a workflow that stands in a document itself; nothing where it is none. */
export type Embed = (flow: object, pointer: string) => { readonly name: string; readonly hasCode: boolean } | undefined;

/** Parses what a document holds, and checks what its templates read. Its form has been checked: see `takeOutFaults`. */
export function compileWorkflow(document: WorkflowDocument, embed: Embed): Compiled {
  const compiler = new Compiler(document, embed);
  const plan = compiler.workflow();
  return { plan, reads: compiler.reading.reads, problems: compiler.reading.problems };
}

const ordinary: readonly Root[] = ["input", "steps"];

class Compiler {
  readonly reading: Reading;
  private readonly known = new Map<string, StepDocument>();
  private readonly plans: { readonly id: string; inputsAreRead: boolean }[] = [];
  private hasCode = false;

  constructor(
    private readonly document: WorkflowDocument,
    private readonly embed: Embed,
  ) {
    this.reading = new Reading(this.known);
    this.collect(document.steps, "/steps");
  }

  workflow(): WorkflowPlan {
    const { name, input_schema, output, timeout_ms } = this.document;
    const input = this.schema(input_schema, "/input_schema");
    const steps = this.steps(this.document.steps, "/steps");
    const read = output !== undefined && this.reading.template(output, placeOf("/output"));
    for (const plan of this.plans) plan.inputsAreRead = this.reading.readInputs.has(plan.id);
    return {
      name,
      document: this.document,
      steps,
      ...(input && { input }),
      ...(read && { output: read }),
      ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
      hasCode: this.hasCode,
    };
  }

  /** Knows every step before the first is compiled: a fault in one makes no reference to it look unknown. */
  private collect(steps: readonly StepDocument[] | undefined, pointer: string): void {
    forEachSound(steps, (step, index) => {
      const { id } = step;
      if (typeof id === "string" && !this.known.has(id)) this.known.set(id, step);
      else if (isName(id)) {
        const message = `Step id ${JSON.stringify(id)} is taken by an earlier step: give each step its own.`;
        this.reading.report("DUPLICATE_ID", message, `${pointer}/${index}/id`);
      }
      if (step.parallel !== undefined) this.collect(step.parallel, `${pointer}/${index}/parallel`);
    });
  }

  private steps(steps: readonly StepDocument[] | undefined, pointer: string): StepPlan[] {
    const plans: StepPlan[] = [];
    forEachSound(steps, (step, index) => {
      plans.push(this.step(step, placeOf(`${pointer}/${index}`, step.id)));
      // Those of a `parallel` read what was there before the whole.
      if (pointer === "/steps") this.pass(step);
    });
    return plans;
  }

  private pass(step: StepDocument): void {
    forEachSound(step.parallel, (inner) => this.pass(inner));
    this.reading.passed(step.id);
  }

  private step(step: StepDocument, place: Place): StepPlan {
    const { id, when, compensate, fallback } = step;
    const plan = {
      id,
      outputKey: step.output_key ?? id,
      when: when === undefined ? undefined : this.reading.condition(when, below(place, "when")),
      retries: step.retries ?? 0,
      timeoutMs: step.timeout_ms,
      compensate: compensate && this.compensation(compensate, step, below(place, "compensate")),
      fallback: fallback && this.fallback(fallback, step, below(place, "fallback")),
      action: this.action(step, place),
      inputsAreRead: false,
    };
    this.plans.push(plan);
    return plan;
  }

  private compensation(compensate: CompensateDocument, step: StepDocument, place: Place): CompensationPlan {
    return {
      tool: compensate.tool,
      inputs: this.reading.inputs(compensate.inputs, { ...below(place, "inputs"), readsItself: true }),
      ...(compensate.retries !== undefined && { retries: compensate.retries }),
      timeoutMs: compensate.timeout_ms ?? step.timeout_ms ?? defaultUndoTimeoutMs,
      ifInDoubt: compensate.if_in_doubt ?? false,
    };
  }

  private fallback(fallback: FallbackDocument, step: StepDocument, place: Place): FallbackPlan {
    const { tool, inputs, compensate } = fallback;
    return {
      tool,
      inputs: this.reading.inputs(inputs, { ...below(place, "inputs"), roots: [...ordinary, "error"] }),
      ...(compensate && { compensate: this.compensation(compensate, step, below(place, "compensate")) }),
    };
  }

  private action(step: StepDocument, place: Place): ActionPlan {
    const { tool, workflow, tool_dispatch, repeat, for_each, parallel, ask, sleep_ms, run } = step;
    if (tool !== undefined)
      return { kind: "tool", tool, inputs: this.reading.inputs(step.inputs, below(place, "inputs")) };
    if (workflow !== undefined) {
      return { kind: "workflow", workflow, inputs: this.reading.inputs(step.inputs, below(place, "inputs")) };
    }
    if (tool_dispatch !== undefined) return this.dispatch(tool_dispatch, below(place, "tool_dispatch"));
    if (repeat !== undefined) return this.repeat(repeat, below(place, "repeat"));
    if (for_each !== undefined) return this.forEach(for_each, below(place, "for_each"));
    if (parallel !== undefined) return { kind: "parallel", steps: this.steps(parallel, `${place.pointer}/parallel`) };
    if (ask !== undefined) return this.ask(ask, below(place, "ask"));
    if (run === undefined) return { kind: "sleep", ms: sleep_ms ?? 0 };
    this.hasCode = true;
    return { kind: "run", run };
  }

  private repeat(repeat: NonNullable<StepDocument["repeat"]>, place: Place): RepeatPlan {
    const { until } = repeat;
    const untilPlace: Place = { ...below(place, "until"), roots: [...ordinary, "result"] };
    return {
      kind: "repeat",
      workflow: repeat.workflow,
      ...(until !== undefined && { until: this.reading.condition(until, untilPlace) }),
      inputs: this.reading.inputs(repeat.inputs, below(place, "inputs")),
      state: this.reading.template(repeat.state, below(place, "state")),
      maxIterations: repeat.max_iterations,
      delayMs: repeat.delay_ms ?? 0,
    };
  }

  private forEach(forEach: NonNullable<StepDocument["for_each"]>, place: Place): ForEachPlan {
    return {
      kind: "for_each",
      items: this.reading.template(forEach.items, below(place, "items")),
      workflow: forEach.workflow,
      inputs: this.reading.inputs(forEach.inputs, { ...below(place, "inputs"), roots: [...ordinary, "item", "index"] }),
      maxConcurrent: forEach.max_concurrent ?? 1,
      ignoreErrors: forEach.on_error === "ignore",
    };
  }

  private ask(ask: NonNullable<StepDocument["ask"]>, place: Place): AskPlan {
    const schema = this.schema(ask.schema, `${place.pointer}/schema`);
    const value = toJson(ask.default);
    for (const issue of ask.default === undefined ? [] : (schema?.validateJson(value) ?? [])) {
      this.reading.report(
        "INVALID_INPUT",
        `The default does not fit the schema: ${issue.message}`,
        `${place.pointer}/default${issue.pointer}`,
      );
    }
    return {
      kind: "ask",
      prompt: this.reading.template(ask.prompt, below(place, "prompt")),
      ...(schema && { schema }),
      ...(ask.expires_after_ms !== undefined && { expiresAfterMs: ask.expires_after_ms }),
      ...(ask.default !== undefined && { default: { value } }),
    };
  }

  private dispatch(config: DispatchConfig, place: Place): DispatchPlan {
    const handlers = new Map<string, HandlerPlan>();
    for (const [name, handler] of Object.entries(config.tools ?? {})) {
      const plan = isPlainObject(handler) && this.handler(handler, `${place.pointer}/tools${pointerTo([name])}/flow`);
      if (plan) handlers.set(name, plan);
    }
    return {
      kind: "tool_dispatch",
      ...(config.source_key !== undefined && { sourceKey: config.source_key }),
      handlers,
      outputKey: config.output_key ?? "tool_results",
      ignoreErrors: config.on_error === "ignore",
      maxCalls: config.max_calls ?? 32,
      maxConcurrent: config.max_concurrent ?? 1,
    };
  }

  private handler({ flow, tool, input }: HandlerDocument, pointer: string): HandlerPlan | undefined {
    const mapped = toJson(input);
    const mapping = isJsonObject(mapped) ? mapped : undefined;
    if (tool !== undefined) return { kind: "tool", tool, ...(mapping && { input: mapping }) };
    if (flow === undefined) return undefined;
    if (typeof flow === "string") return { kind: "flow", workflow: flow, input: mapping ?? {} };
    const embedded = this.embed(flow, pointer);
    if (embedded?.hasCode) this.hasCode = true;
    return embedded && { kind: "flow", workflow: embedded.name, input: mapping ?? {} };
  }

  private schema(schema: Schema | undefined, pointer: string): Validator | undefined {
    if (schema === undefined) return undefined;
    try {
      const validator = compileSchema(schema);
      if (validator.isCode) this.hasCode = true;
      return validator;
    } catch (error) {
      this.reading.report("INVALID_SCHEMA", errorText(error), pointer + String(property(error, "pointer")));
      return undefined;
    }
  }
}

function placeOf(pointer: string, stepId?: string): Place {
  return { pointer, roots: ordinary, stepId, readsItself: false };
}

/** Takes the steps of a list that can be read, in order; the faults of the others have been reported. */
function forEachSound(
  steps: readonly StepDocument[] | undefined,
  take: (step: StepDocument, index: number) => void,
): void {
  steps?.forEach((step, index) => {
    if (isPlainObject(step)) take(step, index);
  });
}
