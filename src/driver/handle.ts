import type { Call, Flow, Node, Step } from "../core/node.js";
import type { RunState } from "../core/state.js";
import type { ToolCallContext } from "../ports/tool-adapter.js";

/** An effect in flight: what of the world is awaited for a node. */
export class Handle {
  readonly node: Node;
  readonly attempt: number;
  /** Whether a write may have been made by it. */
  isWrite = false;
  isAborted = false;
  private controller: AbortController | undefined;
  private readonly phase: string | undefined;
  private readonly timedOut: boolean;

  constructor(node: Call | Flow | Step, attempt: number) {
    this.node = node;
    this.attempt = attempt;
    this.phase = node.kind === "call" ? node.phase : undefined;
    this.timedOut = node.kind === "call" && node.timedOut;
  }

  /** Made when it is first asked for: most tools never look at it. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.isAborted) this.controller.abort(abortReason());
    }
    return this.controller.signal;
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.controller?.abort(abortReason());
  }

  /** Whether the node still waits for what the effect comes to. */
  isWanted(): boolean {
    const { node } = this;
    if (node.dead) return false;
    if (node.kind !== "call") return true;
    if (this.isWrite) return node.phase === "intended" && node.attempt === this.attempt;
    return node.phase === this.phase && node.timedOut === this.timedOut;
  }
}

function abortReason(): DOMException {
  return new DOMException("The call is no longer awaited.", "AbortError");
}

/** What a tool is told of its call. The signal costs nothing where it is not used: it is made when it is first read. */
export class CallContext implements ToolCallContext {
  readonly runId: string;
  readonly stepId: string;
  readonly path: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly #handle: Handle;

  constructor({ runId }: RunState, { stepId, path }: Call, handle: Handle) {
    this.runId = runId;
    this.stepId = stepId;
    this.path = path;
    this.attempt = handle.attempt;
    this.idempotencyKey = `${runId}:${path}`;
    this.#handle = handle;
  }

  get signal(): AbortSignal {
    return this.#handle.signal;
  }
}
