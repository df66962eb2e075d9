import { isWorkflow } from "./document.js";
import type { Problem } from "./errors.js";
import { defaultJsonLimits } from "./json.js";
import { pointerTo } from "./path.js";
import { isStandardSchema } from "./schema.js";

const { maxBytes, maxDepth } = defaultJsonLimits;

type Place = readonly (string | number)[];

/**
 * A deep copy of a document that anyone may have made: each property is read once, and what is not JSON is left out and
 * reported. Functions, Standard Schemas and workflows are kept as they are, where a document may hold them. Of one
 * beyond the default size of a value there is no copy.
 */
export function copyDocument(document: unknown): { copy: unknown; problems: Problem[] } {
  const copier = new Copier();
  const copy = copier.copy(document);
  if (!copier.isFull) return { copy, problems: copier.problems };
  const message = `The document is too large: it exceeds ${maxBytes} bytes. Hand large values over as input.`;
  return { copy: undefined, problems: [{ code: "INVALID_DOCUMENT", message, pointer: "" }] };
}

class Copier {
  readonly problems: Problem[] = [];
  /** Where the value stands that is copied now, and what it stands in. */
  private readonly place: (string | number)[] = [];
  private readonly ancestors: object[] = [];
  private size = 0;

  get isFull(): boolean {
    return this.size > maxBytes;
  }

  copy(value: unknown): unknown {
    this.size += typeof value === "string" ? value.length + 2 : 1;
    switch (typeof value) {
      case "string":
      case "boolean":
      case "undefined":
        return value;
      case "number":
        return Number.isFinite(value) ? value : this.refuse("it is no finite number");
      case "object":
        return value === null ? null : this.copyObject(value);
      case "function":
        return mayHold(this.place, value) ? value : this.refuse("its type is function");
      default:
        return this.refuse(`its type is ${typeof value}`);
    }
  }

  private copyObject(value: object): unknown {
    if (this.ancestors.includes(value)) return this.refuse("it contains itself");
    const depth = this.place.length;
    if (depth >= maxDepth) return this.refuse(`it is nested deeper than the ${maxDepth} levels allowed`);
    this.ancestors.push(value);
    try {
      if (Array.isArray(value)) return this.copyArray(value);
      const isSchema = isStandardSchema(value);
      if ((isSchema || isWorkflow(value)) && mayHold(this.place, value)) return value;
      if (isSchema) return this.refuse("its type is Standard Schema");
      const type = Object.prototype.toString.call(value);
      if (type !== "[object Object]") return this.refuse(`its type is ${type.slice("[object ".length, -1)}`);
      return this.copyProperties(value);
    } catch {
      this.place.length = depth;
      return this.refuse("reading it failed");
    } finally {
      this.ancestors.pop();
    }
  }

  private copyArray(value: readonly unknown[]): unknown[] {
    // A sparse array of any length is refused unread.
    this.size += value.length;
    const copy: unknown[] = [];
    for (let index = 0; index < value.length && !this.isFull; index++) copy.push(this.copyWithin(value, index) ?? null);
    return copy;
  }

  private copyProperties(value: object): object {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      if (this.isFull) break;
      this.size += key.length + 2;
      const property = this.copyWithin(value, key);
      if (property === undefined) continue;
      if (key === "__proto__") Object.defineProperty(copy, key, { value: property, enumerable: true });
      else copy[key] = property;
    }
    return copy;
  }

  private copyWithin(holder: object, key: string | number): unknown {
    this.place.push(key);
    const copy = this.copy(Reflect.get(holder, key));
    this.place.pop();
    return copy;
  }

  private refuse(reason: string): undefined {
    const { place } = this;
    const subject = place.length === 0 ? "The document" : `The value of ${JSON.stringify(place.at(-1))}`;
    const message = `${subject} is not JSON: ${reason}.`;
    this.problems.push({ code: "INVALID_DOCUMENT", message, pointer: pointerTo(place) });
  }
}

/** Whether a document may hold this at the place, though it is no JSON. */
function mayHold(place: Place, value: object): boolean {
  const inStep = withinStep(place);
  switch (place.length === 1 ? place[0] : inStep.join("/")) {
    case "run":
      return typeof value === "function";
    case "input_schema":
    case "ask/schema":
      return isStandardSchema(value);
    default:
      return inStep.length === 4 && inStep[0] === "tool_dispatch" && inStep[3] === "flow" && isWorkflow(value);
  }
}

/** What of a place leads on within its step: nothing where it lies in none. */
function withinStep(place: Place): Place {
  if (place[0] !== "steps" || typeof place[1] !== "number") return [];
  let start = 2;
  while (place[start] === "parallel" && typeof place[start + 1] === "number") start += 2;
  return place.slice(start);
}
