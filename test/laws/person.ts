import type { JsonValue } from "../../src/core/json.js";
import type { Answer, Question } from "../../src/core/question.js";
import type { PolicyDecision, PolicyWrite } from "../../src/ports/policy.js";
import { behaviourOf, resultOf, type World } from "./world.js";

/** How a person who can look into the world answers. */
export function answerTo(question: Question, world: World): Answer {
  switch (question.kind) {
    case "input":
      return { value: valueFor(question.stepId) };
    case "approval":
      return { decision: question.fields.no === true ? "reject" : "approve", by: "ada" };
    case "in_doubt": {
      const { path, attempt, tool, fields, runId } = question;
      const key = `${runId}:${path}`;
      const behaviour = behaviourOf(fields);
      if (behaviour === "unknown" && world.has(key)) return { decision: "fail", by: "ada" };
      if (world.has(key)) return { decision: "done", result: resultOf(tool, path, fields), by: "ada" };
      // What does not settle by itself is not called again where nobody would abort it.
      if (behaviour === "hang") return { decision: "not_applied", by: "ada" };
      const hasFailed = world.arrived.has(`${key}#${attempt}`) && behaviour !== "lose_call";
      return { decision: hasFailed ? "not_applied" : "retry", by: "ada" };
    }
    default:
      return question satisfies never;
  }
}

function valueFor(stepId: string): JsonValue {
  return `the ${stepId}`;
}

/** A policy that decides as the person would. */
export function approveAll({ fields }: PolicyWrite): PolicyDecision {
  return fields.no === true ? "reject" : "approve";
}
