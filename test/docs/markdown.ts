import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The pages that people read, relative to the root. Decisions are history: their code need not run for ever. */
export function pages(): string[] {
  const docs = readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    ...docs.filter((file) => file.endsWith(".md") && !/^decisions\b/.test(file)).map((file) => `docs/${file}`),
  ].sort();
}

export function readPage(page: string): string {
  return readFileSync(`${root}${page}`, "utf8");
}

export interface Snippet {
  /** The `##` heading above, or "" before the first. */
  heading: string;
  /** The `ts` blocks of one section as a module; each line stands where it stands in the page. */
  code: string;
}

/** The `ts` blocks of a page, those under one `##` heading joined into one module. */
export function snippets(page: string): Snippet[] {
  const lines = page.split("\n");
  const found: Snippet[] = [];
  let fence: string | undefined;
  let heading = "";
  let code: string[] | undefined;

  const close = () => {
    if (code !== undefined) found.push({ heading, code: `${code.join("\n")}\n` });
    code = undefined;
  };

  for (const [at, line] of lines.entries()) {
    const mark = /^ {0,3}```([^`]*)$/.exec(line)?.[1]?.trim();
    if (fence !== undefined) {
      if (mark === "") fence = undefined;
      else if (fence === "ts") code?.push(...blank(at - code.length), line);
    } else if (mark !== undefined) {
      fence = mark;
      if (mark === "ts") code ??= [];
    } else if (/^##? /.test(line)) {
      close();
      heading = line.replace(/^#+ /, "");
    }
  }
  close();
  return found;
}

function blank(count: number): string[] {
  return new Array<string>(count).fill("");
}
