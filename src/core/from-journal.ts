import { isToolweaveError, ToolweaveError } from "./errors.js";

/**
 * What is read from the records of a run.
 *
 * @throws ToolweaveError `INVALID_JOURNAL` for whatever fails on them unforeseen: they are not such as we write.
 */
export function fromJournal<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isToolweaveError(cause)) throw cause;
    const message = "The journal holds what no run of this library records. Restore it from a copy.";
    throw new ToolweaveError("INVALID_JOURNAL", message, { cause });
  }
}
