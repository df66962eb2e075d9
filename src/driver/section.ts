/** Lets one at a time in, in the order of coming. */
export class Section {
  private isBusy = false;
  private readonly waiting: (() => void)[] = [];

  async enter<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.isBusy) await new Promise<void>((go) => this.waiting.push(go));
    this.isBusy = true;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.isBusy = false;
      else next();
    }
  }
}
