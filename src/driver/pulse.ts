/** Wakes whoever waits. One that comes while nobody waits is kept for the next. */
export class Pulse {
  private waiters: (() => void)[] = [];
  private isDue = false;

  give(): void {
    this.isDue = this.waiters.length === 0;
    for (const wake of this.waiters.splice(0)) wake();
  }

  taken(): Promise<void> | undefined {
    if (!this.isDue) return new Promise((wake) => this.waiters.push(wake));
    this.isDue = false;
    return undefined;
  }
}
