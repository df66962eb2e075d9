import { z } from "zod";
import type { JsonValue } from "./json.js";
import type { JsonLiteral } from "./json-literal.js";
import { once } from "./once.js";
import type { InferOutput, Schema } from "./schema.js";

/** Inputs by name, or one template that gives them all. */
export type InputsDocument = { readonly [key: string]: JsonLiteral } | string;

/** A template whose value is truthy, or an object with exactly one of these keys. */
export type ConditionDocument = string | ConditionObject;

// An alias, not an interface: only an alias counts as JSON.
export type ConditionObject = {
  /** Two values. */
  readonly equals?: readonly JsonLiteral[];
  readonly greater_than?: readonly JsonLiteral[];
  readonly less_than?: readonly JsonLiteral[];
  /** A template. */
  readonly exists?: string;
  readonly not?: ConditionDocument;
  readonly all?: readonly ConditionDocument[];
  readonly any?: readonly ConditionDocument[];
};

/** `"fail_fast"` or `"ignore"`. Typed as text too, since an imported file says no more; the definition checks it. */
export type OnErrorDocument = "fail_fast" | "ignore" | (string & Record<never, never>);

/** What a `run` function reads. */
export interface RunScope<Input = JsonValue> {
  /** As the input schema gave it. */
  readonly input: Input;
  readonly steps: Readonly<Record<string, { readonly result?: JsonValue; readonly inputs?: JsonValue }>>;
}

export interface RunContext {
  readonly runId: string;
  readonly stepId: string;
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** A step in code. It counts as a read: it may be called again after a restart. */
export type RunFunction<Input = JsonValue> = (scope: RunScope<Input>, context: RunContext) => unknown;

/** The longest duration of a document: a hundred years, so that no sum with a time leaves the range of dates. */
export const maxDurationMs = 100 * 365.25 * 24 * 60 * 60 * 1000;

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;
const refusedNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a workflow or step may bear the name. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && namePattern.test(value) && !refusedNames.has(value);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What a schema says of itself is the predicate of the message: `"retries" must be …`.
const be = {
  name: "1 to 64 letters, digits, _ or - (and neither __proto__, constructor nor prototype)",
  tool: "the name of a tool: text that is not empty and holds no template",
  text: "text",
  inputs: "an object, or a string that is one template",
  value: "given",
  duration: `a whole number of milliseconds, from 0 to ${maxDurationMs}`,
  timeout: `a whole number of milliseconds, from 1 to ${maxDurationMs}`,
  retries: "a whole number from 0 to 3",
  atLeastOne: "a whole number of at least 1",
  iterations: "a whole number from 1 to 1024",
  onError: '"fail_fast" or "ignore"',
  steps: "a list of at least one step",
  schema: "a JSON Schema (an object or a boolean) or, in code, a Standard Schema",
} as const;

/** What of a step says what it does: exactly one of these. */
export const stepKinds = [
  "tool",
  "workflow",
  "tool_dispatch",
  "repeat",
  "for_each",
  "parallel",
  "ask",
  "sleep_ms",
  "run",
] as const;

export const stepKeys = [
  "id",
  "when",
  "retries",
  "timeout_ms",
  "output_key",
  "compensate",
  "fallback",
  "inputs",
  ...stepKinds,
] as const;

type StepKey = (typeof stepKeys)[number];

/** An object with these keys only. Of an unknown key the message lists those that are known. */
function strict<T extends z.ZodRawShape>(shape: T) {
  const keys = Object.keys(shape).join(", ");
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? keys : "an object") });
}

function wholeNumber(min: number, max: number, expected: string) {
  return z.int(expected).min(min, expected).max(max, expected);
}

/** Every part of a document. To build these takes about as long as to evaluate all other modules. */
function buildSchemas() {
  const name = z.custom<string>(isName, { message: be.name, params: { code: "INVALID_NAME" } });
  const tool = z
    .string(be.tool)
    .min(1, be.tool)
    .refine((text) => !text.includes("{{"), { message: be.tool, params: { code: "INVALID_TEMPLATE" } });
  const text = z.string(be.text);
  const value = z.custom<JsonLiteral>((given) => given !== undefined, be.value);
  const inputs = z
    .custom<InputsDocument>((given) => isPlainObject(given) || typeof given === "string", be.inputs)
    .optional();
  const condition = z.custom<ConditionDocument>((given) => given !== undefined, be.value);
  const duration = wholeNumber(0, maxDurationMs, be.duration);
  const timeout = wholeNumber(1, maxDurationMs, be.timeout).optional();
  const retries = wholeNumber(0, 3, be.retries).optional();
  const onError = z
    .custom<OnErrorDocument>((given) => given === "fail_fast" || given === "ignore", be.onError)
    .optional();
  const schema = z.custom<Schema>(
    (given) => typeof given === "boolean" || typeof given === "function" || isPlainObject(given),
    be.schema,
  );

  const compensate = strict({
    tool,
    inputs,
    retries,
    timeout_ms: timeout,
    if_in_doubt: z.boolean("true or false").optional(),
  });

  const fallback = strict({ tool, inputs, compensate: compensate.optional() });

  const ask = strict({
    prompt: text,
    schema: schema.optional(),
    expires_after_ms: timeout,
    default: value.optional(),
  });

  const repeat = strict({
    workflow: name,
    inputs,
    state: value,
    until: condition.optional(),
    max_iterations: wholeNumber(1, 1024, be.iterations),
    delay_ms: duration.optional(),
  });

  const forEach = strict({
    items: value,
    workflow: name,
    inputs,
    max_concurrent: wholeNumber(1, Number.MAX_SAFE_INTEGER, be.atLeastOne).optional(),
    on_error: onError,
  });

  const handler = strict({
    flow: z
      .custom<string | Workflow>(
        (given) => isName(given) || isPlainObject(given),
        `a workflow, or its name: ${be.name}`,
      )
      .optional(),
    tool: tool.optional(),
    input: z.custom<{ readonly [key: string]: JsonLiteral }>(isPlainObject, "an object of mappings").optional(),
  });

  const dispatch = strict({
    source_key: text.min(1, "text that is not empty").optional(),
    tools: z.record(z.string(), handler, "an object of handlers, by the name of the tool"),
    output_key: text.min(1, "text that is not empty").optional(),
    on_error: onError,
    max_calls: wholeNumber(1, Number.MAX_SAFE_INTEGER, be.atLeastOne).optional(),
    max_concurrent: wholeNumber(1, Number.MAX_SAFE_INTEGER, be.atLeastOne).optional(),
  });

  const stepShape = {
    id: name,
    when: condition.optional(),
    retries,
    timeout_ms: timeout,
    output_key: text.min(1, "text that is not empty").optional(),
    compensate: compensate.optional(),
    fallback: fallback.optional(),
    tool: tool.optional(),
    workflow: name.optional(),
    inputs,
    tool_dispatch: dispatch.optional(),
    repeat: repeat.optional(),
    for_each: forEach.optional(),
    ask: ask.optional(),
    sleep_ms: duration.optional(),
    run: z
      .custom<RunFunction>((given) => typeof given === "function", "a function, which only code can give")
      .optional(),
  } satisfies Record<Exclude<StepKey, "parallel">, z.ZodType>;

  const step = strict({
    ...stepShape,
    get parallel(): z.ZodOptional<z.ZodArray<z.ZodType<StepDocument>>> {
      return z.array(step, be.steps).min(1, be.steps).optional();
    },
  });

  const workflow = strict({
    name,
    steps: z.array(step, be.steps).min(1, be.steps),
    description: text.optional(),
    input_schema: schema.optional(),
    output: value.optional(),
    timeout_ms: timeout,
  });

  return { compensate, fallback, handler, dispatch, stepShape, workflow };
}

type Schemas = ReturnType<typeof buildSchemas>;

const schemas = once(buildSchemas);

export function documentSchema(): Schemas["workflow"] {
  return schemas().workflow;
}

export interface CompensateDocument extends Readonly<z.input<Schemas["compensate"]>> {}
export interface FallbackDocument extends Readonly<z.input<Schemas["fallback"]>> {}
/** The configuration of a `tool_dispatch`. */
export interface DispatchConfig extends Readonly<z.input<Schemas["dispatch"]>> {}
/** What serves the calls of one tool name: exactly one of `flow` and `tool`. */
export interface HandlerDocument extends Readonly<z.input<Schemas["handler"]>> {}

/** One step: exactly one of `stepKinds`. */
export interface StepDocument<Input = JsonValue>
  extends Readonly<Omit<z.input<z.ZodObject<Schemas["stepShape"]>>, "run">> {
  // A method, so that a step whose function reads a narrower input is still a step.
  run?(scope: RunScope<Input>, context: RunContext): unknown;
  readonly parallel?: readonly StepDocument<Input>[];
}

/** A workflow as an author writes it: a literal, or the content of a JSON file. */
export interface WorkflowDocument<S extends Schema = Schema>
  extends Readonly<Omit<z.input<Schemas["workflow"]>, "steps" | "input_schema">> {
  readonly input_schema?: S;
  readonly steps: readonly StepDocument<InferOutput<S>>[];
}

/** What `defineWorkflow` puts on a workflow, out of sight of JSON; the same in every copy of the package. */
export const workflowBrand = Symbol.for("toolweave.workflow");

export function isWorkflow(value: unknown): value is Workflow {
  return typeof value === "object" && value !== null && workflowBrand in value;
}

declare const inputType: unique symbol;

/**
 * A checked, deeply frozen workflow, exactly the document: `JSON.stringify` gives it back. Made by `defineWorkflow`.
 * `Input` is what a run of it takes.
 */
export interface Workflow<Input = unknown> extends WorkflowDocument {
  /** For types only: no such property exists. */
  readonly [inputType]: Input;
}
