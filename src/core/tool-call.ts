import type { ErrorCode } from "./errors.js";
import type { JsonObject, JsonValue } from "./json-value.js";

/** One tool call of a model, the same whatever provider it came from. Data: JSON there and back. */
export interface NormalizedCall {
  /** What the result is sent back under. Where the provider gave none: `call_<n>`. Unique in its list. */
  id: string;
  /** The place in the list, from 0. */
  index: number;
  /** `"custom"`: the provider sent free text, which is then `{ input: text }`. */
  type: "function" | "custom";
  /** Empty where the provider gave none; there is then an `error`. */
  name: string;
  /** `null` where they can't be used; there is then an `error`. */
  arguments: JsonObject | null;
  /** The arguments as the provider sent them, as compact JSON where it sent no text; empty where it sent none. */
  raw_arguments: string;
  /** The call as the provider sent it. */
  raw_call: JsonValue;
  /** Why the call can't be run, in words that its model can act on; they hold nothing of the arguments but keys. */
  error?: CallError;
}

export interface CallError {
  code: ErrorCode;
  message: string;
}
