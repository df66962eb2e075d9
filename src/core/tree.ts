import { stopClock } from "./clock.js";
import type { Call, Child, Flow, Node, Scope, Step, Wait } from "./node.js";
import type { ClosedQuestion, RunState } from "./state.js";

/** Nodes as they come and go. What is dropped leaves its pending undos to its owner. */

export function attach(state: RunState, node: Node): void {
  state.nodes.set(node.path, node);
}

export function setTimer(state: RunState, node: Node, what: Wait["what"], delayMs: number): void {
  clearTimer(state, node);
  node.timer = { until: state.updatedAt + delayMs, what, node };
  state.timers.add(node.timer);
}

export function clearTimer(state: RunState, node: Node): void {
  if (node.timer === undefined) return;
  state.timers.delete(node.timer);
  node.timer = undefined;
}

export function closeQuestion(state: RunState, call: Call, closed: ClosedQuestion): void {
  const open = call.question;
  if (open === undefined) return;
  call.question = undefined;
  state.questions.delete(open.question.id);
  state.closed.set(open.question.id, closed);
  if (open.timer !== undefined) state.timers.delete(open.timer);
}

/** Whether anything below a scope still lives. */
export function hasLive(scope: Flow | Step): boolean {
  if (scope.kind === "flow") return scope.current !== undefined;
  return scope.call !== undefined || scope.fallback !== undefined || (scope.children?.live.size ?? 0) > 0;
}

/** The steps and child workflows that live right below a scope. */
export function liveBelow(scope: Scope): Scope[] {
  const below = scope.kind === "flow" ? [scope.current] : [...(scope.children?.live ?? [])];
  return below.filter((node) => node !== undefined && node.kind !== "call");
}

export function drop(state: RunState, node: Child): void {
  node.dead = true;
  if (state.nodes.get(node.path) === node) state.nodes.delete(node.path);
  clearTimer(state, node);
  stopClock(state, node.clock);
  if (node.kind === "call") {
    state.intended.delete(node);
    closeQuestion(state, node, { state: "withdrawn" });
  }
  detach(node, node.owner);
}

function detach(node: Child, owner: Flow | Step): void {
  if (node.kind !== "call") {
    for (const entry of node.undo) owner.undo.push(entry);
    owner.residue ||= node.residue;
  }
  if (owner.undoCall === node) {
    owner.undoCall = undefined;
  } else if (owner.kind === "flow") {
    owner.current = undefined;
  } else if (owner.call === node) {
    owner.call = undefined;
  } else if (owner.fallback === node) {
    owner.fallback = undefined;
  } else {
    owner.children?.live.delete(node);
  }
}
