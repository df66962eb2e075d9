import type { Definition } from "./define.js";
import type { Problem } from "./errors.js";
import { compileJsonSchema } from "./json-validator.js";
import type { Read } from "./reading.js";
import { type PathRule, pathRules } from "./schema-walk.js";
import { callKeys } from "./shape.js";

/** What the runtime lays beside a child's input, whatever its schema says. */
const laidKeys: ReadonlySet<string> = new Set([...callKeys, "state", "iteration"]);

/** Templates that read what the input schema, being closed, has no place for. */
export function inputProblems(definition: Definition): Problem[] {
  return readsOf(definition, "refused").map(({ reference: { text, pointer } }) => {
    return { code: "UNKNOWN_INPUT", message: `Template ${text} reads what input_schema does not allow.`, pointer };
  });
}

/** Templates that read what may not be there, and do not allow for it. */
export function optionalInputs(definition: Definition): Problem[] {
  return readsOf(definition, "optional")
    .filter(({ reference }) => !reference.optional)
    .map(({ reference: { text, pointer } }) => {
      const message = `Template ${text} reads what input_schema does not require: require it, or allow for its absence with ? or ??.`;
      return { code: "OPTIONAL_INPUT", message, pointer };
    });
}

function readsOf({ plan, reads }: Definition, wanted: PathRule): Read[] {
  const schema = plan.input?.json;
  if (schema === undefined) return [];
  const ruleOf = pathRules(compileJsonSchema(schema));
  return reads.filter(({ reference: { root, segments } }) => {
    const [first] = segments;
    if (root !== "input" || first === undefined || laidKeys.has(first)) return false;
    return ruleOf(segments) === wanted;
  });
}
