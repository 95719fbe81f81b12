import { Problem } from "./problem.js";

/** A place among those that are at work; it is given up at the end of its scope. */
export type TakePlace = (sides: readonly string[], signal: AbortSignal) => Promise<Disposable>;

/**
 * At most `perSide` at once on each side, such as an upstream or an owner, so that a slow one holds up only those who
 * have to do with it, and `inAll` altogether. Who waits is served in turn; waiting ends with the signal, whose reason
 * it rejects with. Where very many wait already, on one side or in all, it rejects with the problem `unavailable`.
 */
export function limitPlaces({ perSide, inAll }: { perSide: number; inAll: number }): TakePlace {
  const all = { taken: 0 };
  const sidesTaken = new Map<string, number>();
  const waiting = new Set<Waiter>();

  const takenOf = (side: string) => sidesTaken.get(side) ?? 0;
  const fits = (sides: readonly string[]) =>
    all.taken < inAll && sides.every((side) => takenOf(side) < perSide);

  const isCrowded = (side: string) =>
    [...waiting].filter((waiter) => waiter.sides.includes(side)).length >= WAITING_PER_SIDE_MAX;

  function take(sides: readonly string[]): Disposable {
    all.taken++;
    for (const side of sides) sidesTaken.set(side, takenOf(side) + 1);
    return { [Symbol.dispose]: () => giveUp(sides) };
  }

  function giveUp(sides: readonly string[]): void {
    all.taken--;
    for (const side of sides) {
      if (takenOf(side) === 1) sidesTaken.delete(side);
      else sidesTaken.set(side, takenOf(side) - 1);
    }
    // One may have waited for this side, and another for that.
    for (const next of [...waiting]) {
      if (!fits(next.sides)) continue;
      waiting.delete(next);
      next.go(take(next.sides));
    }
  }

  return async (sides, signal) => {
    signal.throwIfAborted();
    if (fits(sides)) return take(sides);
    if (waiting.size >= WAITING_MAX || sides.some(isCrowded))
      throw new Problem("unavailable", "Too many wait for the same already.", { retryAfterSeconds: 5 });
    return new Promise<Disposable>((resolve, reject) => {
      const waiter: Waiter = { sides, go };
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
const WAITING_PER_SIDE_MAX = 250;

interface Waiter {
  sides: readonly string[];
  go: (place: Disposable) => void;
}
