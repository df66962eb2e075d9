import { isPlainObject, isWorkflow } from "./document.js";
import type { Problem } from "./errors.js";
import { pointerTo } from "./path.js";
import { isStandardSchema } from "./schema.js";

/** The problems in the order of their places, each once. One of what is missing stands where its object does. */
export function inDocumentOrder<P extends Problem>(problems: readonly P[], document: unknown): P[] {
  const wanted = new Set(problems.map(({ code, message, pointer }) => `${pointer}\n${code}\n${message}`));
  const distinct = problems.filter(({ code, message, pointer }) => wanted.delete(`${pointer}\n${code}\n${message}`));
  if (distinct.length < 2) return distinct;
  const ranks = new Map<string, number>();
  rank(document, "", ranks);
  const ranked = distinct.map((problem) => ({ problem, rank: rankOf(problem.pointer, ranks) }));
  return ranked.sort((left, right) => left.rank - right.rank).map(({ problem }) => problem);
}

function rank(value: unknown, pointer: string, ranks: Map<string, number>): void {
  ranks.set(pointer, ranks.size);
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) rank(element, `${pointer}/${index}`, ranks);
  } else if (isPlainObject(value) && !isStandardSchema(value) && !(isWorkflow(value) && pointer !== "")) {
    for (const [key, property] of Object.entries(value)) rank(property, pointer + pointerTo([key]), ranks);
  }
}

function rankOf(pointer: string, ranks: ReadonlyMap<string, number>): number {
  const rank = ranks.get(pointer);
  if (rank !== undefined || pointer === "") return Number(rank);
  return rankOf(pointer.slice(0, pointer.lastIndexOf("/")), ranks);
}
