import { LRUCache } from "lru-cache";

export interface ShareOptions {
  /** How long an answer is shared, from when its work began. */
  sharedMs: number;
  answersMax: number;
}

export interface Sharing {
  /** Callers with the same key get the same answer. */
  key: string;
  /** Whether work that has begun is good enough: without it, only work that still waits is. */
  takesBegun: boolean;
}

/** Calls `begin` when it has waited for its turn, and before it reads anything. */
export type SharedWork<T> = (signal: AbortSignal, begin: () => void) => Promise<T>;

/**
 * Does the work for the first of those who ask with the same key, and answers the others with its result: those who
 * come before it begins, and, where they take that, those who come within `sharedMs` afterwards. The work's signal ends
 * once all of them have left. A failure reaches those who wait for it, and is not kept.
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
