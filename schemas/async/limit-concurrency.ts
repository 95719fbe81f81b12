import { Semaphore } from "async-mutex";
import { Problem } from "../problem.js";

/** Resolves with a permit of each key, to give back by disposing of it. */
export type TakePermits = (keys: readonly string[], signal: AbortSignal) => Promise<Disposable>;

const WAITING_MAX = 500;
const WAITING_PER_KEY_MAX = 250;

/**
 * Lets `perKey` callers through at once for each key, such as an owner or an upstream, and `inAll` together. A caller
 * takes its permits all at once and holds none while it waits, so that a slow upstream does not stall the other
 * upstreams of its owners. Waiting ends with the signal, and rejects with its reason.
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

  function forgetUnused(keys: Iterable<string>): void {
    for (const key of keys) {
      const limit = byKey.get(key);
      if (limit?.waiting === 0 && limit.semaphore.getValue() === perKey) byKey.delete(key);
    }
  }

  return async (keysAsked, signal) => {
    signal.throwIfAborted();
    const keys = new Set(keysAsked);
    const limits = [...[...keys].map(limitOf), all];
    try {
      if (firstLocked(limits) !== undefined) refuseCrowd(limits);
      await takeAll(limits, signal);
    } finally {
      forgetUnused(keys);
    }
    const held = [...limits];
    return {
      [Symbol.dispose]() {
        for (const { semaphore } of held.splice(0)) semaphore.release();
        forgetUnused(keys);
      },
    };
  };
}

interface Limit {
  semaphore: Semaphore;
  /** Callers that wait for this limit or for another one of theirs. */
  waiting: number;
  waitingMax: number;
}

function firstLocked(limits: readonly Limit[]): Limit | undefined {
  return limits.find(({ semaphore }) => semaphore.isLocked());
}

function refuseCrowd(limits: readonly Limit[]): void {
  if (limits.some(({ waiting, waitingMax }) => waiting >= waitingMax))
    throw new Problem("unavailable", "Too many wait for the same already.", { retryAfterSeconds: 5 });
}

/** Checks again after each wait: another caller may have taken a permit meanwhile. */
async function takeAll(limits: readonly Limit[], signal: AbortSignal): Promise<void> {
  for (const limit of limits) limit.waiting++;
  try {
    for (let locked = firstLocked(limits); locked !== undefined; locked = firstLocked(limits)) {
      await unlockOrAbort(locked.semaphore, signal);
      signal.throwIfAborted();
    }
    // None is locked and nothing waits in their queues: each permit is taken before `acquire` returns.
    for (const { semaphore } of limits) void semaphore.acquire();
  } finally {
    for (const limit of limits) limit.waiting--;
  }
}

function unlockOrAbort(semaphore: Semaphore, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      signal.removeEventListener("abort", settle);
      resolve();
    };
    signal.addEventListener("abort", settle, { once: true });
    // It cannot be cancelled: after an abort it ends, without effect, when the next permit is given back.
    void semaphore.waitForUnlock().then(settle);
  });
}
