import { untilAborted } from "./pause.js";

/** Calls `begin` when it has waited for its turn, and before it reads anything. */
export type SharedWork<T> = (signal: AbortSignal, begin: () => void) => Promise<T>;

/**
 * Does the work once for all who ask with the same key before it begins: it reads all that was there when they asked.
 * A caller leaves when its signal ends. The signal of the work ends once all of them have left.
 */
export type ShareWaiting<T> = (key: string, signal: AbortSignal, work: SharedWork<T>) => Promise<T>;

interface Shared<T> {
  answer: Promise<T>;
  askers: number;
  /** From then on those who ask need other work. */
  close: () => void;
  left: AbortController;
}

export function shareWaiting<T>(): ShareWaiting<T> {
  const waiting = new Map<string, Shared<T>>();

  function start(key: string, work: SharedWork<T>): Shared<T> {
    const left = new AbortController();
    const close = () => {
      if (waiting.get(key)?.left === left) waiting.delete(key);
    };
    const answer = Promise.resolve().then(() => work(left.signal, close));
    answer.then(close, close);
    const shared = { answer, askers: 0, close, left };
    waiting.set(key, shared);
    return shared;
  }

  return async (key, signal, work) => {
    signal.throwIfAborted();
    const shared = waiting.get(key) ?? start(key, work);
    shared.askers += 1;
    try {
      return await untilAborted(shared.answer, signal);
    } finally {
      shared.askers -= 1;
      if (shared.askers === 0 && signal.aborted) {
        shared.close();
        shared.left.abort(signal.reason);
      }
    }
  };
}

/** Asks once for all who ask within this time. A failure is theirs together as well. */
export function shareFor<T>(durationMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: { at: number; answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (asked === undefined || now - asked.at > durationMs) asked = { at: now, answer: ask() };
    return asked.answer;
  };
}

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
 * Runs the first call of a key at once, and those that come meanwhile as one group once it has ended. `run`
 * answers in the order of the items.
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
