import { errorText, ToolweaveError } from "../core/errors.js";
import { defaultJsonLimits, type JsonValue, normalizeJson } from "../core/json.js";

/** What a fake tool works on. */
export interface FakeState<T> {
  /** As it stands; may be changed in place, or set. */
  value: T;
}

/** A state as a simulation sees it. */
interface Kept {
  readonly initial: string;
  text(): string;
}

/** Grows with every schedule: a state of an earlier one begins anew when it is next looked at. */
let schedule = 0;
const lookedAt = new Set<Kept>();

/** Lets every fake state begin anew. */
export function renewStates(): void {
  schedule++;
  lookedAt.clear();
}

/** What the fake states are; to be compared with `changedSince`. */
export function statesNow(): ReadonlyMap<Kept, string> {
  return new Map(Array.from(lookedAt, (state) => [state, state.text()]));
}

/** Whether a fake state differs from what it was. */
export function changedSince(before: ReadonlyMap<Kept, string>): boolean {
  for (const state of lookedAt) if (state.text() !== (before.get(state) ?? state.initial)) return true;
  return false;
}

function plain(initial: unknown): JsonValue {
  try {
    return normalizeJson(initial, defaultJsonLimits);
  } catch (error) {
    throw new ToolweaveError("INVALID_OPTIONS", `fakeState: the state has to be plain JSON. ${errorText(error)}`);
  }
}

/**
 * A state for fake tools: the books of a bank, the rows of a table. In `simulate` it begins anew from `initial` with
 * every schedule; elsewhere it is just kept. It has to be plain JSON.
 *
 * @throws ToolweaveError `INVALID_OPTIONS` for what is not, such as a `Map`
 */
export function fakeState<T>(initial: T): FakeState<T> {
  const text = JSON.stringify(plain(initial));
  let value: T = JSON.parse(text);
  let at = schedule;
  const kept: Kept = { initial: text, text: () => JSON.stringify(value) };

  function look(): void {
    if (at !== schedule) {
      at = schedule;
      value = JSON.parse(text);
    }
    lookedAt.add(kept);
  }

  return {
    get value() {
      look();
      return value;
    },
    set value(next) {
      look();
      value = next;
    },
  };
}
