import { LRUCache } from "lru-cache";

export interface ShareOptions {
  /** How long an answer is shared, from when its work began. */
  sharedMs: number;
  answersMax: number;
}

export interface Sharing {
  key: string;
  /** Whether work that has begun is good enough: without it, only work that still waits is. */
  takesBegun: boolean;
}

/** Calls `begin` when it has waited for its turn, and before it reads anything. */
export type SharedWork<T> = (signal: AbortSignal, begin: () => void) => Promise<T>;

/**
 * Does the work once for those who ask with the same key before it begins or, where they take that, within
 * `sharedMs` afterwards. The signal ends once all of them have left. Failures are not kept.
 */
export type ShareAnswers<T extends object> = (
  sharing: Sharing,
  signal: AbortSignal,
  work: SharedWork<T>,
) => Promise<T>;

interface Shared<T> {
  answer: Promise<T>;
  progress: { hasBegun: boolean };
  waiting: number;
  left: AbortController;
}

export function shareAnswers<T extends object>({ sharedMs, answersMax }: ShareOptions): ShareAnswers<T> {
  const answers = new LRUCache<string, Shared<T>>({ max: answersMax });

  function forget(key: string, shared: Shared<T>): void {
    if (answers.peek(key) === shared) answers.delete(key);
  }

  function keep(key: string, shared: Shared<T>): void {
    answers.set(key, shared, shared.progress.hasBegun ? { ttl: sharedMs } : {});
  }

  function start(key: string, work: SharedWork<T>): Shared<T> {
    const left = new AbortController();
    const progress = { hasBegun: false };
    const begin = () => {
      progress.hasBegun = true;
      const known = answers.peek(key);
      if (known?.progress === progress) keep(key, known);
    };
    const shared = { answer: work(left.signal, begin), progress, waiting: 0, left };
    shared.answer.catch(() => forget(key, shared));
    keep(key, shared);
    return shared;
  }

  function joined({ key, takesBegun }: Sharing): Shared<T> | undefined {
    const shared = answers.get(key);
    return shared?.progress.hasBegun && !takesBegun ? undefined : shared;
  }

  return async (sharing, signal, work) => {
    signal.throwIfAborted();
    const { key } = sharing;
    const shared = joined(sharing) ?? start(key, work);
    const leave = () => {
      shared.waiting -= 1;
      if (shared.waiting > 0) return;
      forget(key, shared);
      shared.left.abort(signal.reason);
    };
    shared.waiting += 1;
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await shared.answer;
    } finally {
      signal.removeEventListener("abort", leave);
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
