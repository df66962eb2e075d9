/** What is to be undone when nothing is listened to any more. */
export class Cleanups {
  private readonly all: (() => void)[] = [];

  add(cleanup: () => void): void {
    this.all.push(cleanup);
  }

  /** Reacts once when the signal is aborted, at once where it is already. */
  listen(signal: AbortSignal | undefined, react: () => void): void {
    if (signal === undefined) return;
    if (signal.aborted) return react();
    signal.addEventListener("abort", react, { once: true });
    this.add(() => signal.removeEventListener("abort", react));
  }

  run(): void {
    for (const cleanup of this.all.splice(0)) {
      try {
        cleanup();
      } catch {
        // A store that can't stop telling harms no run.
      }
    }
  }
}
