import type { Node } from "./node.js";

/** First in, first out, without moving what waits. */
export class Queue<T> {
  private items: T[] = [];
  private head = 0;

  get size(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  /** Puts back what was taken last: it comes first again. */
  putBack(item: T): void {
    if (this.head > 0) this.items[--this.head] = item;
    else this.items.unshift(item);
  }

  shift(): T | undefined {
    if (this.items.length - this.head <= 1) {
      this.head = 0;
      const last = this.items.pop();
      // What stands before the last was handed out.
      if (this.items.length > 0) this.items = [];
      return last;
    }
    const item = this.items[this.head++];
    if (this.head >= 1_024) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}

/** Puts a node among those that `next` looks at. */
export function queue({ ready }: { readonly ready: Queue<Node> }, node: Node): void {
  if (node.queued || node.dead) return;
  node.queued = true;
  ready.push(node);
}

/** Puts a node back that `next` looked at last, to be decided anew. */
export function putBack({ ready }: { readonly ready: Queue<Node> }, node: Node): void {
  node.queued = true;
  ready.putBack(node);
}
