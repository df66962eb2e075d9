import type { TemplateNode } from "./compile-template.js";
import { isJsonObject } from "./json.js";
import { compileJsonSchema, type Issue, type JsonValidator, type Part } from "./json-validator.js";
import { pointerBelow } from "./path.js";
import type { Validator } from "./schema.js";
import { conjuncts, propertyRule, requiredBy } from "./schema-walk.js";

/**
 * What is known not to fit before any template is resolved: the schema is held against the value property by property,
 * as far down as a part without templates.
 *
 * @param laid properties that the runtime lays beside the inputs.
 */
export function literalIssues(schema: Validator, inputs: TemplateNode, laid: readonly string[] = []): readonly Issue[] {
  if (schema.jsonInput === undefined) return [];
  const validator = compileJsonSchema(schema.jsonInput);
  const issues: Issue[] = [];
  if (inputs.kind === "literal" && laid.length === 0) return validator.check(inputs.value);
  holdAgainst([validator.root], inputs, { validator, pointer: "", laid, issues });
  return issues;
}

interface Walk {
  readonly validator: JsonValidator;
  readonly pointer: string;
  readonly laid: readonly string[];
  readonly issues: Issue[];
}

function holdAgainst(parts: readonly Part[], node: TemplateNode, walk: Walk): void {
  const { validator, pointer, laid, issues } = walk;
  const properties = propertiesOf(node);
  if (node.kind === "literal" && (properties === undefined || laid.length === 0)) {
    for (const part of parts) {
      for (const issue of validator.checkPart(part, node.value)) {
        issues.push({ ...issue, pointer: pointer + issue.pointer });
      }
    }
  } else if (properties !== undefined) {
    const schemas = conjuncts(validator, parts);
    for (const key of requiredBy(schemas)) {
      if (properties.has(key) || laid.includes(key)) continue;
      issues.push({ pointer, message: `The property ${JSON.stringify(key)} is missing.` });
    }
    for (const [key, property] of properties) {
      const rule = propertyRule(schemas, key);
      const place = pointerBelow(pointer, key);
      if (rule.isRefused) issues.push({ pointer: place, message: "Nothing may stand here." });
      else holdAgainst(rule.parts, property, { ...walk, pointer: place, laid: [] });
    }
  }
}

function propertiesOf(node: TemplateNode): ReadonlyMap<string, TemplateNode> | undefined {
  if (node.kind === "object") return new Map(node.properties);
  if (node.kind !== "literal" || !isJsonObject(node.value)) return undefined;
  return new Map(Object.entries(node.value).map(([key, value]) => [key, { kind: "literal", value }]));
}
