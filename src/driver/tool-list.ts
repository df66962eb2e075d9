import { errorText, ToolError, ToolweaveError } from "../core/errors.js";
import type { JsonObject } from "../core/json.js";
import { cutCredentials } from "../core/redact.js";
import type { Validator } from "../core/schema.js";
import type { Tool, ToolAdapter, ToolCallContext, ToolInfo, Tools } from "../ports/tool-adapter.js";
import type { CheckedTool } from "../ports/tool-info.js";
import { checkTool, toolSubject } from "../ports/tool-info.js";
import { isSameList } from "./same-list.js";

/** A published tool, and the way to call it. */
export interface ListedTool {
  readonly name: string;
  readonly info: ToolInfo;
  readonly effect: "read" | "write";
  readonly idempotent: boolean;
  /** Absent where any object will do. */
  readonly schema?: Validator;
  /** Calls it with inputs that were checked, which it may change. It may throw, and give a promise or not. */
  call(inputs: JsonObject, context: ToolCallContext): unknown;
}

/** Tools by name. */
export type ToolList = ReadonlyMap<string, ListedTool>;

/** What was listed before of the same frozen tools, by the value that was given for them. */
const lists = new WeakMap<object, { readonly sources: readonly object[]; readonly list: ToolList }>();

/**
 * Lists tools anew: every adapter is asked again, and nothing that it says is trusted. Where there are frozen tools
 * alone, the list is the very one of the last time.
 *
 * @throws ToolweaveError `INVALID_OPTIONS` for what is neither tool nor adapter or publishes something else than tools,
 *   `INVALID_SCHEMA`, `DUPLICATE_TOOL`. ToolError (not applied: no tool was called) where an adapter could not list.
 */
export async function listTools(tools: Tools): Promise<ToolList> {
  const given = isArray(tools) ? tools : [tools];
  const known = lists.get(tools);
  if (known !== undefined && isSameList(known.sources, given)) return known.list;
  // The array is the caller's, who may change it while adapters are asked.
  const sources = [...given];
  const listings = await Promise.all(sources.map((source, index) => listSource(source, `tools[${index}]`)));
  const list = byName(listings.flat());
  if (sources.every((source) => listed.has(source))) lists.set(tools, { sources, list });
  return list;
}

function isArray(tools: Tools): tools is readonly (Tool | ToolAdapter)[] {
  return Array.isArray(tools);
}

function byName(tools: readonly ListedTool[]): ToolList {
  const list = new Map<string, ListedTool>();
  for (const tool of tools) {
    if (list.has(tool.name)) {
      throw new ToolweaveError(
        "DUPLICATE_TOOL",
        `${toolSubject(tool.name)} is published twice. Give each tool a name of its own, or leave one of them out.`,
      );
    }
    list.set(tool.name, tool);
  }
  return list;
}

function listSource(source: Tool | ToolAdapter, place: string): ListedTool | Promise<ListedTool[]> {
  if (isObject(source) && "execute" in source && typeof source.execute === "function") return listTool(source, place);
  if (isObject(source) && "list" in source && typeof source.list === "function" && typeof source.call === "function") {
    return listAdapter(source, place);
  }
  throw new ToolweaveError(
    "INVALID_OPTIONS",
    `${place} is neither a tool (which has execute) nor an adapter (which has list and call). ` +
      "Make it with defineTool, and await what is a promise.",
  );
}

const listed = new WeakMap<object, ListedTool>();

function listTool(tool: Tool, place: string): ListedTool {
  const known = listed.get(tool);
  if (known !== undefined) return known;
  const fresh = listedTool(checkTool(tool, place), (inputs, context) => tool.execute(inputs, context));
  // One that may still change is read again every time.
  if (Object.isFrozen(tool)) listed.set(tool, fresh);
  return fresh;
}

async function listAdapter(adapter: ToolAdapter, place: string): Promise<ListedTool[]> {
  const published = await publishedBy(adapter, place);
  if (published === undefined) {
    throw new ToolweaveError("INVALID_OPTIONS", `${place}: list() must give an array of tools.`);
  }
  return published.map((info, index) => {
    const checked = checkTool(info, `${place}.list()[${index}]`);
    const { name } = checked.info;
    return listedTool(checked, (inputs, context) => adapter.call(name, inputs, context));
  });
}

async function publishedBy(adapter: ToolAdapter, place: string): Promise<ToolInfo[] | undefined> {
  try {
    const published = await adapter.list();
    return Array.isArray(published) ? Array.from(published) : undefined;
  } catch (error) {
    throw new ToolError(`${place} could not list its tools: ${cutCredentials(errorText(error))}`, { cause: error });
  }
}

function listedTool({ info, schema }: CheckedTool, call: ListedTool["call"]): ListedTool {
  const { name, effect, idempotent } = info;
  return Object.freeze({ name, info, effect, idempotent, schema, call });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
