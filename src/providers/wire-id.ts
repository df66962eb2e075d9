import { sha256 } from "@noble/hashes/sha2.js";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A text of letters and digits, at most 32 long, that stands for an id: the same for the same id, in any turn. */
export function shortId(id: string, length: number): string {
  return Array.from(sha256(id).subarray(0, length), (byte) => letters[byte % letters.length]).join("");
}

const markLength = 6;

/** A name without what a provider refuses in it; the same for the same name. What is too long is cut, and told apart by a mark. */
export function fitName(name: string, refused: RegExp, length: number): string {
  const fitting = name.replaceAll(refused, "_");
  if (fitting.length <= length) return fitting;
  return `${fitting.slice(0, length - markLength - 1)}_${shortId(name, markLength)}`;
}
