import { type CompiledCondition, compileCondition } from "./condition.js";
import type { ConditionDocument, InputsDocument, StepDocument } from "./document.js";
import type { ErrorCode, Problem } from "./errors.js";
import { type JsonLiteral, toJson } from "./json-literal.js";
import { nearest } from "./nearest.js";
import { type CompiledTemplate, compileTemplate, type Reference, type Root } from "./template.js";

/** A template of a document, and the step that it belongs to; one of `output` belongs to none. */
export interface Read {
  readonly reference: Reference;
  readonly stepId: string | undefined;
}

/** Where a template stands, and what it may read there. */
export interface Place {
  readonly pointer: string;
  readonly roots: readonly Root[];
  readonly stepId: string | undefined;
  /** Whether the values of that very step may be read: in what undoes it. */
  readonly readsItself: boolean;
}

/** @param key one of the document's own keys, which need no escaping in a pointer. */
export function below({ pointer, roots, stepId, readsItself }: Place, key: string): Place {
  // Written out: there are several for each step.
  return { pointer: `${pointer}/${key}`, roots, stepId, readsItself };
}

/** Messages stop naming the nearest known name when there are so many problems. */
const maxHints = 100;

/** Compiles the templates of a document, step by step, and checks that each reads what is there by then. */
export class Reading {
  readonly problems: Problem[] = [];
  readonly reads: Read[] = [];
  /** Whose `inputs` are read. */
  readonly readInputs = new Set<string>();
  private readonly readable = new Set<string>();

  /** @param known every step of the document, by id. */
  constructor(private readonly known: ReadonlyMap<string, StepDocument>) {}

  /** From here on the step may be read. */
  passed(id: string): void {
    this.readable.add(id);
  }

  template(value: JsonLiteral, place: Place): CompiledTemplate {
    const compiled = compileTemplate(toJson(value), place.roots, place.pointer);
    this.check(compiled, place, "INVALID_TEMPLATE");
    return compiled;
  }

  inputs(inputs: InputsDocument | undefined, place: Place): CompiledTemplate {
    const compiled = this.template(inputs ?? {}, place);
    if (typeof inputs === "string" && compiled.node.kind !== "whole" && compiled.faults.length === 0) {
      this.report("INVALID_TEMPLATE", '"inputs" must be an object, or a string that is one template.', place.pointer);
    }
    return compiled;
  }

  condition(condition: ConditionDocument, place: Place): CompiledCondition {
    const compiled = compileCondition(toJson(condition), place.roots, place.pointer);
    this.check(compiled, place, "INVALID_DOCUMENT");
    return compiled;
  }

  report(code: ErrorCode, message: string, pointer: string): void {
    this.problems.push({ code, message, pointer });
  }

  private check(
    { references, faults }: Pick<CompiledTemplate, "references" | "faults">,
    place: Place,
    code: ErrorCode,
  ): void {
    for (const fault of faults) this.report(code, fault.message, fault.pointer);
    for (const reference of references) {
      this.reads.push({ reference, stepId: place.stepId });
      if (reference.root === "steps") this.checkStep(reference, reference.stepId, place);
    }
  }

  private checkStep(reference: Reference, id: string, place: Place): void {
    const { text, pointer, field } = reference;
    const step = this.known.get(id);
    if (step === undefined) {
      const near = this.problems.length < maxHints ? nearest(id, this.known.keys()) : undefined;
      const hint = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
      this.report("UNKNOWN_STEP", `Template ${text} reads a step that is not there.${hint}`, pointer);
    } else if (!this.readable.has(id) && !(place.readsItself && id === place.stepId)) {
      const whose = id === place.stepId ? "its own step" : "a step that is not done by then";
      const message = `Template ${text} reads ${whose}: read steps that stand before it.`;
      this.report("UNREADABLE_STEP", message, pointer);
    } else if (field === "inputs") {
      this.readInputs.add(id);
      if (step.tool !== undefined || step.workflow !== undefined) return;
      const message = `Template ${text} reads the inputs of a step that sends none: read its result.`;
      this.report("UNREADABLE_STEP", message, pointer);
    }
  }
}
