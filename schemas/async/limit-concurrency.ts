import { LRUCache } from "lru-cache";
import { Problem } from "../problem.js";

/** Resolves with a permit of each key, to give back by disposing of it. The first key says who asks. */
export type TakePermits = (keys: readonly string[], signal: AbortSignal) => Promise<Disposable>;

const WAITING_MAX = 500;
/** The callers of one first key. */
const WAITING_EACH_MAX = 250;
/** First keys whose last turn is remembered, whether or not they ask at the moment. */
const TURNS_MAX = 1_000;

/**
 * Lets `perKey` callers through at once for each key, such as an owner or an upstream, and `inAll` together. A caller
 * takes its permits all at once and holds none while it waits, so that a slow upstream does not stall the other
 * upstreams of its owners. A permit that is given back goes to the caller whose first key was served least recently: those
 * who ask for much take turns with all others. Waiting ends with the signal, and rejects with its reason.
 * @throws Problem `unavailable` where too many wait already; also to the latest caller of the first key that has most of them
 */
export function limitConcurrency({ perKey, inAll }: { perKey: number; inAll: number }): TakePermits {
  /** Permits by key. */
  const heldBy = new Map<string, number>();
  /** In the order in which they came. */
  const waiting = new Set<Caller>();
  /** The turn in which a caller of each first key was served last. */
  const turns = new LRUCache<string, number>({ max: TURNS_MAX });
  let held = 0;
  let turn = 0;

  const countOf = (key: string) => heldBy.get(key) ?? 0;
  const hasRoom = (keys: ReadonlySet<string>) =>
    held < inAll && [...keys].every((key) => countOf(key) < perKey);

  function serve({ asker, keys }: Pick<Caller, "asker" | "keys">): Disposable {
    held++;
    for (const key of keys) heldBy.set(key, countOf(key) + 1);
    turns.set(asker, ++turn);
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        held--;
        for (const key of keys)
          if (countOf(key) > 1) heldBy.set(key, countOf(key) - 1);
          else heldBy.delete(key);
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
      if (hasRoom(caller.keys) && (longest === undefined || servedAt(caller) < servedAt(longest)))
        longest = caller;
    return longest;
  }

  const servedAt = ({ asker }: Caller) => turns.peek(asker) ?? 0;

  function leave(caller: Caller): void {
    waiting.delete(caller);
    caller.stopListening();
  }

  /** Makes room for one more: the one who has most callers waiting does not shut out the others. */
  function refuseCrowd(asker: string): void {
    const crowds = new Map<string, Caller[]>();
    for (const caller of waiting) {
      const crowd = crowds.get(caller.asker);
      if (crowd === undefined) crowds.set(caller.asker, [caller]);
      else crowd.push(caller);
    }
    const own = crowds.get(asker)?.length ?? 0;
    if (own >= WAITING_EACH_MAX) throw tooMany();
    if (waiting.size < WAITING_MAX) return;
    const largest = [...crowds.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    const latest = largest.at(-1);
    if (latest === undefined || largest.length <= own + 1) throw tooMany();
    leave(latest);
    latest.reject(tooMany());
  }

  return async (keysAsked, signal) => {
    signal.throwIfAborted();
    const [asker = ""] = keysAsked;
    const keys = new Set(keysAsked);
    // Those who wait have no room, so nobody is passed over.
    if (hasRoom(keys)) return serve({ asker, keys });
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
  keys: ReadonlySet<string>;
  resolve: (permit: Disposable) => void;
  reject: (reason: unknown) => void;
  stopListening: () => void;
}

function tooMany(): Problem {
  return new Problem("unavailable", "Too many wait for the same already.", { retryAfterSeconds: 5 });
}
