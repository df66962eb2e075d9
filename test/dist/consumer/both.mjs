import { createRequire } from "node:module";
import * as imported from "toolweave";

/** @type {typeof imported} */
const required = createRequire(import.meta.url)("toolweave");

console.log(
  JSON.stringify({
    sameClass: imported.ToolError === required.ToolError,
    importedIsKnown: required.isToolweaveError(new imported.ToolError("late")),
    requiredIsKnown: imported.isToolweaveError(new required.ToolError("late")),
    otherIsNot: imported.isToolweaveError(new Error("late")),
  }),
);
