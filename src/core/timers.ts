import type { Timer } from "./node.js";

interface Entry {
  readonly timer: Timer;
  /** Timers that are due at the same time come as they were set. */
  readonly order: number;
  index: number;
}

/** What happens by the passing of time, as a heap: neither setting a timer nor asking for the first one walks them all. */
export class Timers {
  private readonly heap: Entry[] = [];
  private readonly entries = new Map<Timer, Entry>();
  private count = 0;

  add(timer: Timer): void {
    const entry = { timer, order: this.count++, index: this.heap.length };
    this.entries.set(timer, entry);
    this.rise(entry);
  }

  delete(timer: Timer): void {
    const entry = this.entries.get(timer);
    if (entry === undefined) return;
    this.entries.delete(timer);
    const last = this.heap.pop();
    if (last === undefined || last === entry) return;
    last.index = entry.index;
    this.rise(last);
    this.sink(last);
  }

  has(timer: Timer): boolean {
    return this.entries.has(timer);
  }

  [Symbol.iterator](): IterableIterator<Timer> {
    return this.entries.keys();
  }

  /** The time at which the first one is due. */
  get next(): number | undefined {
    return this.heap[0]?.timer.until;
  }

  /** Those that are due, the earliest first. */
  due(now: number): Timer[] {
    const due: Entry[] = [];
    this.collect(0, now, due);
    return due.sort((a, b) => (comesFirst(a, b) ? -1 : 1)).map(({ timer }) => timer);
  }

  private collect(index: number, now: number, due: Entry[]): void {
    const entry = this.heap[index];
    if (entry === undefined || entry.timer.until > now) return;
    due.push(entry);
    this.collect(2 * index + 1, now, due);
    this.collect(2 * index + 2, now, due);
  }

  private rise(entry: Entry): void {
    while (entry.index > 0) {
      const above = this.heap[(entry.index - 1) >> 1];
      if (above === undefined || comesFirst(above, entry)) break;
      this.swap(above, entry);
    }
    this.heap[entry.index] = entry;
  }

  private sink(entry: Entry): void {
    for (;;) {
      const left = this.heap[2 * entry.index + 1];
      const right = this.heap[2 * entry.index + 2];
      const below = left !== undefined && right !== undefined && comesFirst(right, left) ? right : left;
      if (below === undefined || comesFirst(entry, below)) break;
      this.swap(entry, below);
    }
  }

  private swap(above: Entry, below: Entry): void {
    [above.index, below.index] = [below.index, above.index];
    this.heap[above.index] = above;
    this.heap[below.index] = below;
  }
}

function comesFirst(a: Entry, b: Entry): boolean {
  return a.timer.until === b.timer.until ? a.order < b.order : a.timer.until < b.timer.until;
}
