import { Semaphore } from "async-mutex";
import { Problem } from "../problem.js";

/** Resolves with a permit of each key, to give back by disposing of it. */
export type TakePermits = (keys: readonly string[], signal: AbortSignal) => Promise<Disposable>;

const WAITING_MAX = 500;
const WAITING_PER_KEY_MAX = 250;

/**
 * Lets `perKey` callers through at once for each key, such as an owner or an upstream, and `inAll` together. Permits
 * are taken in the order of the keys: a caller that waits for one holds those before it, so an owner comes before the
 * upstreams that it shares with others. Waiting ends with the signal, and rejects with its reason.
 * @throws Problem `unavailable` where too many wait already
 */
export function limitConcurrency({ perKey, inAll }: { perKey: number; inAll: number }): TakePermits {
  const all: Limit = { semaphore: new Semaphore(inAll), waiting: 0, waitingMax: WAITING_MAX };
  const byKey = new Map<string, Limit>();

  function limitOf(key: string): Limit {
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const limit = { semaphore: new Semaphore(perKey), waiting: 0, waitingMax: WAITING_PER_KEY_MAX };
    byKey.set(key, limit);
    return limit;
  }

  function forgetUnused(): void {
    for (const [key, { semaphore, waiting }] of byKey)
      if (waiting === 0 && semaphore.getValue() === perKey) byKey.delete(key);
  }

  return async (keys, signal) => {
    signal.throwIfAborted();
    const limits = [...keys.map(limitOf), all];
    refuseCrowd(limits);
    const releases: (() => void)[] = [];
    const releaseAll = () => {
      for (const release of releases.splice(0)) release();
      forgetUnused();
    };
    for (const limit of limits) limit.waiting++;
    try {
      for (const { semaphore } of limits) releases.push(await acquire(semaphore, signal));
    } catch (error) {
      releaseAll();
      throw error;
    } finally {
      for (const limit of limits) limit.waiting--;
    }
    return { [Symbol.dispose]: releaseAll };
  };
}

interface Limit {
  semaphore: Semaphore;
  /** Callers that do not have all their permits yet. */
  waiting: number;
  waitingMax: number;
}

function refuseCrowd(limits: readonly Limit[]): void {
  const mustWait = limits.some(({ semaphore }) => semaphore.isLocked());
  if (mustWait && limits.some(({ waiting, waitingMax }) => waiting >= waitingMax))
    throw new Problem("unavailable", "Too many wait for the same already.", { retryAfterSeconds: 5 });
}

function acquire(semaphore: Semaphore, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    void semaphore.acquire().then(([, release]) => {
      signal.removeEventListener("abort", stop);
      // A caller that left stays in the queue; its permit goes to the next one.
      if (signal.aborted) release();
      else resolve(release);
    });
  });
}
