import type { JsonObject, JsonValue } from "../core/json.js";

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

  /**
   * A name as this provider takes it back in a turn; models make up names that no tool could have. Never given an
   * empty one.
   * @default its letters, digits, `_` and `-`, with `_` for all else, at most 64
   */
  wireName?(name: string): string;

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

/** JSON that is the caller's own: clients want it not to be read-only. */
export type WireJson = string | number | boolean | null | WireJson[] | WireObject;
export type WireObject = { [key: string]: WireJson };

/** A call to write back. */
export interface WireCall {
  readonly type: "function" | "custom";
  readonly id: string;
  /** As the provider takes it; never empty. */
  readonly name: string;
  /** A fresh copy, well-formed; `{}` where they could not be read. */
  readonly arguments: WireObject;
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
  readonly value: WireJson;
}
