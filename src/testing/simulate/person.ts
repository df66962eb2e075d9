import { ToolweaveError } from "../../core/errors.js";
import { isJsonObject, type JsonValue } from "../../core/json.js";
import type { Answer, DoubtQuestion, Question } from "../../core/question.js";
import { compileSchema, type JsonSchema } from "../../core/schema.js";
import type { Menu, Option } from "./schedule.js";
import type { Witness } from "./witness.js";

/** By step: the values that its `ask` is given, or the fields that a person changes when its write is approved. */
export type Alternatives = Readonly<Record<string, readonly JsonValue[]>>;

const by = "somebody";

const later: Option = { take: "later", fault: "answer", bearing: "none" };
const lasting = (take: string, given?: JsonValue): Option => ({ take, fault: "answer", bearing: "lasting", given });
const otherwise = (take: string): Option => ({ take, fault: "answer" });

/** What a person may say, who can look into the systems and so knows what became of a write in doubt. */
export class Person {
  constructor(
    private readonly alternatives: Alternatives,
    private readonly witness: Witness,
  ) {}

  /** @param isLater whether the question has been left for later already */
  answersTo(question: Question, isLater = false): Menu {
    const menu = this.choicesOf(question);
    if (isLater) return menu;
    return question.kind === "approval" ? [...menu, later, otherwise("two answers")] : [...menu, later];
  }

  private choicesOf(question: Question): Menu {
    const { stepId } = question;
    const given = this.alternatives[stepId] ?? [];
    switch (question.kind) {
      case "approval": {
        const edits =
          question.purpose === "step" ? given.map((fields, index) => lasting(`edit ${index + 1}`, fields)) : [];
        return [{ take: "approve" }, lasting("reject"), ...edits];
      }
      case "input":
        return [
          { take: "value 1", given: given[0] },
          ...given.slice(1).map((value, index) => lasting(`value ${index + 2}`, value)),
        ];
      case "in_doubt": {
        const [truth, ...others] = this.truthsOf(question);
        return [{ take: truth }, ...others.map(otherwise)];
      }
      default:
        return question satisfies never;
    }
  }

  private truthsOf({ runId, path, attempt }: DoubtQuestion): readonly [string, ...string[]] {
    if (this.witness.writeOf(`${runId}:${path}`) !== undefined) return ["done", "fail"];
    return this.witness.hasFailed(path, attempt) ? ["not_applied", "fail"] : ["retry", "not_applied", "fail"];
  }

  answer(question: Question, take: string): Answer {
    const { runId, path, stepId, kind } = question;
    if (kind === "input") return { by, value: this.valueOf(question, take) };
    const index = numberIn(take);
    const edit = index === undefined ? undefined : this.alternatives[stepId]?.[index];
    if (isJsonObject(edit)) return { by, decision: "approve", fields: edit };
    switch (take) {
      case "done":
        return { by, decision: "done", result: this.witness.writeOf(`${runId}:${path}`)?.result ?? null };
      case "retry":
      case "not_applied":
      case "fail":
      case "reject":
        return { by, decision: take };
      default:
        return { by, decision: "approve" };
    }
  }

  private valueOf({ stepId, schema }: Extract<Question, { kind: "input" }>, take: string): JsonValue {
    const value = this.alternatives[stepId]?.[numberIn(take) ?? 0];
    if (value !== undefined) return value;
    const found = someValue(schema);
    if (found !== undefined) return found;
    throw new ToolweaveError(
      "INVALID_OPTIONS",
      `simulate: step ${stepId} asks for a value that can't be made up. Give it: answers: { ${stepId}: [value] }.`,
    );
  }
}

/** From 0. */
function numberIn(take: string): number | undefined {
  const [, number] = /^(?:edit|value) (\d+)$/.exec(take) ?? [];
  return number === undefined ? undefined : Number(number) - 1;
}

/** A value that fits, where one is easily found. */
function someValue(schema: JsonSchema | undefined): JsonValue | undefined {
  if (schema === undefined || typeof schema === "boolean") return "a value";
  const { const: only, default: usual, examples, enum: listed } = schema;
  const stated = [usual, only, ...listOf(examples), ...listOf(listed)].filter((value) => value !== undefined);
  const validator = compileSchema(schema);
  return [...stated, "a value", true, 1, 0, {}, [], null].find((value) => {
    const validation = validator.validate(value, { maxBytes: 1_000_000, maxDepth: 100 });
    return !(validation instanceof Promise) && "value" in validation;
  });
}

function listOf(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
