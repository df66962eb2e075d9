import { cut, jsonBytes } from "../core/cut.js";
import { ToolweaveError } from "../core/errors.js";
import { readSettings } from "../core/fold.js";
import { fromJournal } from "../core/from-journal.js";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, setOwn } from "../core/json.js";
import { maskAt } from "../core/mask.js";
import { pointerTo } from "../core/path.js";
import { type RunResult, resultOf } from "../core/result.js";
import type { RunEventData } from "../core/run-event.js";
import type { RunState } from "../core/state.js";
import type { RunHead, RunStore } from "../ports/run-store.js";
import { headOf } from "./head.js";
import { readKnownRun } from "./read-run.js";

export interface InspectOptions {
  /** The most bytes (of JSON, in UTF-8) of any one value that is shown. @default 16,384 */
  maxBytes?: number;
}

/** A run as JSON: how it stands, what it was given, and what everybody who watched it from the start was shown. */
export interface Inspection
  extends Omit<RunResult, "status">,
    Pick<RunHead, "workflow" | "status" | "createdAt" | "updatedAt"> {
  /** As its schema gave it. */
  input: JsonObject;
  /** Every event that was made from a record, oldest first. The starts of reads are live only. */
  events: readonly RunEventData[];
  /** What was cut: JSON Pointers into the inspection, with the bytes that the value has uncut. */
  cut: readonly { pointer: string; bytes: number }[];
}

const defaultMaxBytes = 16_384;

/**
 * Shows a stored run to people, whether it goes on, waits or has ended, and without the code of its workflow. Values
 * larger than `maxBytes` are cut to their beginning and told of in `cut`; what a schema keeps from people is masked. It is
 * a copy: what steps hand each other is never cut or masked.
 *
 * @throws ToolweaveError `UNKNOWN_RUN`, `INVALID_OPTIONS`, `INVALID_JOURNAL`, `STORE_UNAVAILABLE`
 */
export async function inspectRun(
  store: RunStore,
  runId: string,
  { maxBytes = defaultMaxBytes }: InspectOptions = {},
): Promise<Inspection> {
  if (!(maxBytes >= 0)) throw new ToolweaveError("INVALID_OPTIONS", "maxBytes: expected a number of bytes, 0 or more.");
  const state = await readKnownRun(store, runId, { settings: { ...readSettings, emits: true } });
  return fromJournal(() => inspect(state, maxBytes));
}

function inspect(state: RunState, maxBytes: number): Inspection {
  const { workflow, status, createdAt, updatedAt } = headOf(state);
  const whole = {
    ...resultOf(state),
    workflow,
    status,
    createdAt,
    updatedAt,
    input: maskAt(state.root.input ?? {}, state.masked),
    events: state.events,
  };
  const cuts: { pointer: string; bytes: number }[] = [];
  const shown = shorten(JSON.parse(JSON.stringify(whole)), "", { maxBytes, cuts });
  // Only values within it are shortened, and each keeps its type, so that it is still what it was made as.
  return { ...(shown as unknown as Omit<Inspection, "cut">), cut: cuts };
}

/** The keys behind which something stands that is not Toolweave's own, of any size. */
const values: ReadonlySet<string> = new Set([
  "input",
  "output",
  "result",
  "fields",
  "labels",
  "prompt",
  "default",
  "schema",
  "details",
]);

interface Cutting {
  readonly maxBytes: number;
  readonly cuts: { pointer: string; bytes: number }[];
}

function shorten(value: JsonValue, pointer: string, cutting: Cutting): JsonValue {
  if (typeof value === "string") return cutAt(value, pointer, cutting);
  if (isJsonArray(value)) return value.map((item, index) => shorten(item, `${pointer}/${index}`, cutting));
  if (!isJsonObject(value)) return value;
  const shown: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries<JsonValue>(value)) {
    const place = pointer + pointerTo([key]);
    setOwn(shown, key, values.has(key) ? cutAt(item, place, cutting) : shorten(item, place, cutting));
  }
  return shown;
}

function cutAt(value: JsonValue, pointer: string, { maxBytes, cuts }: Cutting): JsonValue {
  const bytes = jsonBytes(value);
  if (bytes <= maxBytes) return value;
  cuts.push({ pointer, bytes });
  return cut(value, maxBytes);
}
