/** Lets one at a time in, in the order of coming. */
export class Section {
  private last: Promise<unknown> | undefined;

  enter<T>(work: () => Promise<T>): Promise<T> {
    const before = this.last;
    const mine = before === undefined ? work() : before.then(work);
    const settled = mine.then(ignore, ignore).then(() => {
      if (this.last === settled) this.last = undefined;
    });
    this.last = settled;
    return mine;
  }
}

function ignore(): void {}
