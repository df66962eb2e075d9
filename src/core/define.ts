import { compileWorkflow, type Embed } from "./compile-workflow.js";
import { copyDocument } from "./copy-document.js";
import { isPlainObject, isWorkflow, type Workflow, type WorkflowDocument, workflowBrand } from "./document.js";
import { DefinitionError, type Problem } from "./errors.js";
import { deepFreeze } from "./freeze.js";
import type { WorkflowPlan } from "./plan.js";
import { inDocumentOrder } from "./problem-order.js";
import type { Read } from "./reading.js";
import { type InferInput, isStandardSchema, type JsonSchema, type Schema } from "./schema.js";
import { takeOutFaults } from "./shape.js";

/** What is known of a workflow once it is defined. */
export interface Definition {
  readonly workflow: Workflow;
  readonly plan: WorkflowPlan;
  /** Every template of the document. */
  readonly reads: readonly Read[];
  /** The workflows that the document holds itself, as `flow` of a handler, and those within them; by name. */
  readonly embedded: ReadonlyMap<string, Workflow>;
}

const definitions = new WeakMap<object, Definition>();

/**
 * Checks a workflow document, and gives it as a deeply frozen workflow; the document itself is left as it is. A workflow
 * is given back. What needs the tools and other workflows is checked by `checkWorkflow`.
 *
 * @throws DefinitionError whose `problems` are all faults, in the order of the document.
 */
export function defineWorkflow<Input>(workflow: Workflow<Input>): Workflow<Input>;
export function defineWorkflow<const S extends Schema = JsonSchema>(
  document: WorkflowDocument<S>,
): Workflow<InferInput<S>>;
export function defineWorkflow(document: WorkflowDocument): Workflow {
  return (definitions.get(document) ?? orThrow(define(document))).workflow;
}

/** The workflow's plan, compiled once. A document, or a workflow of another copy of the package, is defined first. */
export function planOf(workflow: WorkflowDocument): WorkflowPlan {
  return definitionOf(workflow).plan;
}

/** The workflows that the document holds itself, as `flow` of a handler, and those within them. */
export function embeddedWorkflows(workflow: WorkflowDocument): readonly Workflow[] {
  return [...definitionOf(workflow).embedded.values()];
}

export function definitionOf(workflow: WorkflowDocument): Definition {
  return orThrow(readDefinition(workflow));
}

/** What a workflow is known as, or what is wrong with it. */
export function readDefinition(workflow: object): Definition | DefinitionError {
  const known = definitions.get(workflow);
  if (known !== undefined) return known;
  const definition = define(workflow);
  if (isWorkflow(workflow) && !(definition instanceof DefinitionError)) definitions.set(workflow, definition);
  return definition;
}

function orThrow(definition: Definition | DefinitionError): Definition {
  if (definition instanceof DefinitionError) throw definition;
  return definition;
}

function define(document: unknown): Definition | DefinitionError {
  const { copy, problems: notJson } = copyDocument(document);
  const places = new Set(notJson.map(({ pointer }) => pointer));
  // Lists of any length, so they are not spread as arguments.
  const problems = notJson.concat(takeOutFaults(copy).filter(({ pointer }) => !places.has(pointer)));
  if (!isReadable(copy)) return definitionError(copy, problems);
  const embedded = new Map<string, Workflow>();
  const { plan, reads, problems: found } = compileWorkflow(copy, embedInto(embedded, copy.name, problems));
  for (const problem of found) problems.push(problem);
  if (problems.length > 0) return definitionError(copy, problems);
  seal(copy);
  const definition = { workflow: copy, plan, reads, embedded };
  definitions.set(copy, definition);
  return definition;
}

/** Whether what is left of a document can be read as one: where a fault was taken out, the type says too much. */
function isReadable(copy: unknown): copy is WorkflowDocument {
  return isPlainObject(copy);
}

function seal(document: WorkflowDocument): asserts document is Workflow {
  Object.defineProperty(document, workflowBrand, { value: true });
  deepFreeze(document, isStandardSchema);
}

/** Two workflows of one name can't stand in one document, since a plan knows them by name. */
function embedInto(embedded: Map<string, Workflow>, ownName: string, problems: Problem[]): Embed {
  return (flow, pointer) => {
    const definition = readDefinition(flow);
    if (definition instanceof DefinitionError) {
      for (const problem of definition.problems) problems.push({ ...problem, pointer: pointer + problem.pointer });
      return undefined;
    }
    const { workflow, plan, embedded: within } = definition;
    for (const [name, each] of [[workflow.name, workflow] as const, ...within]) {
      const other = embedded.get(name);
      if (other === undefined && name !== ownName) embedded.set(name, each);
      else if (other === undefined || !areSame(other, each)) {
        const message = `Workflow ${JSON.stringify(name)} stands for two different workflows here: give each its own name.`;
        problems.push({ code: "DUPLICATE_WORKFLOW", message, pointer });
      }
    }
    return { name: workflow.name, hasCode: plan.hasCode };
  };
}

function areSame(left: Workflow, right: Workflow): boolean {
  if (left === right) return true;
  const hasCode = planOf(left).hasCode || planOf(right).hasCode;
  return !hasCode && JSON.stringify(left) === JSON.stringify(right);
}

const maxProblemsInMessage = 5;

function definitionError(document: unknown, problems: readonly Problem[]): DefinitionError {
  const sorted = inDocumentOrder(problems, document);
  const shown = sorted.slice(0, maxProblemsInMessage).map(({ message, pointer }) => `${pointer || "/"}: ${message}`);
  const more = sorted.length > shown.length ? [`… and ${sorted.length - shown.length} more.`] : [];
  const count = sorted.length === 1 ? "a problem" : `${sorted.length} problems`;
  return new DefinitionError([`The workflow document has ${count}.`, ...shown, ...more].join("\n"), sorted);
}
