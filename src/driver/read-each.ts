import { reachStore } from "./journal.js";

/**
 * What a store gives one after another, also to a reader who takes its time. A short fault of the store is ridden out by
 * reading on behind what came.
 *
 * @param open reads on, given how many came and the last of them.
 * @throws ToolweaveError `STORE_UNAVAILABLE`, and what the store itself throws as such
 */
export async function* readEach<T>(
  runId: string | undefined,
  open: (count: number, last: T | undefined) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  let items: AsyncIterator<T> | undefined;
  let count = 0;
  let last: T | undefined;
  const take = async () => {
    items ??= open(count, last)[Symbol.asyncIterator]();
    try {
      return await items.next();
    } catch (error) {
      items = undefined;
      throw error;
    }
  };
  try {
    for (let turn = await reachStore(runId, take); !turn.done; turn = await reachStore(runId, take)) {
      count++;
      last = turn.value;
      yield turn.value;
    }
  } finally {
    await items?.return?.();
  }
}
