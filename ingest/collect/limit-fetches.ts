/** A place among those that fetch; it is given up at the end of its scope. */
export type TakePlace = (upstream: string, signal: AbortSignal) => Promise<Disposable>;

/**
 * At most `perUpstream` at once to each upstream, so that a slow one holds up only those who asked for it, and `inAll`
 * to all of them. Who waits is served in turn; waiting ends with the signal, whose reason it rejects with. It also
 * rejects where very many wait already.
 */
export function limitFetches({ perUpstream, inAll }: { perUpstream: number; inAll: number }): TakePlace {
  const all = { taken: 0 };
  const upstreams = new Map<string, { taken: number }>();
  const waiting = new Set<Waiter>();

  const takenOf = (upstream: string) => upstreams.get(upstream)?.taken ?? 0;
  const fits = (upstream: string) => all.taken < inAll && takenOf(upstream) < perUpstream;

  function take(upstream: string): Disposable {
    all.taken++;
    upstreams.set(upstream, { taken: takenOf(upstream) + 1 });
    return { [Symbol.dispose]: () => giveUp(upstream) };
  }

  function giveUp(upstream: string): void {
    all.taken--;
    if (takenOf(upstream) === 1) upstreams.delete(upstream);
    else upstreams.set(upstream, { taken: takenOf(upstream) - 1 });
    const next = [...waiting].find((waiter) => fits(waiter.upstream));
    if (next === undefined) return;
    waiting.delete(next);
    next.go(take(next.upstream));
  }

  return async (upstream, signal) => {
    signal.throwIfAborted();
    if (fits(upstream)) return take(upstream);
    if (waiting.size >= WAITING_MAX) throw new Error("too many pages are being fetched");
    return new Promise<Disposable>((resolve, reject) => {
      const waiter: Waiter = { upstream, go };
      function go(place: Disposable) {
        signal.removeEventListener("abort", stop);
        resolve(place);
      }
      function stop() {
        waiting.delete(waiter);
        reject(signal.reason as Error);
      }
      waiting.add(waiter);
      signal.addEventListener("abort", stop, { once: true });
    });
  };
}

const WAITING_MAX = 500;

interface Waiter {
  upstream: string;
  go: (place: Disposable) => void;
}
