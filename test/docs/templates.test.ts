import { describe, expect, it } from "vitest";
import { ToolweaveError } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import { resolveTemplate } from "../../src/core/template.js";
import { readPage } from "./markdown.js";

const page = readPage("docs/templates.md");
const section = page.slice(page.indexOf("## Examples"), page.indexOf("## Rules"));
const scope = JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? "");
const rows = [...section.matchAll(/^\| `(.+?)` \| `?(.+?)`? \|$/gm)].map(([, template = "", gives = ""]) => ({
  template: template.replaceAll("\\|", "|"),
  gives,
}));

describe("the examples of docs/templates.md", () => {
  it.each(rows)("$template", ({ template, gives }) => {
    const value: JsonValue = JSON.parse(template);
    if (/^[A-Z_]+$/.test(gives)) expect(codeOf(value)).toBe(gives);
    else expect(resolveTemplate(value, scope)).toEqual(JSON.parse(gives));
  });

  it("are all read", () => {
    const [, ...lines] = section.match(/^\| [^-].*$/gm) ?? [];
    expect(rows).toHaveLength(lines.length);
  });
});

function codeOf(value: JsonValue): string | undefined {
  try {
    resolveTemplate(value, scope);
  } catch (error) {
    if (error instanceof ToolweaveError) return error.code;
    throw error;
  }
  return undefined;
}
