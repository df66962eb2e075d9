import type { CallTool } from "../core/effect.js";
import { readFailure } from "../core/failure.js";
import { copyJson, type JsonObject } from "../core/json.js";
import type { CallOutcome } from "../core/settle.js";
import type { ToolCallContext } from "../ports/tool-adapter.js";
import { prepareWrite } from "./ask-write.js";
import type { Prepared, Route } from "./route.js";
import { withInputs } from "./tool-inputs.js";
import type { ListedTool } from "./tool-list.js";
import { failed, isError, keep } from "./tool-result.js";

/**
 * The one route to a tool.
 *
 * 1. Inputs are checked before any question is asked or call made; the schema's output is what is shown and sent.
 * 2. A write is made only from its own durable intent; `prepare` gives the intent, `send` makes the call.
 * 3. What runs is what was shown: before every attempt the tools are listed, the fingerprint of one that is not the very
 *    same is computed anew, and a difference asks again.
 * 4. A decision serves all attempts of one call, and nothing else.
 * 5. What comes back is normalized, bounded and scrubbed once, here.
 */
export function prepare(route: Route, effect: CallTool): Prepared | Promise<Prepared> {
  const tool = route.tools.get(effect.tool);
  if (tool?.effect !== "read") return prepareWrite(route, effect);
  return withInputs(route, tool, effect, (inputs) => ({ kind: "read", tool, inputs }));
}

/** Calls the tool, once: a read, or a write whose intent is durable. */
export async function send(
  route: Route,
  tool: ListedTool,
  inputs: JsonObject,
  context: ToolCallContext,
  call: { readonly isAborted: boolean },
): Promise<CallOutcome> {
  let returned: unknown;
  try {
    returned = await tool.call(copyJson(inputs), context);
    if (isError(returned)) throw returned;
  } catch (thrown) {
    const { effect } = tool;
    return failed(route, readFailure(thrown, { effect, aborted: call.isAborted, scrub: route.scrub }));
  }
  // The inputs of a write are in its intent.
  return keep(route, returned, tool.effect === "read" ? inputs : undefined);
}
