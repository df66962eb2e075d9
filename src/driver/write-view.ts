import { copyJson, type JsonObject } from "../core/json.js";
import { maskAt, maskedBy } from "../core/mask.js";
import type { Call } from "../core/node.js";
import type { ApprovalQuestionBody } from "../core/question.js";
import type { Scrubber } from "./scrub.js";
import type { ListedTool } from "./tool-list.js";

/** How a write is shown to whoever decides about it. Texts are the tool's own, and are scrubbed like its results. */
export type Shown = Omit<
  ApprovalQuestionBody,
  "kind" | "id" | "undo" | "fingerprint" | "schema" | "reason" | "supersedes"
>;

export function writeView(call: Call, tool: ListedTool, fields: JsonObject, scrub: Scrubber): Shown {
  const { site } = tool.info;
  const { masked } = maskedBy(tool.schema?.json, fields);
  const { page, action, labels } = previewOf(tool, maskAt(fields, masked));
  return {
    stepId: call.stepId,
    path: call.path,
    purpose: call.purpose,
    tool: tool.name,
    ...(site === undefined ? {} : { site: scrub.text(site) }),
    ...(page === undefined ? {} : { page: scrub.text(page) }),
    action: scrub.text(action),
    ...(labels === undefined ? {} : { labels: scrub.value(labels) }),
    fields,
    ...(masked === undefined ? {} : { masked }),
  };
}

interface Preview {
  readonly page?: string;
  readonly action: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** How the call looks to a person, who is not shown all `fields`: it can't change the inputs, and is left out where it fails. */
function previewOf({ info, name }: ListedTool, fields: JsonObject): Preview {
  const plain = { ...(info.site === undefined ? {} : { page: info.site }), action: info.title ?? name };
  try {
    const preview = info.preview?.(copyJson(fields));
    if (preview === undefined) return plain;
    const { page, action, labels } = preview;
    const texts = Object.entries(labels ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return {
      ...plain,
      ...(typeof page === "string" ? { page } : {}),
      ...(typeof action === "string" ? { action } : {}),
      ...(texts.length > 0 ? { labels: Object.fromEntries(texts) } : {}),
    };
  } catch {
    return plain;
  }
}
