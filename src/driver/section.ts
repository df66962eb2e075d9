/** Lets one at a time in, in the order of coming. */
export class Section {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  get isFree(): boolean {
    return !this.isTaken;
  }

  /** Resolves when it is one's turn; `undefined` where it is at once. Whoever came in has to leave. */
  enter(): Promise<void> | undefined {
    if (this.isTaken) return new Promise((go) => this.waiting.push(go));
    this.isTaken = true;
    return undefined;
  }

  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }

  async hold<T>(work: () => Promise<T> | T): Promise<T> {
    const mayGo = this.enter();
    if (mayGo !== undefined) await mayGo;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}
