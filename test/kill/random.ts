/** Numbers that look random and are the same for the same seed and name. */
export class Random {
  private state: number;

  constructor(seed: number, name = "") {
    this.state = seed | 0;
    for (const char of name) this.state = Math.imul(this.state ^ char.charCodeAt(0), 0x01000193);
  }

  /** A whole number from 0, below `limit`. (Mulberry32.) */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * limit);
  }

  /** True once in so many times. */
  onceIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(first: T, ...others: readonly T[]): T {
    return others[this.below(others.length + 1) - 1] ?? first;
  }
}
