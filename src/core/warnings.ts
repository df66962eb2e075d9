import { type StepSite, stepSites } from "./call-sites.js";
import type { Definition } from "./define.js";
import type { Problem } from "./errors.js";
import { optionalInputs } from "./input-reads.js";
import { compileJsonSchema } from "./json-validator.js";
import { pointerTo } from "./path.js";
import type { CompensationPlan, StepPlan } from "./plan.js";
import type { JsonSchema } from "./schema.js";
import { conjuncts } from "./schema-walk.js";
import type { CompiledTemplate, Reference } from "./template.js";
import { type Effects, effectOfBody, effectOfFallback, effectOfStep } from "./write-effects.js";

interface Context {
  readonly definition: Definition;
  readonly effects: Effects;
}

/** What an author should look at, though the workflow can run. */
export function warningsOf(definition: Definition, effects: Effects): Problem[] {
  const sites = stepSites(definition.plan.steps);
  return [
    ...strandedWrites({ definition, effects }, definition.plan.steps),
    ...sites.flatMap(({ step }) => escapingEdits(step)),
    ...optionalInputs(definition),
    ...skippableReads(definition, sites),
    ...shadowedKeys(definition, sites),
  ];
}

/** Writes that nothing undoes, though a later write may fail. */
function strandedWrites(context: Context, steps: readonly StepPlan[]): Problem[] {
  let follows = false;
  const problems: Problem[] = [];
  for (const [index, step] of [...steps.entries()].reverse()) {
    problems.push(...strandedIn(context, step, `/steps/${index}`, follows));
    follows ||= effectOfStep(context.definition, step, context.effects).writes;
  }
  return problems;
}

function strandedIn(context: Context, step: StepPlan, pointer: string, writesFollow: boolean): Problem[] {
  const { definition, effects } = context;
  const { action, compensate } = step;
  const stranded = (place: string): Problem => {
    const message = `Step ${JSON.stringify(step.id)} makes a write that nothing undoes, and another write may fail after it: give it a compensate.`;
    return { code: "NO_COMPENSATION", message, pointer: place };
  };
  const problems: Problem[] = [];
  if (action.kind === "parallel" && compensate === undefined) {
    const writers = action.steps.filter((each) => effectOfStep(definition, each, effects).writes);
    for (const [index, inner] of action.steps.entries()) {
      // Branches run in any order.
      const othersWrite = writers.some((writer) => writer !== inner);
      problems.push(...strandedIn(context, inner, `${pointer}/parallel/${index}`, writesFollow || othersWrite));
    }
  } else if (effectOfBody(definition, step, effects).strands) {
    const isLoop = action.kind === "for_each" || action.kind === "repeat";
    if (writesFollow || isLoop) problems.push(stranded(pointer));
  }
  if (writesFollow && effectOfFallback(step, effects).strands) problems.push(stranded(`${pointer}/fallback`));
  return problems;
}

/** Compensations that read an input which their step reads too: a person may edit what the step sends. */
function escapingEdits({ action, compensate, fallback }: StepPlan): Problem[] {
  return [
    ...(action.kind === "tool" ? escaping(action.inputs, compensate) : []),
    ...(fallback === undefined ? [] : escaping(fallback.inputs, fallback.compensate)),
  ];
}

function escaping(sent: CompiledTemplate, compensate: CompensationPlan | undefined): Problem[] {
  const undoing = compensate === undefined ? [] : inputsRead(compensate.inputs);
  if (undoing.length === 0) return [];
  const read = new Set<string>();
  const within = new Set<string>();
  for (const { segments } of inputsRead(sent)) {
    read.add(pointerTo(segments));
    for (const [index] of segments.entries()) within.add(pointerTo(segments.slice(0, index)));
  }
  return undoing
    .filter(({ segments }) => {
      const starts = segments.map((_, index) => pointerTo(segments.slice(0, index)));
      const place = pointerTo(segments);
      return within.has(place) || [...starts, place].some((start) => read.has(start));
    })
    .map(({ text, pointer }) => {
      const message = `Template ${text} reads what the step reads too: an edit of what is sent would escape it. Read steps.<id>.inputs.`;
      return { code: "COMPENSATION_READS_INPUT", message, pointer };
    });
}

function inputsRead({ references }: CompiledTemplate): Reference[] {
  return references.filter(({ root }) => root === "input");
}

function skippableReads({ reads }: Definition, sites: readonly StepSite[]): Problem[] {
  const skippable = new Set(sites.filter(({ maySkip }) => maySkip).map(({ step }) => step.id));
  const problems: Problem[] = [];
  for (const { reference, stepId } of reads) {
    if (reference.root !== "steps" || reference.optional) continue;
    // What undoes a step runs only after it.
    if (reference.stepId === stepId || !skippable.has(reference.stepId)) continue;
    const message = `Template ${reference.text} reads a step that may be skipped: allow for its absence with ? or ??.`;
    problems.push({ code: "SKIPPABLE_STEP", message, pointer: reference.pointer });
  }
  return problems;
}

/** In what dispatches read, the run's `ctx`, a step's key replaces one that is there. */
function shadowedKeys({ plan }: Definition, sites: readonly StepSite[]): Problem[] {
  if (!sites.some(({ step }) => step.action.kind === "tool_dispatch")) return [];
  const owners = new Map<string, string>();
  for (const name of inputNames(plan.input?.json)) owners.set(name, "a property of the input");
  const problems: Problem[] = [];
  for (const { step, pointer } of sites) {
    const { action, id, outputKey } = step;
    const keys = action.kind === "tool_dispatch" ? dispatchKeys(action.outputKey) : [outputKey];
    for (const key of keys) {
      const owner = owners.get(key);
      owners.set(key, `the key of step ${JSON.stringify(id)}`);
      if (owner === undefined) continue;
      const message = `Step ${JSON.stringify(id)} replaces ${JSON.stringify(key)} in ctx, which is ${owner}: give it another output_key.`;
      problems.push({ code: "SHADOWED_KEY", message, pointer });
      break;
    }
  }
  return problems;
}

function inputNames(schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return [];
  const validator = compileJsonSchema(schema);
  return conjuncts(validator, [validator.root]).flatMap(({ properties = {} }) => Object.keys(properties));
}

/** The six keys of a dispatch. */
function dispatchKeys(outputKey: string): string[] {
  return ["", "_count", "_errors", "_all_succeeded", "_messages", "_by_id"].map((suffix) => outputKey + suffix);
}
