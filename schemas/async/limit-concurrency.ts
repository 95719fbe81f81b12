import { LRUCache } from "lru-cache";
import { Problem } from "../problem.js";

/** Resolves with a permit of each key, to give back by disposing of it. The first key says who asks. */
export type TakePermits = (keys: readonly string[], signal: AbortSignal) => Promise<Disposable>;

const WAITING_MAX = 500;
const WAITING_EACH_MAX = 250;
/** First keys whose last turn is remembered, whether or not they ask at the moment. */
const TURNS_MAX = 10_000;

/**
 * Lets `perKey` callers through at once for each key, and `inAll` together. A caller takes its permits all at
 * once, so that a slow upstream does not stall the others. The caller whose first key was served or refused least
 * recently is next. @throws Problem `unavailable` where too many wait already; also to the latest caller of
 * the first key that has most of them or, among equal ones, had its turn last
 */
export function limitConcurrency({
  waitingMax = WAITING_MAX,
  waitingEachMax = WAITING_EACH_MAX,
  ...limits
}: ShareLimits & WaitingLimits): TakePermits {
  const shares = new Shares(limits);
  const waiting = new Set<Caller>();
  const turns = new LRUCache<string, number>({ max: TURNS_MAX });
  let turn = 0;

  function serve({ asker, keys }: Pick<Caller, "asker" | "keys">): Disposable {
    turns.set(asker, ++turn);
    const held = shares.take(keys);
    return {
      [Symbol.dispose]() {
        held[Symbol.dispose]();
        serveWaiting();
      },
    };
  }

  function serveWaiting(): void {
    for (let next = longestUnserved(); next !== undefined; next = longestUnserved()) {
      const permit = serve(next);
      leave(next);
      next.resolve(permit);
    }
  }

  function longestUnserved(): Caller | undefined {
    let longest: Caller | undefined;
    for (const caller of waiting)
      if (shares.haveRoom(caller.keys) && (longest === undefined || turnOf(caller) < turnOf(longest)))
        longest = caller;
    return longest;
  }

  const turnOf = ({ asker }: Pick<Caller, "asker">) => turns.peek(asker) ?? 0;

  function leave(caller: Caller): void {
    waiting.delete(caller);
    caller.stopListening();
  }

  /** Makes room for one more: the one who has most callers waiting does not shut out the others. */
  function refuseCrowd(asker: string): void {
    const crowds = new Map<string, Crowd>();
    for (const latest of waiting) {
      const size = (crowds.get(latest.asker)?.size ?? 0) + 1;
      crowds.set(latest.asker, { asker: latest.asker, size, latest });
    }
    const own = crowds.get(asker)?.size ?? 0;
    if (own >= waitingEachMax) throw refusalOf(asker);
    if (waiting.size < waitingMax) return;
    const { latest, ...largest } = [...crowds.values()].reduce((a, b) => (isBefore(a, b) ? b : a));
    if (!isBefore({ asker, size: own + 1 }, largest)) throw refusalOf(asker);
    leave(latest);
    latest.reject(refusalOf(latest.asker));
  }

  /** Whether the first of two crowds has the better right to wait. */
  function isBefore(one: Omit<Crowd, "latest">, other: Omit<Crowd, "latest">): boolean {
    return one.size === other.size ? turnOf(one) < turnOf(other) : one.size < other.size;
  }

  /** A refusal is a turn: asking without a pause does not help. */
  function refusalOf(asker: string): Problem {
    turns.set(asker, ++turn);
    return new Problem("unavailable", "Too many requests are waiting. Try again later.", {
      retryAfterSeconds: 5,
    });
  }

  return async (keysAsked, signal) => {
    signal.throwIfAborted();
    const [asker = ""] = keysAsked;
    const keys = new Set(keysAsked);
    if (shares.haveRoom(keys)) return serve({ asker, keys });
    refuseCrowd(asker);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave(caller);
        reject(signal.reason as Error);
      };
      const stopListening = () => signal.removeEventListener("abort", onAbort);
      const caller: Caller = { asker, keys, resolve, reject, stopListening };
      waiting.add(caller);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  };
}

interface Caller {
  asker: string;
  keys: Keys;
  resolve: (permit: Disposable) => void;
  reject: (reason: unknown) => void;
  stopListening: () => void;
}

/** The callers of one first key that wait. */
interface Crowd {
  asker: string;
  size: number;
  latest: Caller;
}

type Keys = readonly string[] | ReadonlySet<string>;

interface WaitingLimits {
  waitingMax?: number;
  /** Of one first key. */
  waitingEachMax?: number;
}

export interface ShareLimits {
  perKey: number;
  inAll: number;
}

/** Counts what is in use: by each key that something is used for, such as its owner, and in all. */
export class Shares {
  private readonly used = new Map<string, number>();
  private usedInAll = 0;

  constructor(private readonly limits: ShareLimits) {}

  /** Whether one more may be taken for these keys. */
  haveRoom(keys: Keys): boolean {
    return this.usedInAll < this.limits.inAll && this.haveRoomFor(keys);
  }

  /** As `haveRoom`, by the limit of each key alone. */
  haveRoomFor(keys: Keys): boolean {
    return [...keys].every((key) => this.usedFor(key) < this.limits.perKey);
  }

  /** Takes one for each of the keys, whether or not there is room, until it is disposed of. */
  take(keys: Keys): Disposable {
    this.add(1, keys);
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.add(-1, keys);
        isTaken = false;
      },
    };
  }

  /** Adds so much, or with a negative number gives it back. Answers whether nothing is above its limit. */
  add(amount: number, keys: Keys): boolean {
    let isWithin = (this.usedInAll += amount) <= this.limits.inAll;
    for (const key of keys) {
      const used = this.usedFor(key) + amount;
      isWithin &&= used <= this.limits.perKey;
      if (used > 0) this.used.set(key, used);
      else this.used.delete(key);
    }
    return isWithin;
  }

  private usedFor(key: string): number {
    return this.used.get(key) ?? 0;
  }
}
