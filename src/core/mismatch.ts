import { ToolweaveError } from "./errors.js";
import type { Issue } from "./schema.js";

/** The error for a value that does not fit a schema: where and why, never the value. */
export function inputMismatch(subject: string, issues: readonly Issue[]): ToolweaveError {
  const list = issues.slice(0, 5).map(({ pointer, message }) => `${pointer || "/"}: ${message}`);
  const more = issues.length > list.length ? `; and ${issues.length - list.length} more` : "";
  return new ToolweaveError(
    "INVALID_INPUT",
    `${subject}: the input does not fit its schema: ${list.join("; ")}${more}`,
    {
      details: { issues: issues.map(({ pointer, message }) => ({ pointer, message })) },
    },
  );
}
