import type { CallTool } from "../core/effect.js";
import { next } from "../core/next.js";
import { putBack } from "../core/queue.js";
import type { JournalRecord } from "../core/record.js";
import { type CallOutcome, settleCall } from "../core/settle.js";
import type { RunState } from "../core/state.js";
import type { RunStore } from "../ports/run-store.js";
import { Alarm } from "./alarm.js";
import { prepare, send } from "./call-tool.js";
import { Cleanups } from "./cleanups.js";
import { CallContext, Handle } from "./handle.js";
import type { Settings } from "./options.js";
import type { OwnedRun } from "./owned-run.js";
import { recordFact } from "./record-fact.js";
import type { Route } from "./route.js";
import { newRun, routeOf, type Start, storeRun } from "./take-run.js";
import type { ToolList } from "./tool-list.js";

/**
 * Starts a run that nobody was told of. Where it begins with a read, that read is made before anything is stored: the start
 * of the run is one append with what the read came to.
 *
 * 1. Nobody but the tool can know of the run yet: its id is new, the caller is told it only when the run ends or waits, and
 *    nobody sees its events. Looked up or cancelled by that id, the run is unknown until its read has settled.
 * 2. Only a read is made so, which may be made again: a process that dies meanwhile leaves nothing behind.
 * 3. It is the one thing that the run waits for: no time limit runs, and no branch waits beside it.
 *
 * @returns the run, to be driven on unless it has ended; `undefined` when the run exists already.
 */
export async function startUntold(
  store: RunStore,
  start: Start,
  settings: Settings,
  tools: ToolList,
): Promise<OwnedRun | { untaken: RunState } | undefined> {
  const fresh = newRun(start, settings);
  const { state } = fresh;
  const route = routeOf(state, settings, tools);
  const records = [fresh.start];
  let effect = decide(state, records, settings);
  if (effect?.kind === "call_tool" && tools.get(effect.tool)?.effect === "read" && waitsForNothing(state)) {
    const outcome = await read(route, state, effect, settings);
    if (outcome !== undefined) {
      records.push(recordFact(state, settleCall(effect.node, outcome), settings.clock));
      effect = decide(state, records, settings);
    }
  }
  if (effect !== undefined) putBack(state, effect.node);
  const owned = await storeRun(store, fresh, records, route);
  return owned !== undefined && state.ended !== undefined ? { untaken: state } : owned;
}

/** Whether nothing else is to be done, and no time runs. */
function waitsForNothing({ ready, timers }: RunState): boolean {
  return ready.size === 0 && timers.next === undefined;
}

/** Records what follows without the world, up to the first effect. */
function decide(state: RunState, records: JournalRecord[], { clock }: Settings) {
  for (let decision = next(state); decision !== undefined; decision = next(state)) {
    if ("node" in decision) return decision;
    records.push(recordFact(state, decision, clock));
  }
  return undefined;
}

/**
 * What the read came to. Where the host cancels meanwhile, it is dropped; where the host stops, it is given time to
 * settle, as any call in flight is. `undefined`: it has to be made again, if at all.
 */
async function read(
  route: Route,
  state: RunState,
  effect: CallTool,
  { signal, stop, clock, limits }: Settings,
): Promise<CallOutcome | undefined> {
  const prepared = await prepare(route, effect);
  if (prepared.kind === "outcome") return prepared.outcome;
  if (prepared.kind !== "read" || signal?.aborted || stop?.aborted) return undefined;
  const { node, attempt } = effect;
  const handle = new Handle(node, attempt);
  const sent = send(route, prepared.tool, prepared.inputs, new CallContext(state, node, handle), handle);
  if (signal === undefined && stop === undefined) return sent;
  const listening = new Cleanups();
  const dropped = new Promise<undefined>((resolve) => {
    const drop = () => resolve(undefined);
    const grace = new Alarm(clock, drop, drop);
    listening.listen(signal, () => {
      handle.abort();
      drop();
    });
    listening.listen(stop, () => {
      handle.abort();
      grace.set(clock.now() + limits.gracePeriodMs);
    });
    listening.add(() => grace.set(undefined));
  });
  const outcome = await Promise.race([sent, dropped]).finally(() => listening.run());
  // A read that was aborted and therefore failed says nothing: it is made again.
  return handle.isAborted && outcome?.kind !== "returned" ? undefined : outcome;
}
