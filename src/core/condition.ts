import { canonicalJson, deepestNesting, isJsonArray, isJsonObject, type JsonValue } from "./json.js";
import { pointerTo } from "./path.js";
import {
  type CompiledTemplate,
  compileTemplate,
  lookUp,
  type Reference,
  type Root,
  resolveCompiled,
  type TemplateFault,
  type TemplateScope,
} from "./template.js";

/** A condition of `when` or `until`, its templates parsed. */
export interface CompiledCondition {
  /** Every template that is well-formed, in the order of the document. Those in `exists` count as `optional`. */
  readonly references: readonly Reference[];
  /** What is wrong. A condition with a fault is not to be evaluated. */
  readonly faults: readonly TemplateFault[];
  readonly test: Test;
}

type Test = (scope: TemplateScope) => boolean;

/**
 * Parses a condition, once and for all. Never throws: see `faults`.
 *
 * - A template, alone in its string, holds unless its value is `false`, `null`, `0` or `""`.
 * - `equals: [a, b]` compares as JSON: types count, the order of keys does not.
 * - `greater_than: [a, b]`, `less_than: [a, b]` compare two numbers, or two strings by their UTF-16 code units. Of any
 *   other two values neither holds.
 * - `exists: "{{…}}"` holds where the path leads somewhere, be it to `null`.
 * - `not`, `all` (holds for none), `any` (does not) take conditions, and ask them in order until it is decided.
 *
 * @param roots what may be read at this place.
 * @param base the JSON Pointer of the condition itself, which all pointers begin with. @default ""
 */
export function compileCondition(value: JsonValue, roots: readonly Root[], base = ""): CompiledCondition {
  const compilation: Compilation = { roots, references: [], faults: [] };
  const test = compile(value, { pointer: base, depth: 0, compilation });
  return { references: compilation.references, faults: compilation.faults, test };
}

/** @throws ToolweaveError `UNRESOLVED_REFERENCE` for a template that is asked, leads nowhere and does not allow for it. */
export function evaluateCondition(condition: CompiledCondition, scope: TemplateScope): boolean {
  return condition.test(scope);
}

interface Compilation {
  readonly roots: readonly Root[];
  readonly references: Reference[];
  readonly faults: TemplateFault[];
}

interface Place {
  readonly pointer: string;
  readonly depth: number;
  readonly compilation: Compilation;
}

type Operator = (operand: JsonValue, place: Place) => Test;

const operators: ReadonlyMap<string, Operator> = new Map([
  ["equals", comparison(areEqual)],
  ["greater_than", comparison((left, right) => isLess(right, left))],
  ["less_than", comparison(isLess)],
  ["exists", exists],
  ["not", not],
  ["all", combination((tests, scope) => tests.every((test) => test(scope)))],
  ["any", combination((tests, scope) => tests.some((test) => test(scope)))],
]);

function compile(value: JsonValue, place: Place): Test {
  if (typeof value === "string") return truthy(value, place);
  if (place.depth === deepestNesting) return refuse(`is nested deeper than ${deepestNesting} levels`, place);
  const [entry, ...others] = isJsonObject(value) ? Object.entries(value) : [];
  const operator = others.length === 0 ? operators.get(entry?.[0] ?? "") : undefined;
  if (entry === undefined || operator === undefined) {
    return refuse(`must be a template, or an object with exactly one of ${[...operators.keys()].join(", ")}`, place);
  }
  return operator(entry[1], below(place, entry[0]));
}

function truthy(text: string, place: Place): Test {
  const template = compileWhole(text, place);
  for (const reference of template.references) place.compilation.references.push(reference);
  return (scope) => {
    const value = resolveCompiled(template, scope);
    return value !== null && value !== false && value !== 0 && value !== "";
  };
}

function exists(operand: JsonValue, place: Place): Test {
  const { references } = compileWhole(operand, place);
  for (const reference of references) place.compilation.references.push({ ...reference, optional: true });
  return (scope) => references.every((reference) => lookUp(reference, scope) !== undefined);
}

function not(operand: JsonValue, place: Place): Test {
  const test = compile(operand, place);
  return (scope) => !test(scope);
}

function combination(decide: (tests: readonly Test[], scope: TemplateScope) => boolean): Operator {
  return (operand, place) => {
    if (!isJsonArray(operand)) return refuse("must be an array of conditions", place);
    const tests = operand.map((each, index) => compile(each, below(place, index)));
    return (scope) => decide(tests, scope);
  };
}

function comparison(compare: (left: JsonValue, right: JsonValue) => boolean): Operator {
  return (operand, place) => {
    const operands = isJsonArray(operand) ? operand : [];
    const [left, right] = operands.map((each, index) => compileOperand(each, below(place, index)));
    if (left === undefined || right === undefined || operands.length > 2) {
      return refuse("must be an array of the two values to compare", place);
    }
    return (scope) => compare(resolveCompiled(left, scope), resolveCompiled(right, scope));
  };
}

function compileOperand(value: JsonValue, { pointer, compilation }: Place): CompiledTemplate {
  const template = compileTemplate(value, compilation.roots, pointer);
  for (const reference of template.references) compilation.references.push(reference);
  for (const fault of template.faults) compilation.faults.push(fault);
  return template;
}

/** A template alone in its string. */
function compileWhole(value: JsonValue, place: Place): CompiledTemplate {
  const template = compileTemplate(value, place.compilation.roots, place.pointer);
  for (const fault of template.faults) place.compilation.faults.push(fault);
  const isFine = template.faults.length > 0 || template.node.kind === "whole";
  if (!isFine) refuse("must be one template, with nothing around it", place);
  return template;
}

function below(place: Place, key: string | number): Place {
  return { ...place, pointer: place.pointer + pointerTo([key]), depth: place.depth + 1 };
}

function refuse(reason: string, { pointer, compilation }: Place): Test {
  compilation.faults.push({ pointer, message: `The condition ${reason}.` });
  return () => false;
}

function isLess(left: JsonValue, right: JsonValue): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}

function areEqual(left: JsonValue, right: JsonValue): boolean {
  return left === right || canonicalJson(left) === canonicalJson(right);
}
