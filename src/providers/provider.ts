import type { JsonObject, JsonValue } from "../core/json.js";

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
  error?: { code: "INVALID_ARGUMENTS" | "INVALID_CALL"; message: string };
}

/**
 * One wire shape: how a provider says that its model calls tools, and how it wants the results back.
 *
 * `unwrap` and `passesOver` see values as they came, class instances too; they read own properties only (`own`) and
 * never throw. `readCall` sees JSON. All are pure.
 */
export interface Provider {
  readonly name: string;

  /** The items of one turn, out of a whole response or message of this shape; undefined for any other value. */
  unwrap?(value: unknown): Turn | undefined;

  /** Whether an item is no call for us: text, reasoning, or a call that the provider ran itself. */
  passesOver?(item: unknown): boolean;

  /** The call that an item is; undefined where it is none of this shape. */
  readCall?(item: JsonObject): FoundCall | undefined;

  /**
   * An id that this provider did not send itself, as it can be sent there. The same for the same id.
   * @default the id as it is
   */
  wireId?(id: string): string;

  /** The assistant's turn: one message, or the list of items that stand for it. `calls` is never empty. */
  writeCalls(calls: readonly WireCall[]): object;

  /** The results, in call order. `results` is never empty. */
  writeResults(results: readonly WireResult[]): readonly object[];
}

/** What one turn of a model holds, in order. */
export interface Turn {
  readonly items: readonly unknown[];
  /** The model was stopped before its end: the last item, if it is a call, is not whole. @default false */
  readonly isCutOff?: boolean;
}

/** A call as a shape finds it; ids, arguments and duplicates are settled for all shapes alike. */
export interface FoundCall {
  readonly type: "function" | "custom";
  /** A text or a number; anything else counts as none. */
  readonly id: JsonValue | undefined;
  readonly name: JsonValue | undefined;
  /** JSON text or a value; of a custom call the free text. */
  readonly arguments: JsonValue | undefined;
  /** The provider marks this very call as not whole. @default false */
  readonly isCutOff?: boolean;
}

/** A call to write back. */
export interface WireCall {
  readonly type: "function" | "custom";
  readonly id: string;
  /** Never empty. */
  readonly name: string;
  /** A fresh copy, well-formed; `{}` where they could not be read. */
  readonly arguments: JsonObject;
  /** The free text of a custom call, well-formed. */
  readonly text: string;
  /** The call as its provider sent it, for what must go back with it. */
  readonly raw: JsonValue;
  /** The id that this very provider sent, a number as a number; undefined where it sent none. */
  readonly sentId: string | number | undefined;
}

/** A result to write back. */
export interface WireResult extends WireCall {
  readonly isError: boolean;
  /** Well-formed text; what the model is told. */
  readonly content: string;
  /** The result as JSON, a fresh copy, well-formed. */
  readonly value: JsonValue;
}
