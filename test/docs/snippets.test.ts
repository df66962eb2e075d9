import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import ts from "typescript";
import { afterAll, describe, expect, it, vi } from "vitest";
import { pages, readPage, root, snippets } from "./markdown.js";

describe("the snippets of a page", () => {
  const page = (...lines: string[]) => lines.join("\n");

  it.each([
    ["none", page("# Title", "", "```sh", "npm i", "```"), []],
    ["one, at its own line", page("# Title", "```ts", "f();", "```"), [{ heading: "Title", code: "\n\nf();\n" }]],
    [
      "two of one section, joined",
      page("```ts", "const a = 1;", "```", "text", "```ts", "f(a);", "```"),
      [{ heading: "", code: "\nconst a = 1;\n\n\n\nf(a);\n" }],
    ],
    [
      "two sections, apart",
      page("## A", "```ts", "a();", "```", "### still A", "```ts", "b();", "```", "## B", "```ts", "c();", "```"),
      [
        { heading: "A", code: "\n\na();\n\n\n\nb();\n" },
        { heading: "B", code: "\n\n\n\n\n\n\n\n\n\nc();\n" },
      ],
    ],
    [
      "a heading within code is code",
      page("```ts", "/*", "## A", "*/", "```"),
      [{ heading: "", code: "\n/*\n## A\n*/\n" }],
    ],
  ])("%s", (_name, text, expected) => {
    expect(snippets(text)).toEqual(expected);
  });
});

const folder = mkdtempSync(`${root}test/docs/.snippets-`);
afterAll(() => rmSync(folder, { recursive: true }));

const modules = pages().flatMap((page) =>
  snippets(readPage(page)).map(({ heading, code }, index) => {
    const file = `${folder}/${page.replaceAll("/", "-")}-${index}.ts`;
    writeFileSync(file, code);
    return { name: `${page}: ${heading}`, file };
  }),
);

describe("every ts block of the docs", () => {
  const program = compile(modules.map(({ file }) => file));

  it.each(modules)("$name is well typed", { timeout: 60_000 }, ({ file }) => {
    expect(faults(program, file)).toEqual([]);
  });

  it.each(modules)("$name runs", { timeout: 30_000 }, async ({ file }) => {
    vi.resetModules();
    await import(file);
  });

  it("speaks of TypeScript as `ts`, so that no block is passed over", () => {
    const others = pages().filter((page) =>
      /^ {0,3}```(typescript|js|javascript|tsx|ts[ \t]+\S.*)$/m.test(readPage(page)),
    );
    expect(others).toEqual([]);
  });
});

function compile(files: readonly string[]): ts.Program {
  const config = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  return ts.createProgram({ rootNames: [...files], options });
}

function faults(program: ts.Program, file: string): string[] {
  return ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map(({ messageText, start }) => {
    const line = (program.getSourceFile(file)?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) + 1;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}
