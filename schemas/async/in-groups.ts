export interface Grouping<Item> {
  /** Items of different keys are never in one group, and do not wait for each other. */
  keyOf: (item: Item) => string;
  itemsMax: number;
  /** Whether an error is that of all items, such as a store that is down. After any other, each item is run alone. */
  isOfAll: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs single calls as groups: the first call of a key at once, and those that come meanwhile together, as soon as it has
 * ended. `run` answers a result for each item, in their order.
 */
export function inGroups<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { keyOf, itemsMax, isOfAll }: Grouping<Item>,
): (item: Item) => Promise<Result> {
  const waiting = new Map<string, Waiting<Item, Result>[]>();

  async function runGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (group.length === 1 || isOfAll(error)) return group.forEach(({ reject }) => reject(error));
      for (const one of group) await runGroup([one]);
    }
  }

  async function runAll(key: string, group: Waiting<Item, Result>[]): Promise<void> {
    while (group.length > 0) await runGroup(group.splice(0, itemsMax));
    waiting.delete(key);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item);
      const group = waiting.get(key);
      if (group !== undefined) return void group.push({ item, resolve, reject });
      const first = [{ item, resolve, reject }];
      waiting.set(key, first);
      void runAll(key, first);
    });
}
