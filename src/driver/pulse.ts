/** Wakes whoever waits. One that comes while nobody waits is kept for the next. */
export class Pulse {
  private waiters: (() => void)[] = [];
  private isDue = false;

  give(): void {
    const { waiters } = this;
    this.isDue = waiters.length === 0;
    if (this.isDue) return;
    this.waiters = [];
    for (const wake of waiters) wake();
  }

  taken(): Promise<void> | undefined {
    if (!this.isDue) return new Promise((wake) => this.waiters.push(wake));
    this.isDue = false;
    return undefined;
  }
}
