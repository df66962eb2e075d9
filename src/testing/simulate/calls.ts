import { declaredOutcome } from "../../core/error-signs.js";
import { ToolError } from "../../core/errors.js";
import { copyJson, type JsonValue, normalizeJson } from "../../core/json.js";
import { changedSince, statesNow } from "../fake-state.js";
import type { Menus } from "./menus.js";
import type { Flight, Process } from "./process.js";
import type { Menu } from "./schedule.js";
import type { Witness } from "./witness.js";

interface Scene {
  readonly witness: Witness;
  /** What fails whenever it is called, in whatever attempt of the containers around it. */
  readonly broken: Set<string>;
  kill(process: Process): void;
}

/** How a call may settle. */
export function callMenu(menus: Menus, { tool, context }: Flight): Menu {
  if (tool.effect === "read") return menus.read;
  return context.signal.aborted ? menus.abortedWrite : menus.write;
}

/** A call settles as the course says, or its process dies. */
export function settle(scene: Scene, flight: Flight, take: string): void {
  const { witness } = scene;
  const { process, context, tool } = flight;
  switch (take) {
    case "returns": {
      const arrived = arrive(witness, flight);
      return "error" in arrived ? flight.reject(arrived.error) : flight.resolve(arrived.result);
    }
    case "fails for good":
      scene.broken.add(inAnyAttempt(context.path));
      witness.failedAt(context);
      return flight.reject(new ToolError(`${tool.name} failed, as the simulation wants it.`));
    case "fails":
      witness.failedAt(context);
      return flight.reject(new ToolError(`${tool.name} failed, as the simulation wants it.`));
    case "refused":
      witness.failedAt(context);
      return flight.reject(new ToolError(`${tool.name} refused, as the simulation wants it.`, { outcome: "refused" }));
    case "reply lost":
      arrive(witness, flight);
      return flight.reject(cut());
    case "request lost":
      return flight.reject(cut());
    case "aborted, made":
      arrive(witness, flight);
      return flight.reject(context.signal.reason);
    case "aborted, not made":
      return flight.reject(context.signal.reason);
    case "hangs, made":
      arrive(witness, flight);
      return;
    case "dies, made":
      arrive(witness, flight);
      return scene.kill(process);
    case "dies, not made":
      return scene.kill(process);
  }
}

export function isBroken({ broken }: Scene, { context }: Flight): boolean {
  return broken.has(inAnyAttempt(context.path));
}

function inAnyAttempt(path: string): string {
  return path.replace(/#\d+/g, "");
}

/** The call reaches its system. */
export function arrive(witness: Witness, flight: Flight): { result: unknown } | { error: unknown } {
  const { tool, inputs, context } = flight;
  const { path, attempt, idempotencyKey } = context;
  const isWrite = tool.effect !== "read";
  const before = statesNow();
  try {
    const result = tool.execute(copyJson(inputs), context);
    if (result instanceof Promise) {
      witness.find(`Tool ${tool.name}: execute returned a promise. A fake tool has to do its work at once.`);
    } else if (isWrite) {
      const write = { tool: tool.name, path, attempt, idempotencyKey, inputs, result: asJson(result) };
      witness.made(tool, write, changedSince(before));
    } else if (changedSince(before)) {
      witness.find(`Tool ${tool.name} says that it is a read, and it changed a fake state.`);
    }
    return { result };
  } catch (error) {
    if (changedSince(before)) {
      witness.find(`Tool ${tool.name} threw after it changed a fake state: what throws must have changed nothing.`);
    }
    witness.failedAt(context);
    if (declaredOutcome(error) === "refused") witness.hasRefusal = true;
    return { error };
  }
}

function asJson(result: unknown): JsonValue {
  try {
    return normalizeJson(result, { maxBytes: 16 * 1024 * 1024, maxDepth: 200 });
  } catch {
    return null;
  }
}

function cut(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}
